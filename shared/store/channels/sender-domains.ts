// The state of the domain that a channel sends mail from, at its last verification (RDA-24).
import * as v from "valibot";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { dmarcPolicies, type RecordCheck, recordStates } from "../../rules/mail-domain.ts";
import { is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { checkItem, putItem } from "../item.ts";
import { toJson } from "../json-text.ts";
import { whereItHolds } from "../refusals.ts";
import { ChannelItem, SenderDomainItem, type SenderDomainState } from "./items.ts";
import type { OpenVerification } from "./verifications.ts";

const checkFields = {
  state: said("`weak`: it counts, and should say more. `unknown`: it could not be found out", v.picklist(recordStates)),
  name: said("The name in DNS", v.string()),
  record: said("The record as it was found; `null` without one", v.nullable(v.string())),
  advice: said("What to do, for people; `null` where nothing is to be done", v.nullable(v.string())),
  wanted: said(
    "The records to publish, where they are known",
    v.array(
      v.object({
        type: v.picklist(["TXT", "CNAME"]),
        name: said("The name of the record", v.string()),
        value: said("What it says", v.string()),
        is_there: said("Whether DNS has it", v.boolean()),
      }),
    ),
  ),
};

export const SenderDomain = titled("SenderDomain", {
  domain: said("The domain of the sender's address", v.string()),
  spf: said("Which servers may send: of the domain in the return address", v.object(checkFields)),
  dkim: said("Whether mails are signed", v.object(checkFields)),
  dmarc: said(
    "What receivers are asked to do with mails in the domain's name that fail both",
    v.object({
      ...checkFields,
      policy: said(
        "What receivers do with mails that fail; `null` without a valid record",
        v.nullable(v.picklist(dmarcPolicies)),
      ),
    }),
  ),
  checked_at: said("When it was looked up", Timestamp),
});
type SenderDomain = v.InferOutput<typeof SenderDomain>;

export const senderDomainOf = ({ spf, dkim, dmarc, ...rest }: SenderDomainState): SenderDomain => ({
  ...rest,
  spf: shown(spf),
  dkim: shown(dkim),
  dmarc: { ...shown(dmarc), policy: dmarc.policy },
});

const shown = ({ state, name, record, advice, wanted }: RecordCheck) => ({
  state,
  name,
  record,
  advice,
  wanted: wanted.map(({ isThere, ...record }) => ({ ...record, is_there: isThere })),
});

/** Stores the state. It changes nothing if the verification has an outcome or was replaced. */
export async function noteSenderDomain(
  store: Store,
  { id, channel }: OpenVerification,
  domain: SenderDomainState,
): Promise<void> {
  await whereItHolds(
    store.transact([
      checkItem(ChannelItem, { id: channel.id }, is("verification", id)),
      putItem(SenderDomainItem, { channel: channel.id }, { domain: toJson(domain) }),
    ]),
  );
}
