// Moves of a sandbox's clock: one at a time, by steps that each belong to the worker that holds the lease.
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { DAY, MINUTE, SECOND, timestamp } from "../../kernel/clock.ts";
import { conflict } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { absent, all, any, below, is, oneOf } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { changeItem, type RowOf } from "../item.ts";
import { onConditionFailed } from "../refusals.ts";
import { WorkspaceItem } from "../workspaces/items.ts";
import { ClockMove } from "./items.ts";

/** The farthest one move goes. */
export const MAX_MOVE_MS = 400 * DAY;
/** A worker that has not written for this long is gone. */
const LEASE_MS = 90 * SECOND;
/** A move without progress for this long was given up by its queue: another may take its place. */
const GIVEN_UP_MS = 45 * MINUTE;
/** A move ends early after as many moments with work. */
export const MAX_MOMENTS = 10_000;

export type MoveRow = RowOf<typeof ClockMove>;

export const Move = v.object({
  id: said("Names the move", v.string()),
  status: said(
    "`stopped`: it ended early, after as many moments as one move may have",
    v.picklist(["running", "completed", "stopped"]),
  ),
  from: said("The time of the sandbox when the move was asked for", Timestamp),
  to: said("The time at which it is to end", Timestamp),
  moments: said("How many minutes with work it has come to", v.number()),
  messages: said("How many timers fell due in them", v.number()),
  started_at: said("When the move was asked for, in real time", Timestamp),
  ended_at: said("When it ended, in real time", v.nullable(Timestamp)),
});
export type Move = v.InferOutput<typeof Move>;

export const moveOf = ({ id, status, from, to, moments, messages, started_at, ended_at }: MoveRow): Move => ({
  id,
  status,
  from: timestamp(from),
  to: timestamp(to),
  moments,
  messages,
  started_at,
  ended_at: ended_at ?? null,
});

export const latestMove = (platform: Pick<PlatformReader, "get">, tenant: string): Promise<MoveRow | undefined> =>
  platform.get(ClockMove, { tenant });

/** Asks for a move. @throws 409 while another one is running, with its id. */
export async function beginMove(
  platform: Platform,
  tenant: TenantId,
  { from, to }: { from: number; to: number },
): Promise<MoveRow> {
  const now = platform.clock.now();
  const row = {
    react: "clock-move" as const,
    tenant,
    id: platform.ids.uuidAt(now),
    from,
    to,
    status: "running" as const,
    moments: 0,
    messages: 0,
    started_at: timestamp(now),
    progress_at: now,
  };
  const isFree = any(absent(), oneOf("status", ["completed", "stopped"]), below("progress_at", now - GIVEN_UP_MS));
  await platform.put(ClockMove, { tenant }, row, isFree).catch(
    onConditionFailed(ClockMove, (running) => {
      if (running?.id === row.id) return;
      throw conflict(`The clock is already being moved, by ${running?.id}, to ${timestamp(running?.to ?? to)}.`);
    }),
  );
  return { ...row, pk: "", sk: "" };
}

type MoveClaim =
  | { kind: "claimed"; move: MoveRow }
  /** Another worker has it. */
  | { kind: "held" }
  /** It needs no worker any more. */
  | { kind: "over" };

/** Takes a move for a worker. */
export async function claimMove(platform: Platform, tenant: TenantId, id: string, owner: string): Promise<MoveClaim> {
  const now = platform.clock.now();
  const isFree = any(absent("lease_until"), below("lease_until", now), is("owner", owner));
  const change = { set: { owner, lease_until: now + LEASE_MS, progress_at: now } };
  return platform.change(ClockMove, { tenant }, change, all(is("id", id), is("status", "running"), isFree)).then(
    (move) => ({ kind: "claimed", move }),
    onConditionFailed(ClockMove, (old) => ({ kind: old?.id === id && old.status === "running" ? "held" : "over" })),
  );
}

/**
 * Lets time stand still at a moment, before its messages go. @param messages how many it has, unless they are counted
 * @throws if the lease is lost
 */
export async function standAt(platform: Platform, move: MoveRow, at: number, messages = 0): Promise<void> {
  const now = platform.clock.now();
  const kept = { lease_until: now + LEASE_MS, progress_at: now };
  const counted = messages > 0 ? { set: { ...kept, counted: at }, add: { moments: 1, messages } } : { set: kept };
  await platform.transact([
    changeItem(ClockMove, { tenant: move.tenant }, counted, isOurs(move)),
    changeItem(WorkspaceItem, { tenant: move.tenant }, { set: { clock_still: at } }),
  ]);
}

const isOurs = ({ id, owner = "" }: MoveRow) => all(is("id", id), is("status", "running"), is("owner", owner));

/** Keeps the lease while a worker waits. */
export async function keepMove(platform: Platform, move: MoveRow): Promise<void> {
  const now = platform.clock.now();
  const set = { lease_until: now + LEASE_MS, progress_at: now };
  await platform.change(ClockMove, { tenant: move.tenant }, { set }, isOurs(move));
}

/** Leaves a move to the next message. */
export async function releaseMove(platform: Platform, move: MoveRow): Promise<void> {
  const isOwn = all(is("id", move.id), is("owner", move.owner ?? ""));
  await platform.change(ClockMove, { tenant: move.tenant }, { remove: ["owner", "lease_until"] }, isOwn);
}

/** Ends a move: from here on time passes again. */
export async function endMove(
  platform: Platform,
  move: MoveRow,
  status: "completed" | "stopped",
  at: number,
): Promise<void> {
  const now = platform.clock.now();
  await platform.transact([
    changeItem(
      ClockMove,
      { tenant: move.tenant },
      { set: { status, ended_at: timestamp(now), progress_at: now }, remove: ["owner", "lease_until"] },
      isOurs(move),
    ),
    changeItem(
      WorkspaceItem,
      { tenant: move.tenant },
      { set: { clock_offset: at - now, clock_least: at }, remove: ["clock_still"] },
    ),
  ]);
}
