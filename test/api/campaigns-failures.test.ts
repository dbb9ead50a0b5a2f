// A message of a campaign whose job failed as a whole says why, on the campaign and in its report (AMB-123, AMB-126).
import { expect, it } from "vitest";
import { equip, fill } from "../../bench/people.ts";
import { HOUR } from "../../shared/kernel/clock.ts";
import { CampaignItem } from "../../shared/store/campaigns/items.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { operate } from "../support/people.ts";
import { openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const error = { code: "SEND_CAP_REACHED", message: expect.stringContaining("0 of 0") };

/** A campaign of two messages, of which the first was over the cap. */
async function halfFailed() {
  const here = await withCampaigns(await fresh());
  const { world, tenant, several, release } = here;
  const { id } = await several(undefined, at(HOUR));
  await operate(world, tenant, { monthly_send_cap: 0 });
  await release(id);
  await world.settle();
  await operate(world, tenant, { monthly_send_cap: null });
  await world.advance(2 * HOUR);
  return { ...here, id };
}

it("a campaign's message that was over the cap has its error, and the others have none (AMB-123, AMB-126)", async () => {
  const { id, get, call } = await halfFailed();

  const { messages } = await get(id);

  expect(messages).toMatchObject([{ position: 0, error }, { position: 1 }]);
  expect(messages[1]).not.toHaveProperty("error");
  expect((await call("GET /api/v1/campaigns")).body.items[0].messages).toEqual(messages);
});

it("a campaign with a message over the cap counts it as failed, and has its last error (AMB-123, AMB-126)", async () => {
  const { id, get } = await halfFailed();

  const last_error = { ...error, at: expect.any(String) };
  expect(await get(id)).toMatchObject({ failed: 1, fail_reasons: { SEND_CAP_REACHED: 1 }, last_error });
});

it("a campaign with a message over the cap is annotated (AMB-126)", async () => {
  const { id, call } = await halfFailed();

  const query = `from=${at(0)}&to=${at(3 * HOUR)}&kinds=campaign_failed`;
  const { annotations } = (await call(`GET /api/v1/annotations?${query}`)).body;

  expect(annotations).toMatchObject([{ ref_id: id, text: expect.stringContaining("0 of 0") }]);
});

it("the report of a campaign has the error of the message that was over the cap (AMB-123, AMB-126)", async () => {
  const { id, call } = await halfFailed();

  const { by_message, ...whole } = (await call(`GET /api/v1/campaigns/${id}/report`)).body;

  const failures = { failed: 1, fail_reasons: { SEND_CAP_REACHED: 1 } };
  expect(whole).toMatchObject({ delivered: 1, ...failures, last_error: error });
  expect(by_message).toMatchObject([
    { position: 0, delivered: 0, error },
    { position: 1, delivered: 1 },
  ]);
  expect(by_message[1]).not.toHaveProperty("error");
});

it("the error of a message is not noted on a campaign that is gone (AMB-126)", async () => {
  const { world, tenant, create, release, call } = await withCampaigns(await fresh());
  const { id } = (await create()).body;
  await operate(world, tenant, { monthly_send_cap: 0 });
  await release(id);
  await tenant.store.remove(CampaignItem, { id });

  await world.settle();

  expect((await call("GET /api/v1/notifications")).body.items).toMatchObject([{ status: "failed" }]);
  expect(await tenant.store.get(CampaignItem, { id })).toBeUndefined();
});

it("a campaign adds up why its messages failed, of each of its sends (AMB-123)", async () => {
  const { world, tenant, call } = await withCampaigns(await fresh());
  const { sms } = await openChannels(world, tenant, "sms");
  for (const name of ["ada", "bob"])
    await tenant.upsert({ external_id: name, attributes: { phone: `+49151123456${name.charCodeAt(0)}` } });
  const message = { content: { title: "t", body: "b" }, channel_ids: [sms] };
  const messages = [message, { ...message, scheduled_at: at(HOUR) }];
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages, target: { type: "all" } })).body;
  await spoil(world, { channel: "sms", outcome: "permanent", times: 3 });
  await call(`POST /api/v1/campaigns/${id}/release`);
  await world.advance(2 * HOUR);

  const { body } = await call(`GET /api/v1/campaigns/${id}`);

  const [reason = "", ...others] = Object.keys(body.fail_reasons);
  expect(others).toEqual([]);
  expect(body).toMatchObject({ failed: 3, fail_reasons: { [reason]: 3 } });
  expect((await call(`GET /api/v1/campaigns/${id}/report`)).body).toMatchObject({
    ...{ delivered: 1, failed: 3, fail_reasons: { [reason]: 3 } },
    by_message: [{ delivered: 0 }, { delivered: 1 }],
  });
});

it("the report of a campaign says how many of the failed may have got it (AMB-95, CRP-1)", async () => {
  const { world, tenant, call } = await withCampaigns(await fresh());
  const { ios } = await openChannels(world, tenant, "ios-push");
  const ids = await fill(world, tenant, 2);
  await equip(world, tenant, ids);
  const message = { content: { title: "t", body: "b" }, channel_ids: [ios] };
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages: [message], target: { type: "all" } }))
    .body;
  await spoil(world, { channel: "ios", outcome: "timeout", times: 1 });
  await call(`POST /api/v1/campaigns/${id}/release`);
  await world.advance(HOUR);

  expect((await call(`GET /api/v1/campaigns/${id}/report`)).body).toMatchObject({
    failed: 1,
    uncertain: 1,
    delivered: 1,
  });
  expect((await call(`GET /api/v1/campaigns/${id}`)).body).toMatchObject({ failed: 1, uncertain: 1 });
});
