// The list of a campaign, which is needed as long as one of its messages waits (D-LIST).
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { at, text, withCampaigns } from "../support/campaigns.ts";
import { add, named } from "../support/lists.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A campaign to a list, of messages one and eleven days from now, which was paused for thirty days. */
async function pausedForLong() {
  const here = await withCampaigns(await fresh());
  const { call, tenant, channel_ids, act, release, world } = here;
  const list = await named(tenant, "Readers");
  await add(tenant, list, [(await tenant.upsert({ external_id: "u1" })) as string]);
  const messages = [at(DAY), at(11 * DAY)].map((scheduled_at, n) => ({
    content: text(`M${n}`),
    channel_ids,
    scheduled_at,
  }));
  const target = { type: "list", list_id: list };
  const { id } = (await call("POST /api/v1/campaigns", { name: "Several", messages, target })).body;
  await release(id);
  await act(id, "pause");
  await world.advance(30 * DAY);
  const removal = () => call(`DELETE /api/v1/lists/${list}`);
  return { ...here, id, removal };
}

it("a list is not deleted while a paused campaign holds messages for it, however long (D-LIST, CMP-21)", async () => {
  const { removal } = await pausedForLong();

  expect((await removal()).status).toBe(409);
});

it("a list is not deleted before the last message of a campaign that was resumed late (D-LIST, AMB-138)", async () => {
  const { id, act, removal, world, inbox } = await pausedForLong();
  await act(id, "resume");
  await world.settle();
  await world.advance(9 * DAY);

  expect((await removal()).status).toBe(409);

  await world.advance(DAY);
  expect(await inbox()).toEqual(["M0", "M1"]);
  expect((await removal()).status).toBe(204);
});
