// The reader of a file dies between any two of its steps: every row is taken and counted once, whatever others do meanwhile.
import { expect, it } from "vitest";
import { runner } from "../../local/clock.ts";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { countMembers } from "../../shared/store/lists/member-counts.ts";
import { recountPart } from "../../shared/store/recount.ts";
import { SHARDS } from "../../shared/store/shards.ts";
import { ImportPack } from "../../shared/store/subscribers/import-items.ts";
import { isAlive, Profile } from "../../shared/store/subscribers/items.ts";
import { countSubscribers } from "../../shared/store/subscribers/subscribers.ts";
import { importing, people } from "../support/imports.ts";
import { mortal } from "../support/mortal.ts";
import { recountMembers } from "../support/recounts.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const open = importing({ withTenant });
const PATIENCE_MS = 120_000;
const ROWS = 2;
/** Until a message that was not handled comes again, and its import goes on. */
const RETRY_MS = 20 * MINUTE;

async function setting() {
  const worker = mortal("import-rows");
  const all = await open({ hooks: worker.hooks });
  const { store } = all.tenant;
  const living = async () => {
    const counts = await Promise.all(
      SHARDS.map((id) => store.count(Profile, { id }, { prefix: id, filter: isAlive() })),
    );
    return counts.reduce((sum, n) => sum + n, 0);
  };
  /** The counters of subscribers and members, and the rows they are of. */
  const counted = async () => ({
    subscribers: await countSubscribers(store),
    living: await living(),
    members: await countMembers(store, { kind: "list", id: all.list }),
    rows: await recountMembers(store, { kind: "list", id: all.list }),
    packs: (await store.queryAll(ImportPack, {})).length,
  });
  const exact = (subscribers: number, members = subscribers) => ({
    subscribers,
    living: subscribers,
    members,
    rows: members,
    packs: 0,
  });
  let from = 0;
  /** Imports new people with a reader that dies at its n-th step. @returns the import, the steps and how it could die */
  const interrupted = async (n: number, moment: "before" | "after") => {
    worker.dieAt(n, moment);
    const { body } = await all.post({ listId: all.list }, { filename: "a.csv", content: people(ROWS, from) });
    from += ROWS;
    await all.world.advance(SECOND);
    return { id: String(body.import_job_id), steps: worker.steps(), deaths: worker.deaths() };
  };
  /** A step after which rows of the batch are there, and no seal. */
  const midway = async () => {
    const { steps } = await interrupted(10_000, "before");
    worker.revive();
    await all.world.advance(HOUR);
    for (let n = steps; ; n--) {
      const before = await counted();
      const { id } = await interrupted(n, "before");
      const after = await counted();
      if (after.packs > 0 && after.rows === before.rows + ROWS)
        return { id, before, names: [`u${from - 2}`, `u${from - 1}`] };
      worker.revive();
      await all.world.advance(HOUR);
    }
  };
  return { ...all, worker, counted, exact, interrupted, midway };
}

it(
  "a crash at any step of a batch: each row is taken once, and counted once (IMP-2, SUB-8)",
  async () => {
    const { world, job, worker, counted, exact, interrupted } = await setting();
    let files = 0;
    const run = async (n: number, moment: "before" | "after") => {
      const { id, steps, deaths } = await interrupted(n, moment);
      worker.revive();
      await world.advance(RETRY_MS);
      files++;
      const ended = await job(id);
      expect([n, moment, ended.status, ended.processed_rows]).toEqual([n, moment, "completed", ROWS]);
      expect([n, moment, await counted()]).toEqual([n, moment, exact(files * ROWS)]);
      return { steps, deaths };
    };
    const { steps, deaths } = await run(10_000, "before");
    expect(steps).toBeGreaterThan(3 * ROWS);
    expect(deaths.length).toBeGreaterThan(steps);
    for (const [n, moment] of deaths) await run(n, moment);
  },
  PATIENCE_MS,
);

it("who leaves the list, or is erased, before an interrupted batch is counted is counted out once (IMP-2, SUB-8)", async () => {
  const { world, tenant, as, list, members, worker, counted, exact, midway } = await setting();
  const { before, names } = await midway();
  const [leaving, erased] = (await members()).filter(({ external_id }) => names.includes(external_id));
  const body = { subscriber_ids: [leaving?.subscriber_id] };
  const left = await world.call(`POST /api/v1/lists/${list}/subscribers/remove`, { as: await as(), body });
  expect(left).toMatchObject({ status: 200, body: { removed: 1 } });
  const erasure = await tenant.call(`DELETE /api/v1/subscribers/${erased?.subscriber_id}`);
  expect(erasure.status).toBe(204);
  await world.advance(MINUTE / 2);
  worker.revive();
  await world.advance(HOUR);
  // The file is read again: former members of the list come back, and erased people do not.
  expect(await counted()).toEqual(exact(before.living + ROWS - 1));
});

