// The clock and the outbox of a sandbox (F4, docs/decisions/0072).
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { said, TextUpTo, Timestamp, TimestampInput, Uuid } from "../../../shared/contract/schemas.ts";
import { type Workspace, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, replyWith } from "../../../shared/http/endpoint.ts";
import { type Clock, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { ApiError, invalid } from "../../../shared/kernel/errors.ts";
import { parseDuration } from "../../../shared/rules/durations.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { type PlatformReader, platformRead, platformWrite, storeRead } from "../../../shared/store/context.ts";
import { sentFields } from "../../../shared/store/sandbox/items.ts";
import {
  beginMove,
  latestMove,
  MAX_MOMENTS,
  MAX_MOVE_MS,
  Move,
  type MoveRow,
  moveOf,
} from "../../../shared/store/sandbox/moves.ts";
import { listSent } from "../../../shared/store/sandbox/outbox.ts";
import { isSandbox, timeIn } from "../../../shared/store/sandbox/sandbox.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";

/** A move that takes longer is answered by 202. */
const WAIT_MS = 15 * SECOND;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2 * SECOND;
const TestClock = v.object({
  now: said("The time of the sandbox. It passes as usual, except during a move", Timestamp),
  move: said("The latest move of the clock", v.nullable(Move)),
});

const Sent = v.object({
  id: said("Names the entry of the outbox", sentFields.id),
  channel: said("The type of the channel, or `webhook`", sentFields.channel),
  at: said("When it would have been sent, by the time of the sandbox", sentFields.at),
  to: said("The address, the device's token or the target URL", sentFields.to),
  subscriber_id: said("The recipient; `null` for a webhook", sentFields.subscriber_id),
  job_id: said("The send it belongs to; `null` for a webhook", sentFields.job_id),
  title: said("The title or the subject; `null` for a webhook", sentFields.title),
  body: said("The text, the HTML of a mail or the body of a webhook, cut at 100,000 characters", sentFields.body),
  headers: said(
    "The headers of a webhook; of a message its `data` and its link to unsubscribe",
    v.record(v.string(), v.string()),
  ),
});

const endpoint = endpoints({
  credentials: ["server", "dashboard"],
  scope: "test:write",
  inRealTime: true,
  uses: [],
});

export const sandbox = [
  endpoint(
    "POST /v1/test/clock",
    { permission: "credentials:manage", uses: [platformWrite] },
    {
      summary: "Move the time of a sandbox forward, and run what falls due in between",
      description:
        "Journeys, schedules, retries, windows, expiry and quotas of the workspace move together, in the order of time. " +
        "What is due is done before the answer; a move that takes longer is answered by 202, and `GET /v1/test/clock` " +
        `says how far it is. A move goes 400 days at most, and stops after ${MAX_MOMENTS.toLocaleString("en")} moments with work.`,
      body: v.strictObject({
        advance: said("How far: whole minutes, hours or days (`72h`). Either this or `to`", v.optional(TextUpTo(16))),
        to: said("Until when. Either this or `advance`", v.optional(TimestampInput)),
      }),
      example: { body: { advance: "72h" } },
      returns: TestClock,
      replies: { 202: { description: "The move goes on", returns: TestClock } },
      errors: ["NOT_A_SANDBOX", "CONFLICT"],
    },
    async ({ platform, caller, body, clock }) => {
      const workspace = sandboxOf(workspaceOf(caller));
      const from = timeIn(workspace.time, clock.now());
      const begun = await beginMove(platform, workspace.tenant, { from, to: targetOf(body, from) });
      const hasEnded = await waitForMove(platform, workspace.tenant, begun, clock);
      const seen = await clockOf(platform, workspace.tenant, clock.now());
      return hasEnded ? seen : replyWith(202, seen);
    },
  ),

  endpoint(
    "GET /v1/test/clock",
    { uses: [platformRead] },
    {
      summary: "Get the time of a sandbox, and the latest move of its clock",
      returns: TestClock,
      errors: ["NOT_A_SANDBOX"],
    },
    ({ platform, caller, clock }) => clockOf(platform, sandboxOf(workspaceOf(caller)).tenant, clock.now()),
  ),

  endpoint(
    "GET /v1/test/outbox",
    { uses: [storeRead, secrets] },
    {
      summary: "List what a sandbox would have sent, oldest first",
      description:
        "Messages that would have gone to a provider, and requests to webhook endpoints, kept for 30 days. A webhook is " +
        "answered by 200, or by the status that `sandbox_status` in the query of its target names.",
      query: v.object({ cursor }),
      returns: cursorPage(Sent),
      errors: ["NOT_A_SANDBOX"],
    },
    async ({ store, secrets, caller, query }) => {
      const { tenant } = sandboxOf(workspaceOf(caller));
      const cursors = cursorsOf(await secrets.root(), `outbox:${tenant}`, Uuid);
      const { items, next } = await listSent(store, { after: cursors.open(query.cursor), limit: MAX_PER_PAGE });
      return { items, next_cursor: cursors.seal(next) };
    },
  ),
] as const;

/** Waits for the end of a move, `WAIT_MS` at most. @returns whether it has ended */
async function waitForMove(platform: PlatformReader, tenant: string, { id }: MoveRow, clock: Clock): Promise<boolean> {
  const until = clock.now() + WAIT_MS;
  for (let pause = FIRST_PAUSE_MS; clock.now() < until; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    await clock.sleep(pause);
    const move = await latestMove(platform, tenant);
    if (move?.id !== id || move.status !== "running") return true;
  }
  return false;
}

function sandboxOf(workspace: Workspace): Workspace {
  if (isSandbox(workspace.tenant)) return workspace;
  throw new ApiError(
    "NOT_A_SANDBOX",
    "This workspace is not a sandbox: its time cannot be moved, and it has no outbox.",
  );
}

/** The end of a move. @throws 422 for both fields or neither, for a time in the past, and for one too far ahead */
function targetOf({ advance, to }: { advance?: string | undefined; to?: string | undefined }, from: number): number {
  if ((advance === undefined) === (to === undefined)) throw invalid({ body: "needs either advance or to" });
  const duration = advance === undefined ? undefined : parseDuration(advance);
  if (advance !== undefined && duration === undefined)
    throw invalid({ advance: "must be whole minutes, hours or days, such as 72h" });
  const target = to === undefined ? from + (duration ?? 0) : Date.parse(to);
  const field = to === undefined ? "advance" : "to";
  if (target <= from) throw invalid({ [field]: `must be after the time of the sandbox, ${timestamp(from)}` });
  if (target - from > MAX_MOVE_MS) throw invalid({ [field]: "must be at most 400 days ahead" });
  return target;
}

async function clockOf(
  platform: PlatformReader,
  tenant: string,
  now: number,
): Promise<v.InferOutput<typeof TestClock>> {
  const [row, move] = await Promise.all([platform.get(WorkspaceItem, { tenant }), latestMove(platform, tenant)]);
  return { now: timestamp(timeIn(row ?? {}, now)), move: move ? moveOf(move) : null };
}
