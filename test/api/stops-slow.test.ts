// A send is stopped while a worker waits for an answer of the table that takes half a minute: nothing is handed over on
// what was read before, and what was held goes on.
import { expect, it } from "vitest";
import { HOUR, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { DeviceItem } from "../../shared/store/subscribers/device-items.ts";
import { Profile } from "../../shared/store/subscribers/items.ts";
import { jobOf, post } from "../support/notify.ts";
import { deviceRow, operate } from "../support/people.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PERSON = "00000000-0000-8000-8000-000000000001";

const slowRequests = {
  "read of the workspace": { operation: "GetItem", naming: '"TENANT#' },
  "read of the send and its workspace": { operation: "BatchGetItem", naming: '"TENANT#' },
  "read of devices": { operation: "BatchGetItem", naming: "#D#" },
  "read of profiles": { operation: "BatchGetItem", naming: `"${PERSON}"` },
  "read of the inbox": { operation: "BatchGetItem", naming: '"I#' },
  "claim of a group": { operation: "UpdateItem", naming: '"K#all/0-7#' },
  "claim on the job": { operation: "UpdateItem", naming: "#JOB#" },
} as const;

interface Case {
  slow: keyof typeof slowRequests;
  to: "a phone" | "an inbox";
  /** A send to one subscriber is suspended, a message of a campaign is paused. */
  how: "suspended" | "paused";
  /** Messages that count against a cap are written after the claim of their group. */
  isCapped?: boolean;
}

/** The worker's request is carried out, then the send is stopped, and half a minute later the answer arrives. */
async function slowWorld({ slow, to, how, isCapped = false }: Case) {
  const request = requests({ of: "deliver", moment: "after", ...slowRequests[slow] });
  const { world, tenant } = await withTenant({ hooks: request.hooks });
  const stopsAtNext = (stop: () => Promise<unknown>) => () =>
    request.next(async () => {
      await stop();
      world.clock.jumpTo(world.clock.now() + 30 * SECOND);
    });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const at = world.clock.now();
  const time = timestamp(at);
  const toInbox = to === "an inbox";
  const profile = { id: PERSON, external_id: PERSON, created_at: time, updated_at: time };
  const phone = putItem(DeviceItem, { subscriber: PERSON, device: PERSON }, deviceRow(PERSON, PERSON, { at }));
  await tenant.store.writeAll([putItem(Profile, { id: PERSON }, profile), ...(toInbox ? [] : [phone])]);
  await world.settle();
  const as = await tenant.dashboard();
  const call = (path: string, body?: object) => world.call(path, { as, ...(body && { body }) });
  if (isCapped)
    await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 9, per: "day" }] });
  const content = { title: "Hi", body: "Hello {{ subscriber.external_id }}" };
  const reached = async () =>
    toInbox ? (await tenant.store.queryAll(Message, { subscriber: PERSON })).length : (await outboxOf(world)).length;
  if (how === "suspended") {
    const job: string = (await post(world, tenant, { subscriberIds: [PERSON], ...content })).body.id;
    const begin = stopsAtNext(() => operate(world, tenant, { status: "suspended" }));
    return { world, tenant, job, request, begin, go: () => operate(world, tenant, { status: "active" }), reached };
  }
  const { channels } = (await call("GET /api/v1/channels")).body;
  const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const messages = [{ content, channel_ids: [toInbox ? inApp : ios] }];
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages })).body;
  const job = String((await call(`POST /api/v1/campaigns/${id}/release`)).body.messages[0].job_id);
  const act = (action: string) => call(`PATCH /api/v1/campaigns/${id}`, { action });
  const begin = stopsAtNext(() => act("pause"));
  return { world, tenant, job, request, begin, go: () => act("resume"), reached };
}

it.each<Case>([
  { slow: "read of the send and its workspace", to: "a phone", how: "suspended" },
  { slow: "claim on the job", to: "a phone", how: "suspended" },
  { slow: "read of the send and its workspace", to: "an inbox", how: "suspended" },
  { slow: "read of profiles", to: "an inbox", how: "suspended" },
  { slow: "read of the workspace", to: "an inbox", how: "paused" },
  { slow: "read of profiles", to: "an inbox", how: "paused" },
  { slow: "claim of a group", to: "an inbox", how: "paused" },
  { slow: "read of the inbox", to: "an inbox", how: "paused", isCapped: true },
  { slow: "read of devices", to: "a phone", how: "paused" },
  { slow: "claim of a group", to: "a phone", how: "paused" },
])("a send to $to that is $how during a slow $slow reaches nobody until it goes on (AMB-112, AMB-113)", async (one) => {
  const { world, tenant, job, request, begin, go, reached } = await slowWorld(one);
  begin();
  await world.settle();
  expect(request.isAwaited()).toBe(false);
  await world.advance(10 * SECOND);
  expect(await reached()).toBe(0);
  await go();
  await world.advance(2 * HOUR);
  expect(await reached()).toBe(1);
  const counts = { sent: 1, delivered: 1, failed: 0 };
  expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts });
});
