// Moves the clock of a sandbox from one timer to the next, each only when the work of the one before is done
// (docs/decisions/0072).
import { dueKinds, messagesOf } from "../../../shared/contract/due-kinds.ts";
import { type JobPart, type QueueName, queueNames, WORKING_MS } from "../../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { Capability, Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { moveClockQueue, targets } from "../../../shared/runtime/resources.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { platformWrite, storeWrite } from "../../../shared/store/context.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { DueItem, minuteOf } from "../../../shared/store/platform-items.ts";
import { SandboxTimer } from "../../../shared/store/sandbox/items.ts";
import {
  claimMove,
  endMove,
  keepMove,
  latestMove,
  MAX_MOMENTS,
  type MoveRow,
  releaseMove,
  standAt,
} from "../../../shared/store/sandbox/moves.ts";
import { timeIn } from "../../../shared/store/sandbox/sandbox.ts";
import { clockTimerRow } from "../../../shared/store/sandbox/timers.ts";
import { openWork } from "../../../shared/store/sandbox/work.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";

// Whether the work of a moment is done. Messages of a sandbox are counted; changes in the table's stream are not, so
// that a deployment waits until no work was seen for a while.

/** Longer than a change of the table usually takes to reach its worker, including the start of an environment. */
const QUIET_MS = 4 * SECOND;
/** Work that ends between two looks is still followed by the rest of the quiet time. */
const LOOK_MS = QUIET_MS / 2;

interface SandboxRest {
  work(): ReturnType<typeof openWork>;
  /** Resolves when no work is left, if that can be known. @returns false if it cannot */
  rest(): Promise<boolean>;
}

const sandboxRest: Capability<"rest", SandboxRest> = {
  as: "rest",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], on: "table" }],
  open: (deps) => (tenant: TenantId) => ({
    work: () => openWork(deps, tenant),
    rest: async () => {
      await deps.rest?.();
      return deps.rest !== undefined;
    },
  }),
};

interface WaitOptions {
  /** When the last timer was forwarded, in real time. */
  since: number;
  until: number;
  /** Called at each look. */
  keep(): Promise<void>;
}

/** Waits until the work of a sandbox is done, or the time is over. */
async function awaitWork(
  { rest, clock }: { rest: SandboxRest } & Pick<RuntimeContext, "clock">,
  { since, until, keep }: WaitOptions,
): Promise<"done" | "open"> {
  for (;;) {
    const isKnown = await rest.rest();
    const { isOpen, workedAt } = await rest.work();
    const now = clock.now();
    const left = isKnown ? 0 : Math.max(since, workedAt) + QUIET_MS - now;
    if (!isOpen && left <= 0) return "done";
    if (now >= until) return "open";
    await clock.sleep(isOpen ? LOOK_MS : Math.min(left, QUIET_MS));
    await keep();
  }
}

/** Queues whose messages do not depend on a workspace's own time. */
const OUTSIDE_SANDBOXES: readonly QueueName[] = ["due", "mail-account", "purge"];

/** The right to send to every queue whose messages a sandbox may put off. */
const queuesOfSandboxes = queueNames.filter((queue) => !OUTSIDE_SANDBOXES.includes(queue));
const sandboxTargets = targets("sandboxTargets", queuesOfSandboxes);

/** When a message looks again at a move that another worker has. */
const TAKEN_SECONDS = 30;
/** Timers of one moment that are forwarded together. */
const PAGE = 250;

const uses = [platformWrite, storeWrite, sandboxTargets, moveClockQueue, sandboxRest] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext & { tenant: TenantId };
type TimerRow = RowOf<typeof SandboxTimer>;

export const moveClock = queueWorker(
  "move-clock",
  "Moves the clock of a sandbox, and forwards its timers.",
  uses,
  async (message, context) => {
    if (message.kind === "wake") return forwardDue(context);
    const claim = await claimMove(context.platform, context.tenant, message.move, context.ids.uuid());
    switch (claim.kind) {
      case "over":
        // The worker before may have ended without setting the due row of the first remaining timer.
        return forwardDue(context);
      case "held":
        return context.moveClockQueue.send([message], { delaySeconds: TAKEN_SECONDS });
      case "claimed": {
        const part = await moveOn(context, claim.move);
        if (part === "ended") return forwardDue(context);
        await releaseMove(context.platform, claim.move);
        return context.moveClockQueue.send([message]);
      }
    }
  },
);

