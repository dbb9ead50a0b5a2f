// Sends to one recipient whose worker dies at any of its steps (F1, T1).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { ChunkItem } from "../../shared/store/sends/audience/audience-items.ts";
import { REQUEST_RANGE } from "../../shared/store/sends/chunks/range-names.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { mortal } from "../support/mortal.ts";
import { jobOf, post } from "../support/notify.ts";
import { inboxOf } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople } = worlds();

/** Tries a send with a worker that dies before and after each of its steps, once the number of its steps is known. */
async function atEveryStep(tryOnce: (step: number, moment: "before" | "after") => Promise<number>) {
  const steps = await tryOnce(1_000, "before");
  expect(steps).toBeGreaterThan(2);
  for (let step = 1; step <= steps; step++)
    for (const moment of ["before", "after"] as const) await tryOnce(step, moment);
}

it("a crash at any step of a push to one subscriber sends it at most once, and its row says what became of it (F1, T1, D-NTF)", async () => {
  const worker = mortal("deliver");
  const { world, tenant, ids } = await withPeople(1, { hooks: worker.hooks });
  const [ada] = ids as [string];
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");

  await atEveryStep(async (step, moment) => {
    worker.dieAt(step, moment);
    const { id } = (await post(world, tenant, { subscriberIds: ids, channel_ids: [ios] })).body;
    await world.settle();
    const taken = worker.steps();
    worker.revive();
    await world.advance(9 * MINUTE);

    const at = `a crash ${moment} step ${step}`;
    const { status, sent, counts, fail_reasons } = await jobOf(tenant, id);
    const unconfirmed = fail_reasons.delivery_unconfirmed ?? 0;
    expect(status, at).toBe(unconfirmed ? "failed" : "completed");
    expect({ sent, ...counts }, at).toMatchObject({ sent: 1, delivered: 1 - unconfirmed, failed: unconfirmed });
    const pushes = (await outboxOf(world, `?job_id=${id}`)).length;
    expect(pushes, at).toBeLessThanOrEqual(1);
    expect(pushes, at).toBeGreaterThanOrEqual(counts.delivered);
    const rows = (await ledgerOf(tenant, ada)).filter(({ job }) => job === id);
    expect(rows, at).toMatchObject([{ state: unconfirmed ? "unknown" : "sent", place: "solo#0" }]);
    const row = await tenant.store.get(JobItem, { job: id });
    expect(row, at).not.toHaveProperty("owner");
    expect(row, at).not.toHaveProperty("progress");
    expect(await tenant.store.get(ChunkItem, { job: id, range: REQUEST_RANGE, n: 0 }), at).toBeUndefined();
    return taken;
  });
});

it("a worker that stops at any step of a send to one inbox, for long, leaves one message (F1, T1, D-NTF)", async () => {
  const worker = mortal("deliver");
  const { world, tenant, ids } = await withPeople(1, { hooks: worker.hooks });

  await atEveryStep(async (step, moment) => {
    worker.dieAt(step, moment);
    const { id } = (await post(world, tenant, { subscriberIds: ids })).body;
    await world.settle();
    const taken = worker.steps();
    await world.advance(12 * MINUTE);
    worker.revive();
    await world.advance(40 * MINUTE);

    const at = `a stop ${moment} step ${step}`;
    expect(await jobOf(tenant, id), at).toMatchObject({ status: "completed", counts: { delivered: 1 } });
    const messages = await inboxOf(world, tenant, ids[0]!);
    expect(
      messages.filter(({ notification_id }) => notification_id === id),
      at,
    ).toHaveLength(1);
    return taken;
  });
});
