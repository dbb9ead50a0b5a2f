// A message of a campaign whose job failed as a whole says why, on the campaign and in its report (AMB-123, AMB-126).
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { CampaignItem } from "../../shared/store/campaigns/items.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { operate } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting() {
  const world = await fresh();
  const campaigns = await withCampaigns(world);
  const report = async (id: string) => (await campaigns.call(`GET /api/v1/campaigns/${id}/report`)).body;
  return { ...campaigns, world, report };
}

const error = { code: "SEND_CAP_REACHED", message: expect.stringContaining("0 of 0") };

it("a message that was over the cap has its error; the others have none (AMB-123, AMB-126)", async () => {
  const { world, tenant, several, release, get, report, call } = await setting();
  const { id } = await several(undefined, at(HOUR));
  await operate(world, tenant, { monthly_send_cap: 0 });
  await release(id);
  await world.settle();
  await operate(world, tenant, { monthly_send_cap: null });
  await world.advance(2 * HOUR);
  const { messages } = await get(id);
  expect(messages).toMatchObject([{ position: 0, error }, { position: 1 }]);
  expect(messages[1]).not.toHaveProperty("error");
  expect((await call("GET /api/v1/campaigns")).body.items[0].messages).toEqual(messages);
  const last_error = { ...error, at: expect.any(String) };
  expect(await get(id)).toMatchObject({ last_error });
  const { annotations } = (await call(`GET /api/v1/annotations?from=${at(0)}&to=${at(3 * HOUR)}&kinds=campaign_failed`))
    .body;
  expect(annotations).toMatchObject([{ ref_id: id, text: expect.stringContaining("0 of 0") }]);
  const failures = { failed: 1, fail_reasons: { SEND_CAP_REACHED: 1 } };
  expect(await get(id)).toMatchObject(failures);
  const { by_message, ...whole } = await report(id);
  expect(whole).toMatchObject({ delivered: 1, ...failures, last_error });
  expect(by_message).toMatchObject([
    { position: 0, delivered: 0, error },
    { position: 1, delivered: 1 },
  ]);
  expect(by_message[1]).not.toHaveProperty("error");
});

it("the error is noted on its campaign where that still exists (AMB-126)", async () => {
  const { world, tenant, create, release, get, call } = await setting();
  const made = [(await create()).body.id, (await create()).body.id];
  await operate(world, tenant, { monthly_send_cap: 0 });
  await release(made[0]);
  await release(made[1]);
  await tenant.store.remove(CampaignItem, { id: made[1] });
  await world.settle();
  expect((await get(made[0])).messages).toMatchObject([{ error }]);
  expect((await call("GET /api/v1/notifications")).body.items).toMatchObject([
    { status: "failed" },
    { status: "failed" },
  ]);
  expect(await tenant.store.get(CampaignItem, { id: made[1] })).toBeUndefined();
});
