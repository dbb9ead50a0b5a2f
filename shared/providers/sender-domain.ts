// Reads the DNS and SES state of the domain that a channel sends mail from (RDA-24).
import { GetEmailIdentityCommand, type GetEmailIdentityCommandOutput, SESv2Client } from "@aws-sdk/client-sesv2";
import type { Credentials, CredentialsFor } from "../contract/credentials.ts";
import { type Egress, TIMEOUT_MS } from "../egress/egress.ts";
import { egressOf, type OutboundDeps } from "../egress/recording.ts";
import { timestamp } from "../kernel/clock.ts";
import type { Capability } from "../kernel/deps.ts";
import { onAbort, withTimeLimit } from "../kernel/time-limit.ts";
import {
  dkimNotAnswered,
  dkimOfServer,
  dkimOfSes,
  dkimRecordsOf,
  dkimUnknownToSes,
  dmarcNamesOf,
  dmarcOf,
  spfOf,
  spfOfSes,
  type WantedRecord,
} from "../rules/mail-domain.ts";
import type { SenderDomainState } from "../store/channels/items.ts";

type Email = CredentialsFor<"email">;
type Identity =
  | { kind: "known"; identity: GetEmailIdentityCommandOutput }
  | { kind: "unknown" }
  | { kind: "failed"; reason: string };

/**
 * The state of the sending domain of email credentials; undefined for other credentials, and in a sandbox, which makes
 * no requests. It never throws: a missing answer is `unknown`.
 */
export const senderDomains: Capability<
  "senderDomain",
  (credentials: Credentials) => Promise<SenderDomainState | undefined>
> = {
  as: "senderDomain",
  env: [],
  grants: [{ actions: ["ses:GetEmailIdentity"], on: "email-identities" }],
  open: (deps: OutboundDeps) => {
    const read = deps.sandbox ? async () => undefined : openReader(deps);
    return () => async (credentials) => ("from_email" in credentials ? read(credentials) : undefined);
  },
};

function openReader(deps: OutboundDeps): (credentials: Email) => Promise<SenderDomainState> {
  const { clock } = deps;
  const egress = egressOf(deps);
  const client = deps.aws(SESv2Client, { maxAttempts: 2 });

  const identityOf = async (EmailIdentity: string): Promise<Identity> => {
    try {
      const identity = await withTimeLimit(clock, TIMEOUT_MS, (abortSignal) =>
        Promise.race([
          onAbort(abortSignal, undefined),
          client.send(new GetEmailIdentityCommand({ EmailIdentity }), { abortSignal }),
        ]),
      );
      return identity ? { kind: "known", identity } : { kind: "failed", reason: "no answer in time" };
    } catch (error) {
      const { name = "", message = "" } = error as Error;
      return name === "NotFoundException" ? { kind: "unknown" } : { kind: "failed", reason: message || name };
    }
  };

  return async ({ from_email, provider }) => {
    const domain = from_email.slice(from_email.lastIndexOf("@") + 1).toLowerCase();
    const [dmarc, { spf, dkim }] = await Promise.all([
      Promise.all(dmarcNamesOf(domain).map((name) => egress.records(name, "TXT"))),
      provider === "ses" ? identityOf(domain).then((found) => bySes(egress, domain, found)) : byServer(egress, domain),
    ]);
    return { domain, spf, dkim, dmarc: dmarcOf(domain, dmarc), checked_at: timestamp(clock.now()) };
  };
}

type Signs = Pick<SenderDomainState, "spf" | "dkim">;

async function bySes(egress: Egress, domain: string, found: Identity): Promise<Signs> {
  if (found.kind === "unknown") return { spf: spfOfSes(domain), dkim: dkimUnknownToSes(domain) };
  if (found.kind === "failed") return { spf: spfOfSes(domain), dkim: dkimNotAnswered(domain, found.reason) };
  const { DkimAttributes = {}, MailFromAttributes } = found.identity;
  const mailFrom = MailFromAttributes?.MailFromDomain;
  const [spf, records] = await Promise.all([
    mailFrom === undefined
      ? spfOfSes(domain)
      : egress.records(mailFrom, "TXT").then((answered) => spfOf(mailFrom, answered, { bySes: true })),
    Promise.all(dkimRecordsOf(domain, DkimAttributes).map((record) => lookedUp(egress, record))),
  ]);
  return { spf, dkim: dkimOfSes(domain, DkimAttributes, records) };
}

async function lookedUp(egress: Egress, { name, value }: { name: string; value: string }): Promise<WantedRecord> {
  const answered = await egress.records(name, "CNAME");
  const isThere =
    answered.kind === "known" && answered.records.some((alias) => alias.toLowerCase().replace(/\.$/, "") === value);
  return { type: "CNAME", name, value, isThere };
}

const byServer = async (egress: Egress, domain: string): Promise<Signs> => ({
  spf: spfOf(domain, await egress.records(domain, "TXT"), { bySes: false }),
  dkim: dkimOfServer(domain),
});
