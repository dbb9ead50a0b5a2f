// Timers: at the start of a minute each of its due rows becomes one message, delayed to the second it is due.
import { MINUTE, SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { dueKinds } from "../../../shared/due-kinds.ts";
import { dueTargets, platformWrite } from "../../../shared/resources.ts";
import { absent, any, atMost } from "../../../shared/store/conditions.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import type { Key } from "../../../shared/store/model.ts";
import { DUE_SHARDS, DueItem, dueKeyOf, minuteOf, SweepItem } from "../../../shared/store/platform-items.ts";
import { onConditionFailed } from "../../../shared/store/refusals.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/worker.ts";

/** A minute is swept so long after it: all its rows should have been forwarded by then. */
const OVERDUE_MINUTES = 3;
/** A first sweep, or one after a long pause, looks back no further than rows are kept. */
const MAX_MINUTES = 7 * 24 * 60;
/** Minutes of one sweep message; the next message continues there. */
const MINUTES_PER_SWEEP = 60;

const uses = [platformWrite, dueTargets] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;
type DueRow = RowOf<typeof DueItem>;

export const due = queueWorker("due", "Forwards due rows at their time.", uses, async (message, context) => {
  if ("row" in message) return forwardOne(context, message.row);
  if ("minute" in message) return forwardMinute(context, message.minute).then(() => undefined);
  const rescued = await sweep(context);
  if (rescued > 0) context.log({ level: "warn", message: "the sweep found overdue rows", rescued });
});

async function forwardOne(context: WorkerContext, key: Key): Promise<void> {
  const row = await context.platform.get(DueItem, dueKeyOf(key));
  if (row) return forward(context, [row]);
  context.log({ level: "info", message: "a due row was forwarded before", key: key.sk });
}

async function forwardMinute(context: WorkerContext, minute: number): Promise<number> {
  const forwarded = await Promise.all(
    Array.from({ length: DUE_SHARDS }, (_, shard) => forwardBucket(context, { minute, shard })),
  );
  return forwarded.reduce((sum, n) => sum + n, 0);
}

async function forwardBucket(context: WorkerContext, bucket: { minute: number; shard: number }): Promise<number> {
  let forwarded = 0;
  let after: Key | undefined;
  do {
    const page = await context.platform.query(DueItem, bucket, { after });
    if (page.items.length > 0) await forward(context, page.items);
    forwarded += page.items.length;
    after = page.next;
  } while (after);
  return forwarded;
}

/** Sends first, then removes the rows: a crash between the two repeats a message, and its handlers are idempotent. */
async function forward({ platform, dueTargets, clock }: WorkerContext, rows: readonly DueRow[]): Promise<void> {
  const delayOf = ({ at }: DueRow) => Math.max(0, Math.ceil((at - clock.now()) / SECOND));
  const byQueue = Map.groupBy(rows, ({ kind }) => dueKinds[kind].queue);
  const batches = [...byQueue].flatMap(([queue, group]) =>
    [...Map.groupBy(group, delayOf)].map(([delaySeconds, batch]) => ({ queue, delaySeconds, batch })),
  );
  await Promise.all(
    batches.map(({ queue, delaySeconds, batch }) => {
      const messages = batch.map((row) => dueKinds[row.kind].message(row));
      return dueTargets.send(queue, messages, { delaySeconds });
    }),
  );
  await platform.removeRows(rows);
}

/** Reads each past minute once, from where the last sweep ended. @returns how many rows it forwarded. */
async function sweep(context: WorkerContext): Promise<number> {
  const { platform, clock } = context;
  const last = minuteOf(clock.now()) - OVERDUE_MINUTES;
  const swept = (await platform.get(SweepItem, {}))?.minute ?? last - MINUTES_PER_SWEEP;
  const first = Math.max(swept + 1, last - MAX_MINUTES);
  const until = Math.min(last, first + MINUTES_PER_SWEEP - 1);
  if (until < first) return 0;
  let rescued = 0;
  for (let minute = first; minute <= until; minute++) rescued += await forwardMinute(context, minute);
  await platform
    .change(SweepItem, {}, { set: { minute: until } }, any(absent("minute"), atMost("minute", until)))
    .catch(onConditionFailed(() => undefined));
  return rescued;
}

export const SWEEP_EVERY_MS = 5 * MINUTE;
