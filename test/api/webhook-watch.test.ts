// Deliveries whose queue message was lost: the watchdog, a redelivery or a replay makes them (WHK, AMB-104).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { recordAttempt } from "../../shared/store/webhooks/attempt-results.ts";
import { claimAttempt, findDelivery, UNKNOWN_RESULT } from "../../shared/store/webhooks/deliveries.ts";
import { failureWrite } from "../../shared/store/webhooks/webhooks.ts";
import { hook, log as logOf, withWebhook } from "../support/hooks.ts";
import { mortal } from "../support/mortal.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

/** A message is in the dead-letter queue by then, although a dead worker shortens no visibility timeout. */
const DEAD_LETTERED = 55 * MINUTE;

const withHook = withWebhook(worlds());

async function setting(options: Parameters<typeof withHook>[0] = {}) {
  const here = await withHook(options);
  const { world, tenant } = here;
  return {
    ...here,
    upsert: (external_id = "u1") =>
      world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } }),
    log: async () => (await here.list()).items,
    deadLetters: () => world.sqs.depth("post-webhook-dead").visible,
  };
}

/** A delivery whose message is dead-lettered, because its worker dies at its n-th AWS request. */
async function deadLettered(n: number, moment: "before" | "after") {
  const worker = mortal("post-webhook");
  const here = await setting({ hooks: worker.hooks });
  worker.dieAt(n, moment);
  await here.upsert();
  await here.world.advance(DEAD_LETTERED);
  worker.revive();
  expect(here.deadLetters()).toBe(1);
  expect(here.outside.received.length).toBe(0);
  const [delivery] = await here.log();
  expect(delivery).toMatchObject({ outcome: "pending" });
  return { ...here, id: String(delivery.id) };
}

/** The requests before the claim: the endpoint, the delivery, the workspace, the secrets and their key. */
const CLAIM = 6;
const RECORD = CLAIM + 1;
const unclaimed = () => deadLettered(1, "before");
const claimed = () => deadLettered(CLAIM, "after");

const UNKNOWN = { n: 1, error: "the outcome of this attempt is not known", status_code: null };

