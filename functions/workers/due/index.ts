// Timers: when a minute comes, each of its due rows becomes one message, held back to the second it is due.
import { MINUTE, SECOND } from "../../../shared/clock.ts";
import type { DueKind, Message } from "../../../shared/messages.ts";
import type { Context } from "../../../shared/parts.ts";
import { disbandQueue, eraseQueue, fanOutQueue, platformWrite, verifyChannelQueue } from "../../../shared/resources.ts";
import { absent, any, atMost } from "../../../shared/store/conditions.ts";
import { DUE_SHARDS, dueBucket, type Grouping, platform as keys, minuteOf } from "../../../shared/store/keys.ts";
import type { Key } from "../../../shared/store/model.ts";
import { refused } from "../../../shared/store/refusals.ts";
import type { DueRow } from "../../../shared/store/timers.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** A minute is swept when it is this far gone: everything in it should have been forwarded long ago. */
const OVERDUE_MINUTES = 3;
/** A first sweep, or one after a long stop, looks back no further than rows are kept. */
const MOST_MINUTES = 7 * 24 * 60;
/** Minutes of one sweep message; the next one goes on from there. */
const MINUTES_A_SWEEP = 60;

const uses = [platformWrite, fanOutQueue, eraseQueue, disbandQueue, verifyChannelQueue] as const;
type Bound = Context<typeof uses> & { clock: { now(): number } };

export const due = queueWorker("due", "Forwards due rows at their time.", uses, async (message, context) => {
  if ("row" in message) return forwardOne(context, message.row);
  if ("minute" in message) return forwardMinute(context, message.minute).then(() => undefined);
  const rescued = await sweep(context);
  if (rescued > 0) context.log({ level: "warn", message: "the sweep found overdue rows", rescued });
});

async function forwardOne(context: Bound, key: Key): Promise<void> {
  const row = await context.platform.get(key);
  if (row) await forward(context, [row as DueRow]);
}

async function forwardMinute(context: Bound, minute: number): Promise<number> {
  const forwarded = await Promise.all(
    Array.from({ length: DUE_SHARDS }, (_, shard) => forwardBucket(context, dueBucket(minute, shard))),
  );
  return forwarded.reduce((sum, n) => sum + n, 0);
}

async function forwardBucket(context: Bound, pk: string): Promise<number> {
  let forwarded = 0;
  let after: Key | undefined;
  do {
    const page = await context.platform.query({ pk, after });
    await forward(context, page.items as DueRow[]);
    forwarded += page.items.length;
    after = page.next;
  } while (after);
  return forwarded;
}

/** Sends first, then drops the rows: a crash between the two repeats a message, and its handler does nothing twice. */
async function forward(context: Bound, rows: DueRow[]): Promise<void> {
  const { platform, fanOutQueue, eraseQueue, disbandQueue, verifyChannelQueue, clock } = context;
  const send: Record<DueKind, (row: DueRow, delaySeconds: number) => Promise<void>> = {
    job: ({ tenant, id: job, since }, delaySeconds) =>
      fanOutQueue.send([{ tenant, job, since, due: true }], { delaySeconds }),
    "job-watch": ({ tenant, id: job, since }, delaySeconds) =>
      fanOutQueue.send([{ tenant, job, since, watch: true }], { delaySeconds }),
    erasure: ({ tenant, id: subscriber, since }, delaySeconds) =>
      eraseQueue.send([{ tenant, subscriber, since, pass: 2 } satisfies Message<"erase">], { delaySeconds }),
    disband: ({ tenant, id }, delaySeconds) => {
      const [kind, group] = id.split("#") as [Grouping, string];
      return disbandQueue.send([{ tenant, kind, id: group }], { delaySeconds });
    },
    verification: ({ tenant, id: channel }, delaySeconds) =>
      verifyChannelQueue.send([{ tenant, channel }], { delaySeconds }),
  };
  await Promise.all(rows.map((row) => send[row.kind](row, Math.max(0, Math.ceil((row.at - clock.now()) / SECOND)))));
  await platform.writeAll(rows.map(({ pk, sk }) => ({ remove: { pk, sk } })));
}

/** Looks once at every minute that is gone, from where the last sweep ended. @returns how many rows it forwarded. */
async function sweep(context: Bound): Promise<number> {
  const { platform, clock } = context;
  const last = minuteOf(clock.now()) - OVERDUE_MINUTES;
  const swept = Number((await platform.get(keys.sweep()))?.minute ?? last - MINUTES_A_SWEEP);
  const first = Math.max(swept + 1, last - MOST_MINUTES);
  const until = Math.min(last, first + MINUTES_A_SWEEP - 1);
  if (until < first) return 0;
  let rescued = 0;
  for (let minute = first; minute <= until; minute++) rescued += await forwardMinute(context, minute);
  await platform
    .update(keys.sweep(), { set: { minute: until } }, any(absent("minute"), atMost("minute", until)))
    .catch(refused(() => undefined));
  return rescued;
}

export const SWEEP_EVERY_MS = 5 * MINUTE;