it("an import that is canceled while its reader is gone: what it wrote is counted (IMP-2)", async () => {
  const { world, as, worker, counted, exact, midway } = await setting();
  const { id, before } = await midway();
  expect((await world.call(`POST /api/v1/lists/import/${id}/cancel`, { as: await as() })).status).toBe(200);
  worker.revive();
  await world.advance(HOUR);
  expect(await counted()).toEqual(exact(before.living + ROWS));
});

it("a recount leaves alone what an import is still to count, and counts what one left for good (IMP-2)", async () => {
  const { world, tenant, counted, exact, midway } = await setting();
  const { before } = await midway();
  const deps = {} as Parameters<typeof recountPart>[1];
  const recount = async (place: string) => {
    let part = await recountPart(tenant.store, deps, { place });
    while (part.next?.place === place) part = await recountPart(tenant.store, deps, part.next);
  };
  const left = await counted();
  for (const place of ["import-packs", "subscribers", "lists"]) await recount(place);
  expect(await counted()).toEqual(left);
  expect(left.subscribers).toBe(before.subscribers);

  world.clock.jumpTo?.(world.clock.now() + HOUR);
  await recount("import-packs");
  expect(await counted()).toEqual(exact(before.living + ROWS));
});

it(
  "a crash at any step of a batch: what its rows say of consent is counted as without one (IMP-2, D-CSV)",
  async () => {
    const worker = mortal("import-rows");
    const { world, tenant, list, post, job } = await open({ hooks: worker.hooks });
    await tenant.call("POST /v1/topics", { key: "news", name: "News" });
    let files = 0;
    const run = async (n: number, moment: "before" | "after") => {
      files++;
      const [a, b, c] = ["a", "b", "c"].map((name) => `${name}${files}`);
      const rows = [
        `${a},${a}@x.co,yes,2025-01-01,yes`,
        `${a},${a}@x.co,no,2025-02-01,no`,
        `${b},${b}@x.co,no,,no`,
        `${b},${b}@x.co,no,,no`,
        `,${c}@x.co,no,,`,
        `${c},${c}@x.co,yes,2025-01-01,yes`,
        `,${c}@x.co,bounced,,`,
      ];
      worker.dieAt(n, moment);
      const content = `external_id,email,consent_status,consent_at,topic:news\n${rows.join("\n")}\n`;
      const { body } = await post({ listId: list }, { filename: "a.csv", content });
      await world.advance(SECOND);
      const [steps, deaths] = [worker.steps(), worker.deaths()];
      worker.revive();
      await world.advance(RETRY_MS);
      const { consent_summary, topic_summary } = await job(String(body.import_job_id));
      return { steps, deaths, counts: { consent_summary, topic_summary } };
    };
    const { steps, deaths, counts } = await run(10_000, "before");
    expect(steps).toBeGreaterThan(7);
    expect(deaths.length).toBeGreaterThan(steps);
    for (const [n, moment] of deaths) expect([n, moment, (await run(n, moment)).counts]).toEqual([n, moment, counts]);
  },
  PATIENCE_MS,
);

it("an import whose reader dies for hours, until no message of it is left, goes on by its watchdog (IMP-2)", async () => {
  let isDying = true;
  const steps = new Map<unknown, number>();
  const step = () => {
    const n = (steps.get(runner.getStore()) ?? 0) + 1;
    steps.set(runner.getStore(), n);
    if (isDying && n > 5) throw new Error("the worker died");
  };
  const { world, list, post, job } = await open({
    hooks: (name) => (name === "import-rows" ? { before: step, after: () => undefined } : {}),
  });
  const { body } = await post({ listId: list }, { filename: "a.csv", content: people(ROWS) });
  await world.advance(2 * HOUR);
  expect((await job(body.import_job_id)).status).not.toBe("completed");

  isDying = false;
  await world.advance(RETRY_MS);
  expect(await job(body.import_job_id)).toMatchObject({ status: "completed", processed_rows: ROWS });
});
