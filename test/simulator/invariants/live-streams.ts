// Whoever lists the inbox and follows its live stream, again and again from the last message, has all there is and no more.
import { SECOND } from "../../../shared/clock.ts";
import type { Invariant } from "../invariant.ts";

/** A stream looks this often, an answer is that long under way. */
const UNSEEN_MS = 5 * SECOND;

export const liveStreams: Invariant = {
  name: "live-streams",
  watch: ({ ledger }, broken) => ({
    end: () => {
      for (const { person, has, until } of ledger.listeners) {
        if (ledger.people.get(person)?.erasingSince !== undefined) continue;
        const inbox = [...ledger.delivered.values()].flatMap((reached) => reached.get(person) ?? []);
        for (const id of inbox)
          if (!has.has(id) && ledger.writtenAt.get(id)! < until - UNSEEN_MS)
            broken(`the reader of ${person} never got ${id}`, id, person);
        for (const id of has)
          if (!inbox.includes(id)) broken(`the reader of ${person} got the strange ${id}`, id, person);
      }
    },
  }),
};
