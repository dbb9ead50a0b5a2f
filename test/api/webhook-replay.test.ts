// A replay of webhook deliveries: in the order of their numbers, whatever fails.
import { expect, it } from "vitest";
import { VISIBILITY_SECONDS } from "../../shared/contract/messages.ts";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { DeliveryItem } from "../../shared/store/webhooks/delivery-items.ts";
import { ascending, upTo, withDeliveries } from "../support/hooks.ts";
import { mortal } from "../support/mortal.ts";
import { quickStore } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const setting = withDeliveries(worlds());
/** The request after that to the receiver: the endpoint, the delivery, the workspace, the secrets, their key and the claim are before. */
const POSTED = 7;

/** Deliveries of these subscribers, which all failed, before anything is replayed. */
async function failed(names: readonly string[], options?: Parameters<typeof setting>[0]) {
  const here = await setting(options);
  here.outside.answer(() => 400);
  for (let n = 0; n < names.length; n += 6) await here.accept(...names.slice(n, n + 6));
  await here.world.settle();
  here.outside.received.length = 0;
  return here;
}
const firstsOf = (sequences: number[]) => sequences.filter((n, i, all) => all.indexOf(n) === i);
const many = [..."cadb"].flatMap((letter) => Array.from({ length: 6 }, (_, i) => `${letter}${i}`));

it("a replay sends in the order of the numbers (AMB-124, F11)", async () => {
  const { world, outside, replay, sequences } = await failed(many);
  outside.answer(() => 200);

  expect((await replay()).body).toEqual({ queued: 24 });
  await world.advance(MINUTE);

  expect(sequences()).toEqual(upTo(24));
});

it("a replay does not wait for a delivery that keeps failing (AMB-124, F11)", async () => {
  const { world, outside, replay, sequences, names, list } = await failed(many);
  outside.answer(({ body }) => (body.includes('"a0"') ? 500 : 200));

  await replay();
  await world.advance(MINUTE);

  expect(firstsOf(sequences())).toEqual(upTo(24));
  expect(names().filter((name) => name === "a0")).toHaveLength(4);
  expect(outside.received).toHaveLength(27);
  expect((await list("?missing=true")).items).toMatchObject([{ payload: { data: { external_id: "a0" } } }]);
});

it("a replay goes on in another message where the endpoint is slow (AMB-124, F11)", async () => {
  const { world, outside, replay, sequences } = await failed([..."abcdef"]);
  outside.answer(() => "silence");

  expect((await replay({ outcome: "failed" })).body).toEqual({ queued: 6 });
  await world.advance(2 * MINUTE);

  expect(firstsOf(sequences())).toEqual(upTo(6));
  expect(outside.received).toHaveLength(24);
});

it("a replay sends what it had reopened when a write failed (AMB-124, AMB-104)", async () => {
  const reopening = requests({ of: "api-webhooks", operation: "UpdateItem", naming: '"D#' });
  reopening.each(() => {
    if (reopening.seen() > 3) throw new Error("The table does not answer.");
  });
  const { world, outside, replay, sequences } = await failed([..."abcdef"], { hooks: reopening.hooks });
  outside.answer(() => 200);

  expect((await replay({ outcome: "failed" })).status).toBe(500);
  await world.settle();

  expect(sequences()).toHaveLength(3);
  expect(sequences()).toEqual(ascending(sequences()));
});

it.each(["a redelivery", "a replay"])(
  "%s of deliveries whose worker died after it had posted them together makes four attempts of its own (AMB-104, WHK-10)",
  async (means) => {
    const worker = mortal("post-webhook");
    const { world, outside, accept, list, redeliver, replay } = await setting({ hooks: worker.hooks });
    worker.dieAt(POSTED, "before");
    await accept("ada", "ben");
    await world.advance(55 * MINUTE);
    worker.revive();
    expect(outside.received).toHaveLength(2);
    outside.answer(() => 500);

    if (means === "a replay") await replay();
    else for (const { id } of (await list()).items) await redeliver(id);
    await world.advance(MINUTE);

    const failed = { outcome: "failed", attempt_count: 5 };
    expect((await list()).items).toMatchObject([failed, failed]);
  },
);

it("a delivery that a replay sent is sent once more when it alone is sent again (AMB-104, F11)", async () => {
  const { world, outside, replay, redeliver, list } = await failed(["ada"]);
  await replay();
  await world.advance(MINUTE);
  outside.answer(() => 200);

  const [{ id }] = (await list()).items;
  await redeliver(id);
  await world.advance(MINUTE);

  expect((await list()).items).toMatchObject([{ id, outcome: "delivered" }]);
});

it("a delivery that its receiver took is not missing, though it refuses the same when it is replayed (AMB-124, F11)", async () => {
  const { world, outside, accept, replay, list } = await setting();
  await accept("ada");
  await world.settle();
  outside.answer(() => 400);

  await replay();
  await world.advance(MINUTE);

  expect((await list()).items).toMatchObject([{ outcome: "failed", last_status_code: 400 }]);
  expect((await list("?missing=true")).items).toEqual([]);
});

it("a redelivery whose worker died after a failed attempt makes the rest of its four when its message comes back (AMB-104, WHK-10)", async () => {
  const worker = mortal("post-webhook");
  const { world, outside, accept, list, redeliver } = await setting({ hooks: worker.hooks });
  outside.answer(() => 500);
  await accept("ada");
  await world.advance(MINUTE);
  const [{ id, attempt_count }] = (await list()).items;
  expect(attempt_count).toBe(4);
  // Its fifth request notes the answer; the one after it queues the next attempt.
  worker.dieAt(5, "after");
  await redeliver(id);
  await world.advance(SECOND);
  worker.revive();
  expect(outside.received).toHaveLength(5);

  await world.advance((VISIBILITY_SECONDS + 10) * SECOND);

  expect((await list()).items).toMatchObject([{ outcome: "failed", attempt_count: 8 }]);
});

it("more than a thousand deliveries of one millisecond are replayed once, by one call (F11, D-HOOKS)", async () => {
  const { world, tenant, webhook, replay } = await setting();
  const start = world.clock.now();
  const was = { webhook, event_type: "segment.entered", outcome: "delivered", attempt_count: 1, earlier: 0 } as const;
  const rows = Array.from({ length: 1_002 }, (_, n) => {
    const id = world.ids.uuidAt(start + Math.floor(n / 1_001));
    const row = { ...was, react: "delivery", id, sequence: n + 1, expires: 2e9 } as const;
    return putItem(DeliveryItem, { webhook, id }, row);
  });
  await quickStore(world, tenant).writeAll(rows);
  const to = timestamp(start + SECOND);

  const { body: first } = await replay({ to });

  expect(first).toEqual({ queued: 1_001, next_from: timestamp(start + 1) });
  expect((await replay({ from: first.next_from, to })).body).toEqual({ queued: 1 });
});

it("a replay may begin before there were any times (F11)", async () => {
  const { world, replay, sequences } = await failed(["a"]);

  expect((await replay({ from: "0001-01-01T00:00:00Z" })).body).toEqual({ queued: 1 });
  await world.advance(MINUTE);

  expect(firstsOf(sequences())).toEqual([1]);
});
