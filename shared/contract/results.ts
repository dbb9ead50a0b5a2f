// The outcomes of messages and the reactions of recipients, as reports return them (AMB-139, F19, F9).
import * as v from "valibot";
import { liftEntries } from "./lift.ts";
import { said, titled } from "./schemas.ts";

export const acted = {
  opened: v.number(),
  opened_human: v.number(),
  clicked: v.number(),
  clicked_human: v.number(),
};

export const reached = {
  delivered: v.number(),
  bounced: said("Whose mail came back and whom no other channel reached; not among `delivered`", v.number()),
  complained: said("Who called the mail spam", v.number()),
  unsubscribed: said("Who opted out by a link of the mail", v.number()),
  ...acted,
};

/** The recipients whom no message reached. */
export const lost = {
  failed: said("Recipients not reached, without bounces", v.number()),
  uncertain: said("Those of `failed` that may have got it", v.number()),
};

/** The same by channel: recipients whom its message did not reach, and no bounced mails. */
export const missed = {
  failed: said(
    "Recipients whom this channel did not reach, mails that came back apart, whatever another one did",
    v.number(),
  ),
  uncertain: said("Those among `failed` whose provider did not answer", v.number()),
};

const compared = v.object(liftEntries("The rate of arm B minus that of arm A"));

/** The two arms of a test, and their difference. */
export const arms = {
  by_variant: v.array(titled("VariantReport", { variant_id: v.string(), delivered: reached.delivered, ...acted })),
  b_over_a: said(
    "Opens and clicks by people, among those whom each arm reached; `null` without arms",
    v.nullable(v.object({ opened: compared, clicked: compared })),
  ),
};
