// What a run reached: responses, moves of jobs, writes by kind of row, messages by queue. Shows which seeds add none.
import { placeOf } from "./entities.ts";
import type { SimWorld } from "./world.ts";

const DIGITS = /\d.*$/;

export function watchReached(world: SimWorld): Set<string> {
  const reached = new Set<string>();
  world.onAnswer((route, { status }) => reached.add(`answer ${status} to ${route}`));
  world.onStart((queue, messages) => {
    for (const { body } of messages)
      reached.add(`message ${queue} ${Object.keys(body).filter((name) => body[name] !== undefined)}`);
  });
  world.onCommit(({ pk, sk, before, after, by }) => {
    const kind = placeOf(pk)?.kind ?? pk.split("#")[0]!;
    const row = sk === pk ? "" : (sk.split("#").slice(0, -1)[0] ?? "").replace(DIGITS, "");
    const worker = by.split("/")[0]!;
    const ofExisting = after ? "changes" : "removes";
    reached.add(`${worker} ${before ? ofExisting : "inserts"} ${kind.replace(DIGITS, "")} ${row}`);
    if (after?.status !== undefined && before?.status !== after.status)
      reached.add(`${kind} goes from ${before?.status ?? "nothing"} to ${after.status}`);
    if (typeof after?.error === "string" && after.error !== before?.error) reached.add(`${kind}: ${after.error}`);
  });
  return reached;
}
