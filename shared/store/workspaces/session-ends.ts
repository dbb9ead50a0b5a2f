// The ends of sessions: a user lists and ends them, with the sessions derived from them, and the oldest end if there
// are too many.
import { SECOND } from "../../kernel/clock.ts";
import { byText, compareTexts } from "../../kernel/order.ts";
import { is, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { changeItem, type RowOf, removeItem } from "../item.ts";
import { transacted } from "../refusals.ts";
import { WorkspaceItem } from "./items.ts";
import { UserSession } from "./session-items.ts";
import { hasLostProvider } from "./workspaces.ts";

/** The most sessions of a user: all are in one answer, and are read when one ends. */
export const MAX_SESSIONS = 200;
/** The most sessions from one sign-in, including it: each switch of a browser makes another one. */
const MAX_OF_SIGN_IN = 30;

type SessionRow = RowOf<typeof UserSession>;

/** The sessions of a user that have not ended, the one used last first. */
export async function listSessions(platform: PlatformReader, user: string): Promise<SessionRow[]> {
  const rows = await platform.queryAll(UserSession, { user });
  const now = platform.clock.now();
  const provided = [...new Set(rows.flatMap((row) => row.provided ?? []))];
  const workspaces = await platform.getAll(
    WorkspaceItem,
    provided.map((tenant) => ({ tenant })),
  );
  return rows
    .filter((row) => row.expires * SECOND > now && !hasLostProvider(row, workspaces))
    .sort((a, b) => compareTexts(b.last_used_at, a.last_used_at));
}

/**
 * Ends sessions of a user who has as many as there may be: of the sign-in from which another one is about to begin, else of all.
 * Those whose time is over come first, then those that were never refreshed: a program that signs in for each of its runs leaves
 * them behind, and would end those of its user's browsers.
 * @param kept the session that another one is about to begin from, and the first of its line
 */
export async function makeRoom(platform: Platform, user: string, kept: readonly string[]): Promise<void> {
  const { items } = await platform.query(UserSession, { user }, { limit: 2 * MAX_SESSIONS, eventual: true });
  const now = platform.clock.now();
  const orderOf = ({ expires, created_at, last_used_at }: SessionRow) =>
    `${expires * SECOND > now} ${created_at !== last_used_at} ${last_used_at}`;
  const ordered = items.filter(({ id }) => !kept.includes(id)).sort(byText(orderOf));
  const origins = new Set(items.flatMap(({ parent, first }) => [parent, first]));
  const leaves = ordered.filter(({ id }) => !origins.has(id));

  const signIn = kept.at(-1);
  const isOfSignIn = (row: SessionRow) => firstOf(row) === signIn;
  const beyond = signIn === undefined ? 0 : items.filter(isOfSignIn).length - MAX_OF_SIGN_IN + 1;
  // Sessions that begin at the same time see the same number: the next one ends those beyond the limit.
  const ending = beyond > 0 ? leaves.filter(isOfSignIn) : leaves;
  const excess = beyond > 0 ? beyond : Math.max(0, items.length - MAX_SESSIONS + 1);
  await platform.writeAll(ending.slice(0, excess).map(({ id }) => removeItem(UserSession, { user, id })));
  const [oldest] = ordered.filter(isOfSignIn);
  if (beyond > 0 && ending.length === 0 && oldest) await takeOut(platform, user, oldest, items);
}

/** The sign-in that a session came from: itself, where it is one. */
const firstOf = ({ id, parent = id, first = parent }: SessionRow): string => first;

/** Ends a session of the midst of a line. Those that came from it come from its origin from now on, and end with that one. */
async function takeOut(
  platform: Platform,
  user: string,
  { id, parent }: SessionRow,
  all: readonly SessionRow[],
): Promise<void> {
  const next = all.filter((row) => row.parent === id);
  await transacted(platform, [
    removeItem(UserSession, { user, id }, present()),
    ...next.map((row) => changeItem(UserSession, { user, id: row.id }, { set: { parent } }, is("parent", id))),
  ]);
}

/** Ends a session and all that came from it (AMB-145). @returns false if the user has no such session */
export async function endSession(platform: Platform, user: string, id: string): Promise<boolean> {
  const rows = await platform.queryAll(UserSession, { user });
  const isThere = rows.some((row) => row.id === id) || derivedFrom(rows, new Set([id])).length > 0;
  if (isThere) await endWithDerived(platform, user, id);
  return isThere;
}

/** A session begins while its origin is there alone, so that none is left once all that were found are gone. */
export async function endWithDerived(platform: Platform, user: string, id: string): Promise<void> {
  const ended = new Set([id]);
  for (let left = [id]; left.length > 0; ) {
    await platform.writeAll(left.map((session) => removeItem(UserSession, { user, id: session })));
    const rows = await platform.queryAll(UserSession, { user });
    left = derivedFrom(rows, ended).filter((session) => !ended.has(session));
    for (const session of left) ended.add(session);
  }
}

/** The sessions that came from these, and those that came from them. */
function derivedFrom(rows: readonly SessionRow[], origins: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  for (let size = -1; size < found.size; ) {
    size = found.size;
    for (const { id, parent = "", first = "" } of rows)
      if (origins.has(parent) || origins.has(first) || found.has(parent)) found.add(id);
  }
  return [...found];
}

/** A session and those that it came from. */
export function withParents(rows: readonly SessionRow[], id: string | undefined): ReadonlySet<string> {
  const kept = new Set<string>();
  for (
    let ancestor = id;
    ancestor !== undefined && !kept.has(ancestor);
    ancestor = rows.find((row) => row.id === ancestor)?.parent
  )
    kept.add(ancestor);
  return kept;
}
