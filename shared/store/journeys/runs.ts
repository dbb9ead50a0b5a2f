// Runs of journeys (D-JNY-RUN): a row under the subscriber, guarded by its `seq`; a head that guards entry; a row in a
// shard of the journey that finds it again; and the counts. All of them change in one transaction.
import { timestamp } from "../../clock.ts";
import { conflict, notFound } from "../../http/errors.ts";
import { isUuid } from "../../http/schemas.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { Outcome, Position } from "../../rules/journey-run.ts";
import { type RunStatus, runMoves } from "../../rules/run-states.ts";
import { absent, all, any, atMost, type Condition, is, oneOf, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import { type Addends, countWrites, outcomeName, outcomesOf, statusAddends, sumOf } from "./counts.ts";

/** What began a run. */
export interface Cause {
  event_id?: string;
  event_name?: string;
  segment_id?: string;
}

export interface Run {
  id: string;
  journey_id: string;
  version: number;
  subscriber_id: string;
  status: RunStatus;
  current_step: string;
  entered_at: string;
  ended_at: string | null;
  end_reason: string | null;
  context: Cause;
}

export interface RunItem extends Run {
  seq: number;
  position: Position;
}

/** Where a run comes to: a place, or its end. */
export type Destination = { position: Position } | { ends: Exclude<RunStatus, "active">; step: string; reason: string };

const actionOf = { completed: "complete", exited: "exit", canceled: "cancel" } as const;

/** The steps that put a run that begins, at the place where it comes to at once. Refused: this one may not enter. */
export function entryWrites(
  store: Store,
  run: Pick<RunItem, "id" | "journey_id" | "version" | "subscriber_id" | "context">,
  to: Destination,
  outcomes: readonly Outcome[],
  { reentryAfter }: { reentryAfter: number | undefined },
): TransactItem[] {
  const { id, journey_id, version, subscriber_id, context } = run;
  const now = store.clock.now();
  const status = "ends" in to ? to.ends : "active";
  const step = "ends" in to ? to.step : to.position.step;
  const item: Item = {
    ...keys.run(store.tenant, subscriber_id, journey_id, id),
    ...{ id, journey_id, version, subscriber_id, status, step, seq: 1, entered_at: timestamp(now) },
    context: JSON.stringify(context),
    ...placeOf(store, to),
    ...outcomeAddends(outcomes),
  };
  const free = absent();
  const again =
    reentryAfter === undefined ? free : any(free, all(absent("active"), atMost("last", now - reentryAfter)));
  const head = keys.runHead(store.tenant, subscriber_id, journey_id);
  return [
    { update: head, change: { set: { last: now, ...(status === "active" && { active: id }) } }, when: again },
    { put: item, when: absent() },
    { put: { ...keys.journeyRun(store.tenant, journey_id, id), subscriber: subscriber_id, status } },
    ...countWrites(store, journey_id, id, sumOf(statusAddends(status, step, 1), outcomeAddends(outcomes))),
  ];
}

/** The steps that move a run on from where it was read. Refused: somebody else moved it. */
export function moveWrites(store: Store, run: RunItem, to: Destination, outcomes: readonly Outcome[]): TransactItem[] {
  const status = "ends" in to ? to.ends : "active";
  const step = "ends" in to ? to.step : to.position.step;
  const position: Partial<Position> = "ends" in to ? {} : to.position;
  const remove = (["since", "until", "spent"] as const).filter((name) => position[name] === undefined);
  const isHere: Condition = all(is("seq", run.seq), oneOf("status", ["active"]));
  const change = {
    set: { status, step, seq: run.seq + 1, ...placeOf(store, to) },
    add: outcomeAddends(outcomes),
    remove,
  };
  const counted = sumOf(
    statusAddends(run.status, run.current_step, -1),
    statusAddends(status, step, 1),
    outcomeAddends(outcomes),
  );
  return [
    { update: keyOf(store, run), change, when: isHere },
    ...("ends" in to ? endWrites(store, run, to.ends) : []),
    ...countWrites(store, run.journey_id, run.id, counted),
  ];
}

function endWrites(
  { tenant }: Store,
  { id, journey_id, subscriber_id }: RunItem,
  ends: keyof typeof actionOf,
): TransactItem[] {
  const { from, to } = runMoves[actionOf[ends]];
  return [
    { update: keys.runHead(tenant, subscriber_id, journey_id), change: { remove: ["active"] }, when: present() },
    { update: keys.journeyRun(tenant, journey_id, id), change: { set: { status: to } }, when: oneOf("status", from) },
  ];
}

const placeOf = ({ clock }: Store, to: Destination) =>
  "ends" in to
    ? { ended_at: timestamp(clock.now()), end_reason: to.reason }
    : {
        ...(to.position.since !== undefined && { since: to.position.since }),
        ...(to.position.until !== undefined && { until: to.position.until }),
        ...(to.position.spent !== undefined && { spent: to.position.spent }),
      };

const outcomeAddends = (outcomes: readonly Outcome[]): Addends =>
  sumOf(...outcomes.map(({ step, name }) => ({ [outcomeName(step, name)]: 1 })));

const keyOf = ({ tenant }: Pick<Store, "tenant">, { subscriber_id, journey_id, id }: RunItem): Key =>
  keys.run(tenant, subscriber_id, journey_id, id);

export async function findRun(
  store: StoreReader,
  subscriber: string,
  journey: string,
  run: string,
): Promise<RunItem | undefined> {
  const item = await store.get(keys.run(store.tenant, subscriber, journey, run));
  return item && runOf(item);
}

/** The runs that are active for a subscriber among these journeys. */
export async function activeRuns(
  store: StoreReader,
  subscriber: string,
  journeys: readonly string[],
): Promise<RunItem[]> {
  const heads = await store.getAll(journeys.map((id) => keys.runHead(store.tenant, subscriber, id)));
  const wanted = heads.flatMap((head, i) =>
    head?.active ? [keys.run(store.tenant, subscriber, journeys[i]!, String(head.active))] : [],
  );
  const items = wanted.length > 0 ? await store.getAll(wanted) : [];
  return items.flatMap((item) => (item?.status === "active" ? [runOf(item)] : []));
}

const MAX_ATTEMPTS = 10;

/** AMB-74: 200 with the run, also for one that is canceled already. @throws 404, 409 once it ended otherwise. */
export async function cancelRun(store: Store, journey: string, id: string): Promise<RunItem> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = isUuid(id) ? await store.get(keys.journeyRun(store.tenant, journey, id)) : undefined;
    const run = row?.subscriber === undefined ? undefined : await findRun(store, String(row.subscriber), journey, id);
    if (!run) throw notFound("run");
    if (run.status === "canceled") return run;
    if (run.status !== "active") throw conflict(`The run is ${run.status} and can no longer be canceled.`);
    await endRun(store, run, "canceled by a user");
  }
  throw conflict("Somebody else is changing this at the moment. Try again.");
}