describe("a delivery whose message was dead-lettered", () => {
  it("a delivery whose message was dead-lettered is queued again by the watchdog, and made once (WHK-8, D-HOOKS)", async () => {
    const { world, outside, log } = await unclaimed();
    await world.advance(12 * MINUTE);
    expect(await log()).toMatchObject([{ outcome: "delivered", attempt_count: 1 }]);
    await world.advance(DAY);
    expect(outside.received).toHaveLength(1);
  });

  it("deliveries of two minutes that were queued together are each queued again by the watchdog (WHK-8, D-HOOKS)", async () => {
    const worker = mortal("post-webhook");
    const { world, upsert, log, deadLetters } = await setting({ hooks: worker.hooks });
    worker.dieAt(1, "before");
    await upsert("u1");
    world.clock.jumpTo(world.clock.now() + MINUTE);
    await upsert("u2");
    await world.advance(DEAD_LETTERED);
    worker.revive();
    expect(deadLetters()).toBeGreaterThan(0);

    await world.advance(12 * MINUTE);

    expect(await log()).toMatchObject([{ outcome: "delivered" }, { outcome: "delivered" }]);
  });

  it("deliveries of two workspaces in one minute are each queued again by the watchdog of their own (WHK-8, GEN-8)", async () => {
    const worker = mortal("post-webhook");
    const { world, outside, upsert, log, deadLetters } = await setting({ hooks: worker.hooks });
    const other = { world, outside, tenant: await world.tenant() };
    const { id: webhook } = await hook(other, ["subscriber.created"], "https://other.example.com/in");
    worker.dieAt(1, "before");
    await upsert();
    await other.tenant.upsert({ external_id: "u2" });
    await world.advance(DEAD_LETTERED);
    worker.revive();
    expect(deadLetters()).toBe(2);

    await world.advance(12 * MINUTE);

    expect(await log()).toMatchObject([{ outcome: "delivered" }]);
    expect((await logOf(other, webhook)).items).toMatchObject([{ outcome: "delivered" }]);
  });

  it("a delivery whose message was dead-lettered after its claim is attempted three more times at most (WHK-8, WHK-10)", async () => {
    const { world, outside, log } = await claimed();
    expect(await log()).toMatchObject([{ attempt_count: 1, attempts: [] }]);
    outside.answer(() => 500);
    await world.advance(12 * MINUTE);
    const results = [UNKNOWN, ...[2, 3, 4].map((n) => ({ n, status_code: 500 }))];
    expect(await log()).toMatchObject([{ outcome: "failed", attempt_count: 4, attempts: results }]);
    await world.advance(DAY);
    expect(outside.received).toHaveLength(3);
  });

  it("a delivery whose message was dead-lettered after its claim logs that attempt although an erasure ends it (WHK-8, SUB-10)", async () => {
    const { world, tenant, outside, upsert, log } = await claimed();
    const { id } = (await upsert()).body;
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(HOUR);
    const ended = { outcome: "failed", attempt_count: 1, attempts: [UNKNOWN], payload: null };

    expect(await log()).toMatchObject([ended]);
    expect(outside.received).toEqual([]);
  });

  it("a delivery whose message was dead-lettered is queued again as often as its message is lost; no attempt begins without the secrets (WHK-8, D-HOOKS)", async () => {
    const opening = requests({ of: "post-webhook", service: "kms" });
    opening.fail();
    const { world, outside, upsert, log, deadLetters } = await setting({ hooks: opening.hooks });
    await upsert();
    await world.advance(115 * MINUTE);
    expect(deadLetters()).toBe(2);
    expect(await log()).toMatchObject([{ outcome: "pending", attempt_count: 0, attempts: [] }]);
    opening.pass();
    await world.advance(10 * MINUTE);
    expect(await log()).toMatchObject([{ outcome: "delivered", attempt_count: 1, attempts: [{ n: 1 }] }]);
    await world.advance(DAY);
    expect(outside.received).toHaveLength(1);
  });

  const losses = [
    { claim: "before", lose: unclaimed, earlier: [] },
    { claim: "after", lose: claimed, earlier: [UNKNOWN] },
  ];

  it.each(losses)(
    "a delivery whose message was dead-lettered $claim its claim can be redelivered (AMB-104, D-HOOKS)",
    async ({ lose, earlier }) => {
      const { world, outside, log, redeliver, id } = await lose();

      expect(await redeliver(id)).toMatchObject({ status: 202, body: { delivery_id: id } });
      outside.answer(() => 500);
      await world.advance(MINUTE);

      const series = [1, 2, 3, 4].map((n) => ({ n: n + earlier.length, status_code: 500 }));
      expect(await log()).toMatchObject([{ outcome: "failed", attempts: [...earlier, ...series] }]);
      await world.advance(DAY);
      expect(outside.received).toHaveLength(4);
    },
  );

  it.each(losses)(
    "a delivery whose message was dead-lettered $claim its claim is part of a replay (F11, AMB-104)",
    async ({ lose }) => {
      const { world, outside, log, replay } = await lose();

      expect(await replay()).toMatchObject({ status: 202, body: { queued: 1 } });
      await world.settle();

      expect(await log()).toMatchObject([{ outcome: "delivered" }]);
      await world.advance(DAY);
      expect(outside.received).toHaveLength(1);
    },
  );
});

it.each(["the watchdog", "a redelivery", "a replay"])(
  "deliveries whose worker died after it had posted them together are sent again by %s, and both posts of each are in the log (F11, WHK-8, AMB-104)",
  async (means) => {
    const worker = mortal("post-webhook");
    const { world, outside, upsert, log, redeliver, replay } = await setting({ hooks: worker.hooks });
    worker.dieAt(RECORD, "before");
    await upsert("u1");
    await upsert("u2");
    await world.advance(DEAD_LETTERED);
    worker.revive();
    expect(outside.received).toHaveLength(2);

    if (means === "a replay") expect((await replay()).body).toEqual({ queued: 2 });
    if (means === "a redelivery") for (const { id } of await log()) expect((await redeliver(id)).status).toBe(202);
    await world.advance(HOUR);

    const delivered = { outcome: "delivered", attempt_count: 2, attempts: [UNKNOWN, { n: 2, status_code: 200 }] };
    expect(await log()).toMatchObject([delivered, delivered]);
    expect(outside.received).toHaveLength(4);
  },
);

