// A simulation on history ends, and keeps what it counted; one worker at a time counts its pages, each once (F3).
import { isDeepStrictEqual } from "node:util";
import { MINUTE } from "../../../shared/kernel/clock.ts";
import type { Item } from "../../../shared/store/model.ts";
import { placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** What happened in a window can be read this much later. */
const SETTLED_MS = 4 * MINUTE;

const hasEnded = ({ status }: Item) => status !== "pending" && status !== "processing";
const progressOf = ({ position }: Item): number =>
  position === undefined ? 0 : (JSON.parse(String(position)) as { progress: number }).progress;

export const simulations: Invariant = {
  name: "simulations",
  watch: ({ mirror, ledger }, broken) => {
    /** Who took it last. */
    const holders = new Map<string, string>();
    return {
      commit: ({ pk, sk, by, before, after }) => {
        if (placeOf(pk)?.kind !== "simulation" || sk !== after?.id || !before) return;
        const isCounted = before.tally !== after.tally || before.position !== after.position;
        if (hasEnded(before) && (before.status !== after.status || isCounted))
          broken(`the simulation ${sk} was ${before.status} and is ${after.status}`, sk);
        if (before.lease !== after.lease && Number(after.lease) > 0) holders.set(sk, by);
        else if (isCounted && holders.get(sk) !== by)
          broken(`${by} counts a page of ${sk} that ${holders.get(sk)} has`, sk);
        if (after.position !== undefined && progressOf(after) < progressOf(before))
          broken(`the simulation ${sk} went back from ${progressOf(before)} to ${progressOf(after)}`, sk);
      },
      end: () => {
        const isErased = [...ledger.people.values()].some(({ erasingSince }) => erasingSince !== undefined);
        const tallies = new Map<string, string>();
        for (const pk of mirror.partitions()) {
          if (placeOf(pk)?.kind !== "simulation" || placeOf(pk)?.id !== "") continue;
          for (const [sk, row] of mirror.under(pk)) {
            if (!hasEnded(row)) broken(`the simulation ${sk} never ended`, sk);
            if (row.status === "failed") broken(`the simulation ${sk} failed: ${row.error}`, sk);
            if (row.status !== "completed" || isErased) continue;
            if (Date.parse(String(row.created_at)) < Number(row.to) + SETTLED_MS) continue;
            const window = `${row.journey} ${row.from} ${row.to}`;
            const expected = tallies.get(window) ?? String(row.tally);
            tallies.set(window, expected);
            if (!isDeepStrictEqual(JSON.parse(String(row.tally)), JSON.parse(expected)))
              broken(`the simulation ${sk} counted ${row.tally}, another one ${expected}`, sk);
          }
        }
      },
    };
  },
};
