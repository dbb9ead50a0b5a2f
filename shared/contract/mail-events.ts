// Events of SES about sent mails, as EventBridge puts them into our queue. The tags of a mail name its send.
import * as v from "valibot";
import { knownProviders, mailboxProviderOf } from "../rules/mailbox-providers.ts";

const Text = v.pipe(v.string(), v.maxLength(512));
const id = v.pipe(v.string(), v.maxLength(128));
/**
 * `action` is the action in the report of a mail server (RFC 3464): `failed`, `delayed` …; an automatic reply has none.
 */
const Recipients = v.optional(v.array(v.object({ emailAddress: Text, action: v.optional(Text) })), []);

/** `deferred`: it may have arrived. `ignored`: an event of another kind, or of a mail that no workspace sent. */
const fates = ["delivered", "bounced", "deferred", "complained", "ignored"] as const;

/** An event as it is queued again while its row is missing. */
const MailEvent = v.object({
  tenant: id,
  job: id,
  subscriber: id,
  /** The time in the key of its ledger row. */
  at: v.number(),
  fate: v.picklist(fates),
  reason: Text,
  /** The addresses that bounced permanently or complained. */
  emails: v.array(Text),
  /** The provider of the mailbox, if it is a known one. */
  mailbox: v.optional(v.picklist(knownProviders)),
  /** When the event happened, in milliseconds, as the report says. */
  happened_at: v.optional(v.number()),
  /** How often the row was missing. */
  tries: v.number(),
});
export type MailEvent = v.InferOutput<typeof MailEvent>;

const SesNotification = v.object({
  source: v.literal("aws.ses"),
  detail: v.object({
    eventType: Text,
    mail: v.object({
      tags: v.optional(v.record(v.string(), v.array(v.string())), {}),
      destination: v.optional(v.array(Text), []),
    }),
    bounce: v.optional(
      v.object({
        bounceType: Text,
        bounceSubType: v.optional(Text, ""),
        bouncedRecipients: Recipients,
        timestamp: v.optional(Text),
      }),
    ),
    complaint: v.optional(v.object({ complainedRecipients: Recipients, timestamp: v.optional(Text) })),
    reject: v.optional(v.object({ reason: v.optional(Text, "") })),
  }),
});

type SesDetail = v.InferOutput<typeof SesNotification>["detail"];
type Bounce = NonNullable<SesDetail["bounce"]>;

/** Subtypes of a mail that arrived and was answered automatically. */
const UNNAMED = new Set(["", "General", "Undetermined"]);

/**
 * Whether a bounce means failure. SES reports a temporary problem only after giving up, in the same words as automatic
 * replies (docs/decisions/0154).
 */
function hasFailed({ bounceType, bounceSubType, bouncedRecipients }: Bounce): boolean {
  const actions = bouncedRecipients.flatMap(({ action }) => action ?? []);
  if (bounceType === "Permanent" || actions.includes("failed")) return true;
  return actions.length === 0 && !UNNAMED.has(bounceSubType);
}

function eventOf({ detail }: v.InferOutput<typeof SesNotification>): MailEvent {
  const { eventType, mail, bounce, complaint, reject } = detail;
  const tag = (name: string) => mail.tags[name]?.[0] ?? "";
  const ids = {
    tenant: tag("tenant"),
    job: tag("job"),
    subscriber: tag("subscriber"),
    at: Number(tag("at")),
    tries: 0,
  };
  const happened = Date.parse(bounce?.timestamp ?? complaint?.timestamp ?? "");
  const mailbox = mailboxProviderOf((mail.destination[0] ?? "").toLowerCase());
  const isOurs = ids.tenant && ids.job && ids.subscriber && Number.isSafeInteger(ids.at);
  const event = (fate: MailEvent["fate"], reason = "", recipients: { emailAddress: string }[] = []): MailEvent => ({
    ...ids,
    fate: isOurs ? fate : "ignored",
    reason,
    emails: recipients.map(({ emailAddress }) => emailAddress),
    ...(mailbox && { mailbox }),
    ...(!Number.isNaN(happened) && { happened_at: happened }),
  });
  if (eventType === "Delivery") return event("delivered");
  if (eventType === "Complaint") return event("complained", "", complaint?.complainedRecipients);
  // SES found malware and sent the mail to no recipient. This tells nothing about the address.
  if (eventType === "Reject") return event("bounced", `Reject: ${reject?.reason ?? ""}`);
  if (eventType !== "Bounce" || !bounce) return event("ignored");
  const reason = `${bounce.bounceType}: ${bounce.bounceSubType}`;
  const isPermanent = bounce.bounceType === "Permanent";
  return event(hasFailed(bounce) ? "bounced" : "deferred", reason, isPermanent ? bounce.bouncedRecipients : []);
}

export const MailEventMessage = v.union([MailEvent, v.pipe(SesNotification, v.transform(eventOf))]);
