// The embedded SES: hands raw mails to a mailbox. Mails to the addresses of SES's simulator bounce or complain.
import { createHash } from "node:crypto";
import { isRecord, membersOf, type Operations, operateOn, readers } from "./members.ts";
import { awsFailure, type StandIn, type Wire } from "./stand-in.ts";
import { type Clock, SECOND } from "./time.ts";

/** An event about a sent mail, as SES reports it by SNS or EventBridge. */
export interface SesEvent {
  eventType: "Send" | "Delivery" | "Bounce" | "Complaint";
  mail: {
    timestamp: string;
    messageId: string;
    source: string;
    destination: string[];
    tags: Record<string, string[]>;
  };
  bounce?: {
    bounceType: "Permanent";
    bounceSubType: "General";
    bouncedRecipients: { emailAddress: string }[];
    timestamp: string;
  };
  complaint?: { complaintFeedbackType: "abuse"; complainedRecipients: { emailAddress: string }[]; timestamp: string };
  delivery?: { recipients: string[]; smtpResponse: string };
}

/** Decides the outcome of mails, for the owner of the service. */
export interface Mailbox {
  /** Looks at a mail that is being sent, and says how that fails, if it does: with `timeout` there is no answer at all. */
  open(source: string, to: string): { fault: SesFault | undefined; accept(): string };
  /** Why an identity is refused, if it is. */
  refusalOfIdentity(): { kind: "refused"; message: string } | { kind: "timeout" } | undefined;
}

interface SesDeps {
  clock: Pick<Clock, "now">;
  /** The CNAME records of a name, which show whether the DKIM records of a domain are published. */
  aliasesOf(name: string): readonly string[];
  mailbox: Mailbox;
}

export interface Ses extends StandIn {
  meter(): { requests: number };
  resetMeter(): void;
  /** Lets the account send so many mails a second and throttles those beyond it, as a new account of AWS has it. */
  limit(maxSendRate: number): void;
  /** @returns a function that stops listening. */
  onEvent(listener: (event: SesEvent) => unknown): () => void;
}

const members = membersOf({
  SendEmail: "FromEmailAddress Destination ReplyToAddresses Content EmailTags ConfigurationSetName",
  GetEmailIdentity: "EmailIdentity",
  TagResource: "ResourceArn Tags",
  GetAccount: "",
});
const read = readers("BadRequestException", "BadRequestException");
const SIMULATOR = /^(bounce|complaint)(\+[^@]*)?@simulator\.amazonses\.com$/i;
const MAX_TAGS = 50;
/** The rate that GetAccount reports without a limit. It throttles nothing. */
const AMPLE_RATE = 2_000;

const failures = {
  permanent: () => awsFailure("MessageRejected", "Email address is not verified."),
  invalid_token: () => awsFailure("BadRequestException", "Invalid destination address"),
  transient: () => awsFailure("ServiceUnavailable", "Service is temporarily unavailable.", { status: 503 }),
  rate_limited: () => awsFailure("TooManyRequestsException", "Maximum sending rate exceeded.", { status: 429 }),
};

/** An address counts as verified: in AWS its owner follows the link of a mail. */
const ADDRESS = {
  IdentityType: "EMAIL_ADDRESS",
  VerifiedForSendingStatus: true,
  VerificationStatus: "SUCCESS",
  FeedbackForwardingStatus: true,
  DkimAttributes: { SigningEnabled: false, Status: "NOT_STARTED", SigningAttributesOrigin: "AWS_SES" },
  MailFromAttributes: { BehaviorOnMxFailure: "USE_DEFAULT_VALUE" },
};

const ZONE = "dkim.amazonses.com";
const TOKEN_CHARACTERS = 32;

/** A domain with Easy DKIM: its three records are looked for in DNS, and it may send once they are there. */
function domainIdentity(domain: string, aliasesOf: SesDeps["aliasesOf"]): Wire {
  const Tokens = [1, 2, 3].map((n) => tokenOf(`${domain} ${n}`));
  const isPublished = Tokens.every((token) => aliasesOf(`${token}._domainkey.${domain}`).includes(`${token}.${ZONE}`));
  const Status = isPublished ? "SUCCESS" : "PENDING";
  return {
    IdentityType: "DOMAIN",
    VerifiedForSendingStatus: isPublished,
    VerificationStatus: Status,
    FeedbackForwardingStatus: true,
    DkimAttributes: {
      SigningEnabled: true,
      Status,
      Tokens,
      SigningHostedZone: ZONE,
      SigningAttributesOrigin: "AWS_SES",
      CurrentSigningKeyLength: "RSA_2048_BIT",
      NextSigningKeyLength: "RSA_2048_BIT",
    },
    MailFromAttributes: { BehaviorOnMxFailure: "USE_DEFAULT_VALUE" },
  };
}

/** A token of small letters and digits, as SES makes them. It is the same each time for a domain. */
const tokenOf = (text: string): string =>
  [...createHash("sha256").update(text).digest()]
    .map((byte) => (byte % 36).toString(36))
    .join("")
    .slice(0, TOKEN_CHARACTERS);

