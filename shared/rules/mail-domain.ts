// The DNS and mail provider state of a sending domain: SPF, DKIM and DMARC (RDA-24).

export const recordStates = ["valid", "weak", "missing", "invalid", "unknown"] as const;
type RecordState = (typeof recordStates)[number];

/** A DNS record that the owner of the domain publishes. */
export interface WantedRecord {
  type: "TXT" | "CNAME";
  name: string;
  value: string;
  isThere: boolean;
}

/** The state of SPF, DKIM or DMARC of a domain. */
export interface RecordCheck {
  state: RecordState;
  name: string;
  /** The record as found; `null`: none, or not looked up. */
  record: string | null;
  /** What to do, or what the state means, in a sentence; `null` if nothing is to be done. */
  advice: string | null;
  /** The records to publish; none if they are not known. */
  wanted: WantedRecord[];
}

/** The answer of DNS: all TXT records of a name. */
export type DnsAnswer = { kind: "known"; records: readonly string[] } | { kind: "failed"; reason: string };

const unknown = (name: string, reason: string): RecordCheck => ({
  state: "unknown",
  name,
  record: null,
  advice: `DNS did not answer: ${reason}. Check again.`,
  wanted: [],
});

const SES_INCLUDE = "include:amazonses.com";
const SPF = /^v=spf1( |$)/i;

/** SPF of the domain in the return address of mails (RFC 7208). @param bySes the record names SES */
export function spfOf(name: string, answered: DnsAnswer, { bySes }: { bySes: boolean }): RecordCheck {
  if (answered.kind === "failed") return unknown(name, answered.reason);
  const [record = null, ...more] = answered.records.filter((text) => SPF.test(text));
  const value = bySes ? `v=spf1 ${SES_INCLUDE} ~all` : undefined;
  const wanted = (isThere: boolean): WantedRecord[] =>
    value === undefined ? [] : [{ type: "TXT", name, value, isThere }];
  const refuse = (state: RecordState, advice: string): RecordCheck => ({
    state,
    name,
    record,
    advice,
    wanted: wanted(false),
  });

  if (record === null)
    return refuse("missing", "Publish a TXT record that begins with v=spf1 and names the servers that send for you.");
  if (more.length > 0)
    return refuse("invalid", "There are several SPF records, which receivers take for none. Merge them into one.");
  const terms = record.toLowerCase().split(/\s+/);
  if (terms.includes("+all") || terms.includes("all"))
    return refuse("invalid", "It lets everybody send in your name. End it with ~all or -all.");
  if (bySes && !terms.some((term) => term.replace(/^\+/, "") === SES_INCLUDE))
    return refuse("invalid", `It does not name SES. Add ${SES_INCLUDE}.`);
  const hasEnd = terms.some((term) => /^[-~?]all$|^redirect=/.test(term));
  if (!hasEnd || terms.includes("?all"))
    return { ...refuse("weak", "It says nothing of other servers. End it with ~all or -all."), wanted: wanted(true) };
  return { state: "valid", name, record, advice: null, wanted: wanted(true) };
}

/** SES uses a return address of its own if the domain has none for it: then SPF passes, for the domain of SES. */
export const spfOfSes = (name: string): RecordCheck => ({
  state: "weak",
  name,
  record: null,
  advice:
    "SPF passes for amazonses.com, the return address of your mails, and does not count for your domain. Set a MAIL FROM " +
    "domain at SES to have one of your own. Until then DMARC rests on DKIM.",
  wanted: [],
});

/** The DKIM state of an identity, in the words of SES. */
interface SesDkim {
  SigningEnabled?: boolean | undefined;
  Status?: string | undefined;
  Tokens?: readonly string[] | undefined;
  SigningHostedZone?: string | undefined;
  SigningAttributesOrigin?: string | undefined;
}

const DKIM_ADVICE: Readonly<Record<string, readonly [RecordState, string]>> = {
  PENDING: ["missing", "SES has not found the records yet. Publish them; SES looks for 72 hours."],
  NOT_STARTED: ["missing", "DKIM is not set up. Switch Easy DKIM on for the domain at SES."],
  FAILED: ["invalid", "SES did not find the records in 72 hours. Publish them, then set up DKIM at SES once more."],
  TEMPORARY_FAILURE: ["unknown", "SES could not look for the records now. Its earlier answer counts until then."],
};

export const dkimRecordsOf = (
  domain: string,
  { Tokens = [], SigningHostedZone: zone = "dkim.amazonses.com", SigningAttributesOrigin: origin }: SesDkim,
): { name: string; value: string }[] =>
  // With a customer's own key there is one selector, and its record is a key.
  origin === "EXTERNAL"
    ? []
    : Tokens.map((token) => ({ name: `${token}._domainkey.${domain}`, value: `${token}.${zone}` }));