describe("a delivery whose worker died in an attempt", () => {
  it("a delivery whose worker died in an attempt is under way until its lease ends; the message of that attempt then has no effect (AMB-104, F11)", async () => {
    const worker = mortal("post-webhook");
    const { world, outside, upsert, log, redeliver, replay } = await setting({ hooks: worker.hooks });
    worker.dieAt(CLAIM, "after");
    await upsert();
    await world.settle();
    worker.revive();
    const [{ id }] = await log();
    await world.advance(19 * SECOND);
    expect((await redeliver(id)).status).toBe(409);
    expect((await replay()).body).toEqual({ queued: 0 });
    await world.advance(SECOND);
    outside.answer(() => 500);
    expect((await redeliver(id)).status).toBe(202);
    expect((await redeliver(id)).status).toBe(202);
    await world.advance(DAY);
    const series = [2, 3, 4, 5].map((n) => ({ n, status_code: 500 }));
    expect(await log()).toMatchObject([{ outcome: "failed", attempt_count: 5, attempts: [UNKNOWN, ...series] }]);
    expect(outside.received).toHaveLength(4);
  });

  it("a worker that read a delivery before it was reopened claims no attempt (AMB-104, WHK-8, WHK-10)", async () => {
    const worker = mortal("post-webhook");
    const { world, tenant, webhook, outside, upsert, log, redeliver } = await setting({ hooks: worker.hooks });
    outside.answer(() => 500);
    worker.dieAt(RECORD, "after");
    await upsert();
    await world.advance(20 * SECOND);
    const [{ id, attempts }] = await log();
    expect(attempts).toMatchObject([{ n: 1, status_code: 500 }]);
    const read = await findDelivery(tenant.store, webhook, id);
    expect((await redeliver(id)).status).toBe(202);
    expect(
      await claimAttempt(
        tenant.store,
        { webhook, id: read!.delivery.id },
        { ...read!.delivery, n: 2, sequence: 1, owner: "late" },
      ),
    ).toBe("taken");
    worker.revive();
    await world.advance(DAY);
    expect(await log()).toMatchObject([{ outcome: "failed", attempt_count: 5 }]);
    expect(outside.received).toHaveLength(5);
  });

  it("an answer that comes after its delivery is to be sent again does not end the new series (AMB-104)", async () => {
    const worker = mortal("post-webhook");
    const { world, tenant, webhook, outside, upsert, log, redeliver } = await setting({ hooks: worker.hooks });
    worker.dieAt(RECORD, "before");
    await upsert();
    await world.advance(20 * SECOND);
    worker.revive();
    const [{ id }] = await log();
    expect((await redeliver(id)).status).toBe(202);
    const answer = { kind: "answered", status: 200 } as const;
    const late = { n: 1, at: world.clock.now(), result: answer, outcome: "delivered" as const };
    await recordAttempt(tenant.store, { webhook, id }, late, { extraItems: [] });
    await world.advance(HOUR);

    const attempts = [1, 2].map((n) => ({ n, status_code: 200 }));
    expect(await log()).toMatchObject([{ outcome: "delivered", attempt_count: 2, attempts }]);
    expect(outside.received).toHaveLength(2);
  });

  it("an answer that comes after that of the next attempt is in the log and decides nothing (AMB-104)", async () => {
    const worker = mortal("post-webhook");
    const { world, tenant, webhook, upsert, log } = await setting({ hooks: worker.hooks });
    worker.dieAt(RECORD, "before");
    await upsert();
    await world.advance(20 * SECOND);
    worker.revive();
    await world.advance(HOUR);
    const [{ id }] = await log();
    const late = { n: 1, at: world.clock.now(), result: { kind: "answered", status: 500 }, outcome: "failed" } as const;
    await recordAttempt(tenant.store, { webhook, id }, late, { extraItems: [] });

    const attempts = [500, 200].map((status_code, i) => ({ n: i + 1, status_code }));
    expect(await log()).toMatchObject([{ outcome: "delivered", last_status_code: 200, attempts }]);
  });

  it("an answer that comes after its attempt was given up ends the failures in a row (WHK-11, AMB-103)", async () => {
    let giveUp: ((id: string) => Promise<unknown>) | undefined;
    const { world, tenant, webhook, outside, upsert, log } = await setting({
      hooks: (name) => ({
        before: async (_, operation, input) => {
          const [, id] = /"D#([^"]+)"/.exec(JSON.stringify(input)) ?? [];
          const isRecord = name === "post-webhook" && operation === "UpdateItem" && outside.received.length === 4;
          if (!isRecord || id === undefined) return;
          const now = giveUp;
          giveUp = undefined;
          await now?.(id);
        },
      }),
    });
    outside.answer((_, n) => (n < 4 ? 500 : 204));
    giveUp = (id) => {
      const given = { n: 4, at: world.clock.now(), result: UNKNOWN_RESULT, outcome: "failed" as const };
      return recordAttempt(tenant.store, { webhook, id }, given, { extraItems: [failureWrite(tenant.store, webhook)] });
    };
    await upsert();
    await world.advance(HOUR);
    expect(giveUp).toBeUndefined();
    expect(await log()).toMatchObject([{ outcome: "delivered", attempt_count: 4, last_status_code: 204 }]);
    const { consecutive_failures } = (await tenant.call(`GET /api/v1/webhooks/${webhook}`)).body;
    expect(consecutive_failures).toBe(0);
  });
});
