// Timers: when a minute comes, each of its due rows becomes one message, held back to the second it is due.
import { MINUTE, SECOND } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { dueKinds } from "../../../shared/due-kinds.ts";
import type { QueueName } from "../../../shared/messages.ts";
import { dueTargets, platformWrite } from "../../../shared/resources.ts";
import { absent, any, atMost } from "../../../shared/store/conditions.ts";
import { DUE_SHARDS, dueBucket, minuteOf, platformKeys } from "../../../shared/store/keys.ts";
import type { Key } from "../../../shared/store/model.ts";
import { onConditionFailed } from "../../../shared/store/refusals.ts";
import type { DueRow } from "../../../shared/store/timers.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** A minute is swept when it is this far gone: everything in it should have been forwarded long ago. */
const OVERDUE_MINUTES = 3;
/** A first sweep, or one after a long stop, looks back no further than rows are kept. */
const MAX_MINUTES = 7 * 24 * 60;
/** Minutes of one sweep message; the next one goes on from there. */
const MINUTES_A_SWEEP = 60;

const uses = [platformWrite, dueTargets] as const;
type WorkerContext = Context<typeof uses> & { clock: { now(): number } };

export const due = queueWorker("due", "Forwards due rows at their time.", uses, async (message, context) => {
  if ("row" in message) return forwardOne(context, message.row);
  if ("minute" in message) return forwardMinute(context, message.minute).then(() => undefined);
  const rescued = await sweep(context);
  if (rescued > 0) context.log({ level: "warn", message: "the sweep found overdue rows", rescued });
});

async function forwardOne(context: WorkerContext, key: Key): Promise<void> {
  const row = await context.platform.get(key);
  if (row) await forward(context, [row as DueRow]);
}

async function forwardMinute(context: WorkerContext, minute: number): Promise<number> {
  const forwarded = await Promise.all(
    Array.from({ length: DUE_SHARDS }, (_, shard) => forwardBucket(context, dueBucket(minute, shard))),
  );
  return forwarded.reduce((sum, n) => sum + n, 0);
}

async function forwardBucket(context: WorkerContext, pk: string): Promise<number> {
  let forwarded = 0;
  let after: Key | undefined;
  do {
    const page = await context.platform.query({ pk, after });
    if (page.items.length > 0) await forward(context, page.items as DueRow[]);
    forwarded += page.items.length;
    after = page.next;
  } while (after);
  return forwarded;
}

/** Sends first, then drops the rows: a crash between the two repeats a message, and its handler does nothing twice. */
async function forward({ platform, dueTargets, clock }: WorkerContext, rows: DueRow[]): Promise<void> {
  const sendings = Map.groupBy(rows, ({ kind, at }) => {
    const delaySeconds = Math.max(0, Math.ceil((at - clock.now()) / SECOND));
    return `${dueKinds[kind].queue} ${delaySeconds}`;
  });
  await Promise.all(
    [...sendings].map(([sending, together]) => {
      const [queue, delay] = sending.split(" ") as [QueueName, string];
      const messages = together.map((row) => dueKinds[row.kind].message(row));
      return dueTargets.send(queue, messages, { delaySeconds: Number(delay) });
    }),
  );
  await platform.writeAll(rows.map(({ pk, sk }) => ({ remove: { pk, sk } })));
}

/** Looks once at every minute that is gone, from where the last sweep ended. @returns how many rows it forwarded. */
async function sweep(context: WorkerContext): Promise<number> {
  const { platform, clock } = context;
  const last = minuteOf(clock.now()) - OVERDUE_MINUTES;
  const swept = Number((await platform.get(platformKeys.sweep()))?.minute ?? last - MINUTES_A_SWEEP);
  const first = Math.max(swept + 1, last - MAX_MINUTES);
  const until = Math.min(last, first + MINUTES_A_SWEEP - 1);
  if (until < first) return 0;
  let rescued = 0;
  for (let minute = first; minute <= until; minute++) rescued += await forwardMinute(context, minute);
  await platform
    .update(platformKeys.sweep(), { set: { minute: until } }, any(absent("minute"), atMost("minute", until)))
    .catch(onConditionFailed(() => undefined));
  return rescued;
}

export const SWEEP_EVERY_MS = 5 * MINUTE;