/** Cancels a run. @returns false if somebody else moved it. */
export const endRun = (store: Store, run: RunItem, reason: string): Promise<boolean> =>
  store.transact(moveWrites(store, run, { ends: "canceled", step: run.current_step, reason }, [])).then(
    () => true,
    onTransactionCanceled(() => false),
  );

/** Rows that are runs of a subscriber. */
export const isRun = ({ pk, sk }: Key): boolean => pk.includes("#U#") && sk.startsWith("J#");

/** Cancels and removes the runs of an erased subscriber; what they count for stays, naming nobody. */
export async function forgetRuns(store: Store, subscriber: string, rows: readonly Key[]): Promise<void> {
  for (const { sk } of rows) {
    const [, journey = "", id = ""] = sk.split("#");
    const item = await store.get(keys.run(store.tenant, subscriber, journey, id));
    if (!item) continue;
    const run = runOf(item);
    const status = run.status === "active" ? "canceled" : run.status;
    const outcomes = outcomesOf(item);
    const counted = sumOf(statusAddends(run.status, run.current_step, -1), statusAddends(status, run.current_step, 1));
    await store
      .transact([
        { remove: keyOf(store, run), when: is("seq", run.seq) },
        {
          update: keys.journeyRun(store.tenant, journey, id),
          change: { set: { status, ...outcomes }, remove: ["subscriber"] },
        },
        ...countWrites(store, journey, id, counted),
      ])
      .catch(onTransactionCanceled(() => undefined));
  }
}

/** The numbers of a journey as its runs say them: what the counters must say. */
export async function recountRuns(store: StoreReader, journey: string): Promise<Addends> {
  const parts: Addends[] = [];
  for (const shard of "0123456789abcdef")
    for (let after: Key | undefined, first = true; first || after; first = false) {
      const page = await store.query({ pk: keys.journeyRuns(store.tenant, journey, shard), after });
      const live = page.items.filter(({ subscriber }) => subscriber !== undefined);
      const runs = await store.getAll(
        live.map(({ sk, subscriber }) => keys.run(store.tenant, String(subscriber), journey, sk)),
      );
      for (const row of page.items.filter(({ subscriber }) => subscriber === undefined))
        parts.push({ [`r:${row.status}`]: 1 }, outcomesOf(row));
      for (const item of runs)
        if (item) parts.push(statusAddends(item.status as RunStatus, String(item.step), 1), outcomesOf(item));
      after = page.next;
    }
  return sumOf(...parts);
}

export function runOf(item: Item): RunItem {
  const { since, until, spent } = item;
  return {
    id: String(item.id),
    journey_id: String(item.journey_id),
    version: Number(item.version),
    subscriber_id: String(item.subscriber_id),
    status: item.status as RunStatus,
    current_step: String(item.step),
    entered_at: String(item.entered_at),
    ended_at: item.ended_at === undefined ? null : String(item.ended_at),
    end_reason: item.end_reason === undefined ? null : String(item.end_reason),
    context: JSON.parse(String(item.context)),
    seq: Number(item.seq),
    position: {
      step: String(item.step),
      ...(since !== undefined && { since: Number(since) }),
      ...(until !== undefined && { until: Number(until) }),
      ...(spent !== undefined && { spent: String(spent) }),
    },
  };
}
