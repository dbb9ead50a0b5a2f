// The stored form of the register of erasures in progress (docs/decisions/0066).
import * as v from "valibot";
import { hashOf } from "../hash.ts";
import { item } from "../item.ts";

const HASH_CHARACTERS = 32;

export const ErasingActor = item({
  about:
    "A subscriber that is being erased, or an anonymous id of one, by its hash: exports do not name it. It is put in the " +
    "transaction that makes the tombstone.",
  pk: () => "ERASING",
  /** As `actorText` names it. */
  sk: ({ actor }: { actor: string }) => hashOf(actor).slice(0, HASH_CHARACTERS),
  row: {
    erase_properties: v.optional(v.literal(true)),
    /** For an anonymous id: events received later belong to its next subscriber. */
    until: v.optional(v.string()),
    expires: v.optional(v.number()),
  },
  writers: ["api-subscribers", "erase"],
  lifetime: "an hour after the last trace is gone",
});