/** Moves from moment to moment until the end of the move, or of the worker's time. */
async function moveOn(context: WorkerContext, move: MoveRow): Promise<JobPart> {
  const { platform, store, tenant, clock } = context;
  const until = clock.now() + WORKING_MS;
  const workspace = await platform.get(WorkspaceItem, { tenant });
  let at = Math.max(timeIn(workspace ?? {}, clock.now()), move.from);
  let { moments, counted } = move;
  await standAt(platform, move, at);
  for (let since = clock.now(); ; since = clock.now()) {
    const work = await awaitWork(context, { since, until, keep: () => keepMove(platform, move) });
    if (work === "open") return "unfinished";
    const rows = await nextTimers(store, at, move.to);
    if (rows.length === 0) {
      await endMove(platform, move, "completed", Math.max(at, move.to));
      return "ended";
    }
    if (moments >= MAX_MOMENTS) {
      await endMove(platform, move, "stopped", at);
      return "ended";
    }
    at = Math.max(at, ...rows.map((row) => row.at));
    // The worker before may have stopped between the two.
    const isCounted = at === counted;
    counted = undefined;
    if (!isCounted) moments++;
    await standAt(platform, move, at, isCounted ? 0 : rows.length);
    await forward(context, rows);
  }
}

/** The timers of the next minute that has some, or the overdue ones. */
async function nextTimers(store: WorkerContext["store"], at: number, to: number): Promise<TimerRow[]> {
  const { items } = await store.query(SandboxTimer, {}, { limit: 1 });
  const [first] = items;
  if (!first || first.at > to) return [];
  const end = Math.min(to, Math.max(at, (minuteOf(first.at) + 1) * MINUTE - 1));
  const page = await store.query(SandboxTimer, {}, { limit: PAGE });
  return page.items.filter((row) => row.at <= end);
}

/** Sends first, then removes the rows: a crash between the two repeats messages, and their handlers are idempotent. */
async function forward({ store, tenant, sandboxTargets }: WorkerContext, rows: readonly TimerRow[]): Promise<void> {
  const entries = rows.flatMap(({ at, since, work }) => {
    const wanted = fromJson(work);
    if (wanted.kind === "message") return [{ queue: wanted.queue, message: wanted.message }];
    const { due, id } = wanted;
    const { queue }: { queue: QueueName } = dueKinds[due];
    return messagesOf(due, [{ tenant, id, at, since }]).map((message) => ({ queue, message }));
  });
  for (const [queue, dueEntries] of Map.groupBy(entries, (entry) => entry.queue))
    await sandboxTargets.send(queue, dueEntries);
  await store.removeRows(rows);
}

/** Forwards timers that are due by the running clock, or after a move. */
async function forwardDue(context: WorkerContext): Promise<void> {
  const { platform, store, tenant, clock } = context;
  const [workspace, move] = await Promise.all([platform.get(WorkspaceItem, { tenant }), latestMove(platform, tenant)]);
  // The move forwards due timers, and comes here after its end.
  if (!workspace || move?.status === "running") return;
  const now = timeIn(workspace, clock.now());
  const until = clock.now() + WORKING_MS;
  for (;;) {
    const { items } = await store.query(SandboxTimer, {}, { limit: PAGE });
    const due = items.filter((row) => row.at <= now);
    await forward(context, due);
    if (due.length < PAGE) return setClockTimer(context, now - clock.now());
    if (clock.now() >= until) return context.moveClockQueue.send([{ kind: "wake", tenant }]);
  }
}

/** Sets the due row of the first remaining timer. @param ahead how far the sandbox is ahead of real time */
async function setClockTimer({ platform, store, tenant, clock }: WorkerContext, ahead: number): Promise<void> {
  const { items } = await store.query(SandboxTimer, {}, { limit: 1 });
  const [first] = items;
  if (!first) return;
  const now = clock.now();
  await platform.put(DueItem, ...clockTimerRow(tenant, Math.max(first.at - ahead, now), now));
}
