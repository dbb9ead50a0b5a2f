// What became of messages and what their recipients did, as reports return it (AMB-139, F19, F9).
import * as v from "valibot";
import { liftEntries } from "./lift.ts";

export const acted = {
  opened: v.number(),
  opened_human: v.number(),
  clicked: v.number(),
  clicked_human: v.number(),
};

export const reached = {
  delivered: v.number(),
  bounced: v.pipe(
    v.number(),
    v.description("Whose mail came back and whom no other channel reached; not among `delivered`"),
  ),
  complained: v.pipe(v.number(), v.description("Who called the mail spam")),
  unsubscribed: v.pipe(v.number(), v.description("Who opted out by a link of the mail")),
  ...acted,
};

const compared = v.object(liftEntries("The rate of arm B minus that of arm A"));

/** The two arms of messages, and how they differ. */
export const arms = {
  by_variant: v.array(
    v.pipe(v.object({ variant_id: v.string(), delivered: reached.delivered, ...acted }), v.title("VariantReport")),
  ),
  b_over_a: v.pipe(
    v.nullable(v.object({ opened: compared, clicked: compared })),
    v.description("Opens and clicks by people, among those whom each arm reached; `null` without arms"),
  ),
};
