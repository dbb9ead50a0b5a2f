// A user and sessions that come from one another, and end with one another or not (AMB-145).
import type { SessionStep } from "../../model/sessions.ts";
import type { Draft } from "./draft.ts";
import { DAY, MINUTE, SECOND } from "./stories.ts";

export function derivedSessions(draft: Draft): void {
  const { random, commands } = draft;
  const isKnown = commands.some(({ kind }) => kind === "session");
  const step = (does: SessionStep["does"], of = "", wait = SECOND): string => {
    const name = `session${commands.length}`;
    draft.now += wait;
    commands.push({ kind: "session", wait, does, name, of });
    return name;
  };
  // A token that only reads has no session of its own, and no other token to go on with.
  const held = [step(isKnown ? "login" : "register")];
  const sessions = [...held];
  for (let n = random.between(6, 14); n > 0; n--) {
    const does = random.pick<SessionStep["does"]>([
      ...(["switch", "switch", "read-only", "refresh", "refresh", "logout", "login"] as const),
      ...(["read", "read", "write"] as const),
    ]);
    const away = random.pick([14 * MINUTE, 16 * MINUTE, 11 * DAY, 20 * DAY]);
    const wait = random.chance(0.8) ? SECOND : away;
    const of = does === "refresh" || does === "logout" ? random.pick(sessions) : random.pick(held);
    const name = step(does, of, wait);
    if (does === "read-only") held.push(name);
    if (does === "switch" || does === "login") for (const group of [held, sessions]) group.push(name);
  }
  for (const name of held) step("read", name);
  for (const name of sessions) step("refresh", name);
}
