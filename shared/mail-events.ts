// What SES tells of a mail after it took it, as EventBridge puts it into our queue; told by the tags of the send.
import * as v from "valibot";

const Text = v.pipe(v.string(), v.maxLength(512));
const id = v.pipe(v.string(), v.maxLength(128));
const People = v.optional(v.array(v.object({ emailAddress: Text })), []);

/** `deferred`: it may still arrive. `untold`: of no concern, or of a mail that is not ours. */
const fates = ["delivered", "bounced", "deferred", "complained", "untold"] as const;

export interface MailEvent {
  tenant: string;
  job: string;
  subscriber: string;
  /** Where its row of the ledger begins. */
  at: number;
  fate: (typeof fates)[number];
  reason: string;
  /** Whom it reached, or did not. */
  emails: string[];
  /** How often its row was not there yet. */
  tries: number;
}

const Again = v.object({
  ...{ tenant: id, job: id, subscriber: id, at: v.number(), fate: v.picklist(fates), reason: Text },
  ...{ emails: v.array(Text), tries: v.number() },
});

const SesNotification = v.object({
  source: v.literal("aws.ses"),
  detail: v.object({
    eventType: Text,
    mail: v.object({ tags: v.optional(v.record(v.string(), v.array(v.string())), {}) }),
    bounce: v.optional(v.object({ bounceType: Text, bounceSubType: v.optional(Text, ""), bouncedRecipients: People })),
    complaint: v.optional(v.object({ complainedRecipients: People })),
  }),
});

function eventOf({ detail: { eventType, mail, bounce, complaint } }: v.InferOutput<typeof SesNotification>): MailEvent {
  const tag = (name: string) => mail.tags[name]?.[0] ?? "";
  const whose = {
    tenant: tag("tenant"),
    job: tag("job"),
    subscriber: tag("subscriber"),
    at: Number(tag("at")),
    tries: 0,
  };
  const said = (fate: MailEvent["fate"], reason = "", subscribers: { emailAddress: string }[] = []): MailEvent => ({
    ...whose,
    fate: whose.tenant && whose.job && whose.subscriber && Number.isSafeInteger(whose.at) ? fate : "untold",
    reason,
    emails: subscribers.map(({ emailAddress }) => emailAddress),
  });
  if (eventType === "Delivery") return said("delivered");
  if (eventType === "Complaint") return said("complained", "", complaint?.complainedRecipients);
  if (eventType !== "Bounce" || !bounce) return said("untold");
  const reason = `${bounce.bounceType}: ${bounce.bounceSubType}`;
  return said(bounce.bounceType === "Permanent" ? "bounced" : "deferred", reason, bounce.bouncedRecipients);
}

export const MailEventMessage = v.union([Again, v.pipe(SesNotification, v.transform(eventOf))]);