type SesFault = keyof typeof failures | "timeout";

export function createSes({ clock, mailbox, aliasesOf }: SesDeps): Ses {
  const listeners = new Set<(event: SesEvent) => unknown>();
  let requests = 0;
  let limit: { rate: number; tokens: number; at: number } | undefined;

  /** A second's mails may go at once, as a burst. */
  const isTooFast = () => {
    if (!limit) return false;
    const now = clock.now();
    limit.tokens = Math.min(limit.rate, limit.tokens + ((now - limit.at) / SECOND) * limit.rate);
    limit.at = now;
    if (limit.tokens < 1) return true;
    limit.tokens -= 1;
    return false;
  };

  const tell = async (messageId: string, source: string, to: string, tags: Record<string, string[]>) => {
    const timestamp = new Date(clock.now()).toISOString();
    const mail = { timestamp, messageId, source, destination: [to], tags };
    const send = async (event: SesEvent) => {
      for (const listener of listeners) await listener(event);
    };
    await send({ eventType: "Send", mail });
    const fate = SIMULATOR.exec(to)?.[1]?.toLowerCase();
    if (fate !== "bounce")
      await send({ eventType: "Delivery", mail, delivery: { recipients: [to], smtpResponse: "250 ok" } });
    const people = [{ emailAddress: to }];
    if (fate === "bounce") {
      const bounce = {
        bounceType: "Permanent",
        bounceSubType: "General",
        bouncedRecipients: people,
        timestamp,
      } as const;
      await send({ eventType: "Bounce", mail, bounce });
    }
    if (fate === "complaint")
      await send({
        eventType: "Complaint",
        mail,
        complaint: { complaintFeedbackType: "abuse", complainedRecipients: people, timestamp },
      });
  };

  /** Tags of identities, by their names. */
  const tagged = new Map<string, Map<string, string>>();

  const operations: Operations = {
    SendEmail: async (input) => {
      requests++;
      const from = read.needed(input, "FromEmailAddress");
      const [to, more] = read.texts(read.record(input, "Destination") ?? {}, "ToAddresses");
      if (!to || more) throw read.refuse("The embedded SES takes one destination a message.");
      const raw = read.record(read.record(input, "Content") ?? {}, "Raw");
      if (!raw) throw read.refuse("The embedded SES takes raw content only.");
      const source = Buffer.from(read.needed(raw, "Data"), "base64").toString();
      const tags = tagsOf(read.list(input, "EmailTags"));
      const { fault, accept } = mailbox.open(source, to);
      if (fault === "timeout") return new Promise<Wire>(() => undefined);
      if (fault) throw failures[fault]();
      if (isTooFast()) throw failures.rate_limited();
      const messageId = accept();
      await tell(messageId, from, to, tags);
      return { MessageId: messageId };
    },
    GetEmailIdentity: (input) => {
      requests++;
      const identity = read.needed(input, "EmailIdentity");
      const refusal = mailbox.refusalOfIdentity();
      if (refusal?.kind === "timeout") return new Promise<Wire>(() => undefined);
      if (refusal) throw awsFailure("BadRequestException", refusal.message);
      const found = identity.includes("@") ? ADDRESS : domainIdentity(identity.toLowerCase(), aliasesOf);
      return {
        ...found,
        Tags: [...(tagged.get(identity.toLowerCase()) ?? [])].map(([Key, Value]) => ({ Key, Value })),
      };
    },
    TagResource: (input) => {
      requests++;
      const identity = read
        .needed(input, "ResourceArn")
        .replace(/^.*:identity\//, "")
        .toLowerCase();
      const tags = tagged.get(identity) ?? new Map<string, string>();
      for (const tag of read.list(input, "Tags").filter(isRecord))
        tags.set(read.needed(tag, "Key"), read.text(tag, "Value") ?? "");
      tagged.set(identity, tags);
      return {};
    },
    GetAccount: () => {
      requests++;
      const SendQuota = { Max24HourSend: 50_000, MaxSendRate: limit?.rate ?? AMPLE_RATE, SentLast24Hours: 0 };
      return { ProductionAccessEnabled: true, SendingEnabled: true, EnforcementStatus: "HEALTHY", SendQuota };
    },
  };

  return {
    operate: operateOn(members, operations),
    meter: () => ({ requests }),
    resetMeter: () => {
      requests = 0;
    },
    limit: (rate) => {
      limit = { rate, tokens: rate, at: clock.now() };
    },
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function tagsOf(list: readonly unknown[]): Record<string, string[]> {
  if (list.length > MAX_TAGS) throw read.refuse(`At most ${MAX_TAGS} tags are allowed.`);
  return Object.fromEntries(
    list.map((tag) => {
      const { Name, Value } = isRecord(tag) ? tag : {};
      for (const word of [Name, Value])
        if (typeof word !== "string" || !/^[\w.@-]{1,256}$/.test(word)) throw read.refuse("Invalid tag.");
      return [String(Name), [String(Value)]];
    }),
  );
}
