// Timers: at the start of a minute its due rows become messages, each delayed to the second it is due.
import { dueKinds, messagesOf } from "../../../shared/contract/due-kinds.ts";
import { type Message, WORKING_MS } from "../../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { dueQueue, dueTargets } from "../../../shared/runtime/resources.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { absent, any, atMost } from "../../../shared/store/conditions.ts";
import { platformWrite } from "../../../shared/store/context.ts";
import { fullKey, type RowOf } from "../../../shared/store/item.ts";
import type { Key } from "../../../shared/store/model.ts";
import { DUE_SHARDS, DueItem, dueKeyOf, minuteOf, SweepItem } from "../../../shared/store/platform-items.ts";
import { whereItHolds } from "../../../shared/store/refusals.ts";

/** A minute is swept this much later: all its rows should have been forwarded by then. */
const OVERDUE_MINUTES = 3;
/** A first sweep, or one after a long pause, looks back no further than rows are kept. */
const MAX_MINUTES = 7 * 24 * 60;
/** Minutes of one sweep; the next one, five minutes later, continues there. */
const MINUTES_PER_SWEEP = 60;
/** Rows that are forwarded and removed together. */
const PAGE = 250;

const uses = [platformWrite, dueTargets, dueQueue] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;
type DueRow = RowOf<typeof DueItem>;
type ShardOfMinute = Pick<Extract<Message<"due">, { kind: "minute" }>, "minute" | "after"> & { shard: number };

export const forwardDueRows = queueWorker("due", "Forwards due rows at their time.", uses, async (message, context) => {
  switch (message.kind) {
    case "row":
      return forwardOne(context, message.row);
    case "sweep":
      return sweep(context);
    case "minute": {
      const { minute, shard, after } = message;
      return shard === undefined ? forwardMinute(context, minute) : forwardShard(context, { minute, shard, after });
    }
  }
});

async function forwardOne(context: WorkerContext, key: Key): Promise<void> {
  const row = await context.platform.get(DueItem, dueKeyOf(key));
  if (row) return forward(context, [row]);
  context.log({ level: "info", message: "a due row was forwarded before", key: key.sk });
}

const shardsOf = (minute: number) => Array.from({ length: DUE_SHARDS }, (_, shard) => ({ minute, shard }));

const pageOf = ({ platform }: WorkerContext, { minute, shard, after }: ShardOfMinute) => {
  const key =
    after === undefined ? undefined : { pk: fullKey(DueItem, { minute, shard, at: 0, timer: "" }, "").pk, sk: after };
  return platform.query(DueItem, { minute, shard }, { limit: PAGE, after: key });
};

/** Forwards the first page of each shard; a shard with more rows continues in a message of its own. */
async function forwardMinute(context: WorkerContext, minute: number): Promise<void> {
  const remaining = await Promise.all(
    shardsOf(minute).map(async (shard) => {
      const page = await pageOf(context, shard);
      await forward(context, page.items);
      return page.next ? [{ kind: "minute" as const, ...shard, after: page.next.sk }] : [];
    }),
  );
  await context.dueQueue.send(remaining.flat());
}

async function forwardShard(context: WorkerContext, { after, ...shard }: ShardOfMinute): Promise<void> {
  const until = context.clock.now() + WORKING_MS;
  for (let position = after; ; ) {
    const page = await pageOf(context, { ...shard, after: position });
    await forward(context, page.items);
    if (!page.next) return;
    position = page.next.sk;
    if (context.clock.now() >= until) return context.dueQueue.send([{ kind: "minute", ...shard, after: position }]);
  }
}

/** Sends first, then removes the rows: a crash between the two repeats messages, and their handlers are idempotent. */
async function forward({ platform, dueTargets, clock }: WorkerContext, rows: readonly DueRow[]): Promise<void> {
  const delayOf = ({ at }: DueRow) => Math.max(0, Math.ceil((at - clock.now()) / SECOND));
  const groups = Map.groupBy(rows, (row) => `${row.kind} ${row.tenant} ${delayOf(row)}`);
  const entries = [...groups.values()].flatMap((group) => {
    const [{ kind }, delaySeconds] = [group[0]!, delayOf(group[0]!)];
    return messagesOf(kind, group).map((message) => ({ queue: dueKinds[kind].queue, message, delaySeconds }));
  });
  for (const [queue, dueEntries] of Map.groupBy(entries, (entry) => entry.queue))
    await dueTargets.send(queue, dueEntries);
  await platform.removeRows(rows);
}

/**
 * Looks at each past minute once, from where the last sweep ended; a shard that still has rows gets a message. The
 * position is stored after each minute with rows, and at the end, so that a sweep that fails continues there.
 */
async function sweep(context: WorkerContext): Promise<void> {
  const { platform, clock, log, dueQueue } = context;
  const last = minuteOf(clock.now()) - OVERDUE_MINUTES;
  const swept = (await platform.get(SweepItem, {}))?.minute ?? last - MINUTES_PER_SWEEP;
  const first = Math.max(swept + 1, last - MAX_MINUTES);
  const until = Math.min(last, first + MINUTES_PER_SWEEP - 1);
  for (let minute = first; minute <= until; minute++) {
    const pages = await Promise.all(
      shardsOf(minute).map(async (shard) => ({ shard, page: await pageOf(context, shard) })),
    );
    const overdue = pages.filter(({ page }) => page.items.length > 0);
    const rescued = overdue.reduce((sum, { page }) => sum + page.items.length, 0);
    if (rescued > 0) log({ level: "warn", message: "the sweep found overdue rows", minute, rescued });
    await dueQueue.send(overdue.map(({ shard }) => ({ kind: "minute", ...shard })));
    if (rescued > 0 || minute === until) await storePosition(context, minute);
  }
}

const storePosition = ({ platform }: WorkerContext, minute: number): Promise<unknown> =>
  whereItHolds(platform.change(SweepItem, {}, { set: { minute } }, any(absent("minute"), atMost("minute", minute))));

export const SWEEP_EVERY_MS = 5 * MINUTE;
