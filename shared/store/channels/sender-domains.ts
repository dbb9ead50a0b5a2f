// The state of the domain that a channel sends mail from, as it was when the channel was verified last (RDA-24).
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { dmarcPolicies, recordStates, type Standing } from "../../rules/mail-domain.ts";
import { is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { checkItem, putItem } from "../item.ts";
import { toJson } from "../json-text.ts";
import { whereItHolds } from "../refusals.ts";
import { ChannelItem, SenderDomainItem, type SenderDomainState } from "./items.ts";
import type { OpenVerification } from "./verifications.ts";

const standingFields = {
  state: v.pipe(
    v.picklist(recordStates),
    v.description("`weak`: it counts, and should say more. `unknown`: it could not be found out"),
  ),
  name: v.pipe(v.string(), v.description("The name in DNS")),
  record: v.pipe(v.nullable(v.string()), v.description("The record as it was found; `null` without one")),
  advice: v.pipe(v.nullable(v.string()), v.description("What to do, for people; `null` where nothing is to be done")),
  wanted: v.pipe(
    v.array(
      v.object({
        type: v.picklist(["TXT", "CNAME"]),
        name: v.pipe(v.string(), v.description("The name of the record")),
        value: v.pipe(v.string(), v.description("What it says")),
        is_there: v.pipe(v.boolean(), v.description("Whether DNS has it")),
      }),
    ),
    v.description("The records to publish, where they are known"),
  ),
};

export const SenderDomain = v.pipe(
  v.object({
    domain: v.pipe(v.string(), v.description("The domain of the sender's address")),
    spf: v.pipe(v.object(standingFields), v.description("Which servers may send: of the domain in the return address")),
    dkim: v.pipe(v.object(standingFields), v.description("Whether mails are signed")),
    dmarc: v.pipe(
      v.object({
        ...standingFields,
        policy: v.pipe(
          v.nullable(v.picklist(dmarcPolicies)),
          v.description("What receivers do with mails that fail; `null` without a valid record"),
        ),
      }),
      v.description("What receivers are asked to do with mails in the domain's name that fail both"),
    ),
    checked_at: v.pipe(Timestamp, v.description("When it was looked up")),
  }),
  v.title("SenderDomain"),
);
type SenderDomain = v.InferOutput<typeof SenderDomain>;

/** The state as the API returns it. */
export const senderDomainOf = ({ spf, dkim, dmarc, ...rest }: SenderDomainState): SenderDomain => ({
  ...rest,
  spf: shown(spf),
  dkim: shown(dkim),
  dmarc: { ...shown(dmarc), policy: dmarc.policy },
});

const shown = ({ state, name, record, advice, wanted }: Standing) => ({
  state,
  name,
  record,
  advice,
  wanted: wanted.map(({ isThere, ...record }) => ({ ...record, is_there: isThere })),
});

/** Changes nothing if the verification has an outcome or was replaced. */
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
