// A reader who lists the inbox and follows its live stream from the last message on gets every message, and no others.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { timeOfUuid } from "../../../shared/kernel/ids.ts";
import { PROMPT_MS } from "../../../shared/store/sends/inbox/inbox.ts";
import type { Invariant } from "../invariant.ts";

/** A stream looks this often, an answer is that long under way; for what is late, with its keepalive. */
const UNSEEN_MS = 5 * SECOND;
const LATE_UNSEEN_MS = 35 * SECOND;
const isLate = (id: string, writtenAt: number) => writtenAt - timeOfUuid(id) > PROMPT_MS;

export const liveStreams: Invariant = {
  name: "live-streams",
  watch: ({ ledger }, broken) => ({
    end: () => {
      for (const { person, has, until } of ledger.listeners) {
        if (ledger.people.get(person)?.erasingSince !== undefined) continue;
        const inbox = [...ledger.delivered.values()].flatMap((reached) => reached.get(person) ?? []);
        for (const id of inbox) {
          const writtenAt = ledger.writtenAt.get(id)!;
          const unseen = isLate(id, writtenAt) ? LATE_UNSEEN_MS : UNSEEN_MS;
          if (!has.has(id) && writtenAt < until - unseen) broken(`the reader of ${person} never got ${id}`, id, person);
        }
        for (const id of has)
          if (!inbox.includes(id)) broken(`the reader of ${person} got the strange ${id}`, id, person);
      }
    },
  }),
};