/** DKIM by SES. @param found the records, and whether DNS has them */
export function dkimOfSes(domain: string, dkim: SesDkim, found: readonly WantedRecord[]): RecordCheck {
  const name = `_domainkey.${domain}`;
  const checked = (state: RecordState, advice: string | null): RecordCheck => ({
    state,
    name,
    record: null,
    advice,
    wanted: [...found],
  });
  const missing = found.filter(({ isThere }) => !isThere).length;
  if (dkim.Status !== "SUCCESS") {
    const [state, advice] = DKIM_ADVICE[dkim.Status ?? "NOT_STARTED"] ?? ["unknown", `SES says ${dkim.Status}.`];
    return checked(state, advice);
  }
  if (dkim.SigningEnabled === false) return checked("invalid", "DKIM is switched off for the domain at SES.");
  if (missing > 0)
    return checked("weak", `${missing} of ${found.length} records are gone. SES stops signing when it notices.`);
  return checked("valid", null);
}

export const dkimUnknownToSes = (domain: string): RecordCheck => ({
  state: "missing",
  name: `_domainkey.${domain}`,
  record: null,
  advice: `SES does not know ${domain}. Create the domain as an identity there, with Easy DKIM.`,
  wanted: [],
});

export const dkimNotAnswered = (domain: string, reason: string): RecordCheck => ({
  state: "unknown",
  name: `_domainkey.${domain}`,
  record: null,
  advice: `SES did not answer: ${reason}. Check again.`,
  wanted: [],
});

/** Only the owner of a mail server knows the selectors of its keys. */
export const dkimOfServer = (domain: string): RecordCheck => ({
  state: "unknown",
  name: `_domainkey.${domain}`,
  record: null,
  advice: "Your mail server signs its mails. Whether it does can be seen in the headers of a test send: dkim=pass.",
  wanted: [],
});

export const dmarcPolicies = ["none", "quarantine", "reject"] as const;
type DmarcPolicy = (typeof dmarcPolicies)[number];

export interface DmarcCheck extends RecordCheck {
  /** What receivers do with failing mails; `null` without a valid record. */
  policy: DmarcPolicy | null;
}

const DMARC = /^v=DMARC1\s*(;|$)/i;

/** The names whose record applies to a domain: its own, then those of the domains above it. */
export const dmarcNamesOf = (domain: string): string[] => {
  const labels = domain.split(".");
  // A top-level domain sends no mail, and real domains do not have more parts than this.
  return labels
    .slice(0, -1)
    .map((_, n) => `_dmarc.${labels.slice(n).join(".")}`)
    .slice(0, MAX_DOMAINS_ABOVE);
};
const MAX_DOMAINS_ABOVE = 6;

interface DmarcFound {
  name: string;
  answered: DnsAnswer;
}

/** The first name with a record, or without an answer: the names above it do not count then. */
const dmarcFoundIn = (domain: string, all: readonly DnsAnswer[]): DmarcFound | undefined =>
  dmarcNamesOf(domain)
    .flatMap((name, n): DmarcFound[] => {
      const answered = all[n];
      if (!answered) return [];
      if (answered.kind === "failed") return [{ name, answered }];
      const records = answered.records.filter((text) => DMARC.test(text));
      return records.length === 0 ? [] : [{ name, answered: { kind: "known", records } }];
    })
    .at(0);

const tagsOf = (record: string): ReadonlyMap<string, string> =>
  new Map(
    record.split(";").flatMap((part): [string, string][] => {
      const at = part.indexOf("=");
      return at < 0 ? [] : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()]];
    }),
  );

/** DMARC of a domain. @param all the answers for the names of `dmarcNamesOf`, in their order */
export function dmarcOf(domain: string, all: readonly DnsAnswer[]): DmarcCheck {
  const ownName = `_dmarc.${domain}`;
  const { name, answered } = dmarcFoundIn(domain, all) ?? { name: ownName, answered: NOTHING };
  if (answered.kind === "failed") return { ...unknown(name, answered.reason), policy: null };
  const [record, ...more] = answered.records;
  if (record === undefined)
    return {
      state: "missing",
      name: ownName,
      record: null,
      policy: null,
      advice: "Publish a record, at first with p=none and an address for reports. Large receivers ask for one.",
      wanted: [{ type: "TXT", name: ownName, value: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}`, isThere: false }],
    };

  const tags = tagsOf(record);
  const stated = (name === ownName ? undefined : tags.get("sp")) ?? tags.get("p");
  const policy = dmarcPolicies.find((dmarcPolicy) => dmarcPolicy === stated?.toLowerCase());
  const refused = (advice: string): DmarcCheck => ({
    state: "invalid",
    name,
    record,
    policy: null,
    advice,
    wanted: [],
  });
  if (more.length > 0) return refused("There are several records, which receivers take for none.");
  if (!policy) return refused("Its p is none of none, quarantine and reject.");
  const advice = dmarcAdvice(policy, tags.has("rua"));
  return { state: advice === null ? "valid" : "weak", name, record, policy, advice, wanted: [] };
}

const NOTHING: DnsAnswer = { kind: "known", records: [] };

function dmarcAdvice(policy: DmarcPolicy, hasReports: boolean): string | null {
  if (policy === "none")
    return "It only watches: mails in your name that fail are delivered. Go on to p=quarantine once the reports are clean.";
  return hasReports
    ? null
    : "It names no address for reports. Add rua=mailto: and an address, to see who sends in your name.";
}
