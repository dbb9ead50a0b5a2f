// Acknowledged reads are permanent: read stays read, with the same time, and dismissed stays dismissed. Nothing is read
// that nobody asked to be read, or that came after all messages were read.
import { inboxRow, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { InboxListing, Mark } from "../ledger.ts";

export const readsStay: Invariant = {
  name: "reads-stay",
  watch: ({ ledger }, broken) => ({
    commit: ({ pk, sk, before, after }) => {
      const subscriber = pk.split("#U#")[1];
      if (subscriber === undefined || !before || ledger.deleted.has(placeOf(pk)?.tenant ?? "")) return;
      if (ledger.people.get(subscriber)?.erasingSince !== undefined) return;
      const isUndone = !after || (before.read_at !== undefined && after.read_at !== before.read_at);
      if (isUndone && (sk.startsWith("IS#") || sk.startsWith("IW#"))) broken(`${pk} ${sk} was undone`, subscriber);
      if (!after && inboxRow(pk, sk)) broken(`a message of ${subscriber} is gone`, subscriber);
    },
    end: () => {
      for (const listing of ledger.listings) {
        for (const { id, status } of listing.messages) {
          const isAsked = ledger.touches.some(
            ({ person, message, until }) =>
              person === listing.person && (message ?? id) === id && (ledger.writtenAt.get(id) ?? 0) <= until,
          );
          if (status !== "unread" && !isAsked) broken(`${id} is ${status}, and nobody read it`, id, listing.person);
        }
        if ((ledger.people.get(listing.person)?.erasingSince ?? Number.POSITIVE_INFINITY) < listing.at) continue;
        for (const mark of ledger.marks) {
          const problem = mark.person === listing.person && mark.at < listing.startedAt && contradiction(mark, listing);
          if (problem) broken(`${mark.message} was ${mark.kind}, later it ${problem}`, mark.message, mark.person);
        }
        for (const earlier of ledger.listings)
          if (earlier.person === listing.person && earlier.at < listing.startedAt)
            for (const { id } of earlier.messages)
              if (!listing.messages.some((message) => message.id === id)) broken(`${id} is listed no more`, id);
      }
    },
  }),
};

function contradiction({ message, kind, read_at }: Mark, { messages }: InboxListing): string | undefined {
  const found = messages.find(({ id }) => id === message);
  if (!found) return "is gone";
  if (found.status === "unread") return "is unread";
  if (kind === "dismissed" && found.status !== "dismissed") return `is ${found.status}`;
  if (read_at !== undefined && found.read_at !== read_at) return `was read at ${found.read_at}, not ${read_at}`;
  return undefined;
}
