// The recipients of a send as a list (RDA-4): the same as the counts of the send and the explanation of each say.
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import type { RecipientState } from "../../shared/rules/recipient-states.ts";
import { mailing } from "../support/mails.ts";
import { entriesOf } from "../support/pages.ts";
import { addPeople, send } from "../support/people.ts";
import { quietSetting } from "../support/quiet-hours.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { spentByCall } from "../support/spending.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();

interface RecipientEntry {
  subscriber_id: string;
  external_id: string;
  state: RecipientState;
  reason: string | null;
  channel: string | null;
  channels: object[];
}

async function recipients(world: TestWorld, tenant: Tenant, job: string, query = ""): Promise<RecipientEntry[]> {
  const as = await tenant.dashboard("viewer");
  return entriesOf((page) => world.call(`GET /api/v1/notifications/${job}/recipients${page}`, { as }), query);
}

/** A send to forty people: twelve have a phone, three of these fail, and some are held out. */
async function mixedSend() {
  const { world, tenant } = await withTenant();
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 40);
  for (const id of people.slice(0, 12)) await addPhone(world, tenant, id, "ios");
  await spoil(world, { channel: "ios", outcome: "permanent", times: 3 });
  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [ios], holdout_percentage: 20 });
  await mend(world);
  const all = await recipients(world, tenant, job.id, "limit=7");
  return { tenant, job, all, listed: (query: string) => recipients(world, tenant, job.id, query) };
}

it("a send lists every recipient once (RDA-4)", async () => {
  const { all } = await mixedSend();

  expect(new Set(all.map(({ subscriber_id }) => subscriber_id)).size).toBe(40);
  expect(all).toHaveLength(40);
});

it("the recipients of a send are listed by state, as many as the counts say (RDA-4)", async () => {
  const { job, all, listed } = await mixedSend();
  const { delivered, failed, skipped, held_out } = job.counts;
  expect([failed, delivered + failed + skipped + held_out]).toEqual([3, 40]);

  for (const [state, n] of Object.entries({ delivered, failed, skipped, held_out })) {
    const ofState = all.filter((one) => one.state === state);
    expect(ofState, state).toHaveLength(n);
    expect(await listed(`state=${state}&limit=3`)).toEqual(ofState);
  }
});

it("the recipients of a send are listed by reason, as many as the counts say (RDA-4)", async () => {
  const { job, listed } = await mixedSend();

  for (const [reason, n] of Object.entries<number>({ ...job.skip_reasons, ...job.fail_reasons }))
    expect(await listed(`reason=${reason}`), reason).toHaveLength(n);
});

it("the recipients of a send are listed by the channel that tried them (RDA-4)", async () => {
  const { job, listed } = await mixedSend();

  expect(await listed("channel=ios")).toHaveLength(job.counts.delivered + job.counts.failed);
});

it("a listed recipient has the state and the reason of its explanation (RDA-4)", async () => {
  const { tenant, job, all } = await mixedSend();

  for (const { subscriber_id, state, reason } of all.slice(0, 15)) {
    const explained = (await tenant.call(`GET /api/v1/notifications/${job.id}/recipients/${subscriber_id}`)).body;
    expect([explained.state, explained.reason], subscriber_id).toEqual([state, reason]);
  }
});

it("a send lists who waits for the end of quiet hours, and until when (RDA-4)", async () => {
  const { world, tenant, person, push } = await quietSetting(withTenant, {});
  const [ada, ben] = [await person("ada", "Europe/London"), await person("ben", "Asia/Tokyo")];
  const { job } = await push({});
  const waiting = await recipients(world, tenant, job.id, "state=deferred");

  expect(waiting).toMatchObject([{ subscriber_id: ben, deferred_until: "2026-11-20T23:00:00.000Z" }]);
  expect(await recipients(world, tenant, job.id, "state=delivered")).toMatchObject([{ subscriber_id: ada }]);
});

it("pages of a list of recipients that begin behind the first chunk say who waits (RDA-4)", async () => {
  const { world, tenant, ids } = await quietSetting(withTenant, {
    ...{ channels: ["email"], quiet: { start: "10:00", end: "20:00", timezone_mode: "workspace" } },
  });
  await addPeople(world, tenant, 220, (n) => ({ email: `p${n}@example.com` }));
  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [ids.email] });
  const all = await recipients(world, tenant, job.id, "limit=60");

  expect(all.filter(({ state }) => state === "deferred")).toHaveLength(220);
});

