// The worker crashes between any two of its steps: no send arrives twice, and what may have gone out is unconfirmed.
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { mortal } from "../support/mortal.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PEOPLE = 21;
/** Dozens of crashes, each with the time that queues take to notice. */
const PATIENCE_MS = 240_000;

it(
  "a crash at any step causes no double send, and leaves at most one group unconfirmed (F1, T1)",
  async () => {
    const worker = mortal("deliver");
    const { world, tenant } = await withTenant({ hooks: worker.hooks });
    const { ios } = await openChannels(world, tenant, "ios-push");
    const people = await addPeople(world, tenant, PEOPLE);
    for (const id of people) await addPhone(world, tenant, id, "ios");
    const run = async (n: number, moment: "before" | "after") => {
      worker.dieAt(n, moment);
      const { id } = (await post(world, tenant, { subscriberIds: people, channel_ids: [ios] })).body;
      await world.settle();
      const taken = worker.steps();
      worker.revive();
      await world.advance(9 * MINUTE);
      const job = await jobOf(tenant, id);
      const given = (await outboxOf(world, `?job_id=${id}`)).map(({ subscriber_id }) => subscriber_id);
      const rows = (await Promise.all(people.map((one) => ledgerOf(tenant, one))))
        .flat()
        .filter((row) => row.job === id);
      const at = `step ${n} ${moment}`;
      expect(new Set(given).size, `${at}`).toEqual(given.length);
      const unconfirmed = job.fail_reasons.delivery_unconfirmed ?? 0;
      expect(job.counts.delivered + unconfirmed, `${at}`).toEqual(PEOPLE);
      expect(job.counts.failed, `${at}`).toEqual(unconfirmed);
      expect(unconfirmed <= 10, `${at}`).toBe(true);
      const states = rows.map(({ state }) => state);
      expect(states.filter((state) => state === "sent").length, `${at}`).toEqual(job.counts.delivered);
      expect(states.filter((state) => state === "unknown").length, `${at}`).toEqual(unconfirmed);
      expect(given.length).toBeGreaterThanOrEqual(job.counts.delivered);
      return taken;
    };
    const steps = await run(1_000, "before");
    expect(steps).toBeGreaterThan(8);
    let crashes = 0;
    for (let n = 1; n <= steps; n++)
      for (const moment of ["before", "after"] as const) {
        await run(n, moment);
        crashes++;
      }
    expect(crashes).toBe(2 * steps);
  },
  PATIENCE_MS,
);

it("a send whose messages ended among the dead letters is taken up by its watch (OPS-1, AMB-57)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 3);
  for (const id of people) await addPhone(world, tenant, id, "ios");
  worker.dieAt(1, "before");
  const { id } = (await post(world, tenant, { target: { type: "all" }, channel_ids: [ios] })).body;
  await world.settle();
  for (let hour = 0; hour < 3 && world.sqs.depth("deliver-dead").visible === 0; hour++) await world.advance(HOUR);
  expect(world.sqs.depth("deliver-dead").visible).toBeGreaterThan(0);
  worker.revive();

  await world.advance(HOUR);

  expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 3 } });
  expect(await outboxOf(world)).toHaveLength(3);
});
