// Sessions of a user, and what comes from them (D-AUTH, ATH-3, AMB-145).
import { DAY, MINUTE } from "./kit.ts";
import type { World } from "./world.ts";

const ACCESS = 15 * MINUTE;
const REFRESH = 30 * DAY;

interface Session {
  parent: Session | undefined;
  until: number;
  isEnded: boolean;
}
/** What a client holds by a name: an access token, and the refresh token of its session. */
export interface Token {
  name: string;
  session: Session;
  until: number;
  isReadOnly: boolean;
}
export interface SessionStep {
  does: "register" | "login" | "switch" | "read-only" | "refresh" | "logout" | "read" | "write";
  /** What it gives is known by this name. */
  name: string;
  /** Whose tokens it is asked with. */
  of: string;
}

const isOver = ({ parent, isEnded }: Session): boolean => isEnded || (parent !== undefined && isOver(parent));

/** A session lives 30 days from its last use, and never longer than the one that it came from. */
const lasting = ({ now }: World, parent: Session | undefined) =>
  Math.min(now + REFRESH, parent?.until ?? now + REFRESH);

function give(world: World, name: string, session: Session, isReadOnly: boolean): void {
  world.tokens = world.tokens.filter((other) => other.name !== name);
  world.tokens.push({ name, session, isReadOnly, until: world.now + ACCESS });
}

/** @returns the status of the answer */
export function takeStep(world: World, { does, name, of }: SessionStep): number {
  const begin = (parent: Session | undefined, isReadOnly: boolean) =>
    give(world, name, { parent, until: lasting(world, parent), isEnded: false }, isReadOnly);
  if (does === "register" || does === "login") {
    begin(undefined, false);
    return does === "register" ? 201 : 200;
  }
  const token = world.tokens.find((one) => one.name === of)!;
  const { session, isReadOnly } = token;
  if (does === "logout") {
    session.isEnded = true;
    return 204;
  }
  if (isOver(session) || world.now >= (does === "refresh" ? session.until : token.until)) return 401;
  if (does === "refresh") {
    session.until = lasting(world, session.parent);
    give(world, of, session, isReadOnly);
  }
  if (does === "switch") begin(session, isReadOnly);
  if (does === "read-only") give(world, name, session, true);
  if (does === "write") return isReadOnly ? 403 : 201;
  return does === "read-only" ? 201 : 200;
}