it("a list of recipients gives each channel its own state, reason and time: a mail in quiet hours beside a message of the inbox (RDA-4)", async () => {
  const { world, tenant, ids, person, explain } = await quietSetting(withTenant, { channels: ["email"] });
  const ben = await person("ben", "Asia/Tokyo", { email: "ben@example.com" });
  const { channels: all } = (await tenant.call("GET /api/v1/channels")).body;
  const in_app = all.find(({ type }: { type: string }) => type === "in_app").id;
  const subscriberIds = [ben, await person("ada")];
  const { job } = await send(world, tenant, { subscriberIds, channel_ids: [in_app, ids.email] });
  const until = "2026-11-20T23:00:00.000Z";
  const channels = [
    { channel: "in_app", state: "delivered", reason: null, at: expect.any(String), deferred_until: null },
    { channel: "email", state: "deferred", reason: "quiet_hours", at: null, deferred_until: until },
  ];
  const [listed] = await recipients(world, tenant, job.id, "state=deferred");

  expect(listed).toMatchObject({ state: "deferred", channel: "email", reason: "quiet_hours", channels });
  expect(await explain(job.id, ben)).toMatchObject({ decision: "deferred", reason: "quiet_hours", channels });
  expect((await tenant.call("GET /api/v1/activity")).body.items).toContainEqual(
    expect.objectContaining({ subscriber_id: ben, channel: "email", channels: listed?.channels }),
  );
});

it("a send to one inbox lists its recipient, also once the row of the message is gone (RDA-4)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const { job } = await send(world, tenant, { subscriberIds: [ada] });
  const expected = [{ subscriber_id: ada, external_id: "p0", state: "delivered", channel: "in_app", reason: null }];
  expect(await recipients(world, tenant, job.id)).toMatchObject(expected);
  await world.advance(93 * DAY);
  expect(await recipients(world, tenant, job.id)).toMatchObject(expected);
});

it("whom the inbox reached stays delivered, though the mail came back and the row of the message is gone (RDA-4, AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, channel } = await mailing(world, tenant, "bounce@simulator.amazonses.com");
  const { channels } = (await tenant.call("GET /api/v1/channels")).body;
  const { id: inbox } = channels.find(({ type }: { type: string }) => type === "in_app");
  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel, inbox] });
  await world.advance(93 * DAY);

  expect(await recipients(world, tenant, job.id)).toMatchObject([{ state: "delivered", reason: null }]);
  const explained = (await tenant.call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`)).body;
  expect(explained).toMatchObject({ decision: "sent", state: "delivered", reason: null });
});

it("whose mail came back has the reason of that, though the push failed too (RDA-4, AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, channel } = await mailing(world, tenant, "bounce@simulator.amazonses.com");
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");
  await spoil(world, { channel: "ios", outcome: "permanent", times: 9 });

  const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel, ios] });
  await world.advance(DAY);

  const said = { state: "bounced", reason: "Permanent: General" };
  expect(await recipients(world, tenant, job.id)).toMatchObject([said]);
  expect((await tenant.call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`)).body).toMatchObject(said);
});

it("a send that failed whole lists nobody, as its counts say, though it was planned (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const [ada] = await addPeople(world, tenant, 1);
  const as = await tenant.dashboard("owner");
  const { body: channel } = await world.call("POST /api/v1/channels", { as, body: { type: "email", name: "Mail" } });
  const body = { title: "Hi", body: "There", subscriberIds: [ada], channel_ids: [channel.id] };
  const { job } = await send(world, tenant, body);

  expect(job).toMatchObject({ status: "failed", counts: { total: 0, skipped: 0 } });
  expect(await recipients(world, tenant, job.id)).toEqual([]);
});

it("a send to inboxes lists why one got no message (RDA-4, D-CAP)", async () => {
  const { world, tenant } = await withPeople(2);
  const frequency_caps = [{ category: "marketing", max: 1, per: "day" }];
  await world.call("PATCH /api/v1/workspace", { as: await tenant.dashboard(), body: { frequency_caps } });
  const sendToAll = async () => (await send(world, tenant, { target: { type: "all" } })).job.id;
  await sendToAll();

  const capped = await recipients(world, tenant, await sendToAll(), "state=skipped");

  expect(capped.map(({ reason }) => reason)).toEqual(["capped", "capped"]);
});

it("a list of the recipients of a state that none has reads little (RDA-4)", async () => {
  const { world, tenant } = await withPeople(160);
  const { job } = await send(world, tenant, { target: { type: "all" } });

  for (const state of ["failed", "uncertain"]) {
    const route = `GET /api/v1/notifications/${job.id}/recipients?state=${state}`;
    const refused = { route: `${route}&limit=0` };
    const cost = await spentByCall(world, { as: await tenant.dashboard(), route, refused });
    expect(Math.max(20, cost.rcu), state).toBe(20);
  }
});

it("a list of recipients keeps who was erased, and names nobody there (RDA-4, SUB-9)", async () => {
  const { world, tenant, ids } = await withPeople(3);
  const { job } = await send(world, tenant, { target: { type: "all" } });

  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
  await world.settle();

  const all = await recipients(world, tenant, job.id);
  expect(all.map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
  expect(all.filter(({ subscriber_id }) => subscriber_id === null)).toMatchObject([{ external_id: null }]);
});

it("a list of recipients names nobody who was skipped and is erased since (RDA-4, SUB-9)", async () => {
  const { world, tenant, ids } = await withPeople(3);
  const { email } = await openChannels(world, tenant, "email");
  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [email] });
  await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
  await world.settle();

  const all = await recipients(world, tenant, job.id);
  expect(all.map(({ state }) => state)).toEqual(["skipped", "skipped", "skipped"]);
  expect(new Set(all.map(({ subscriber_id }) => subscriber_id))).toEqual(new Set([null, ids[1], ids[2]]));
});
