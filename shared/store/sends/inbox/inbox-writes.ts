// The writes of a delivery to an inbox (docs/decisions/0003).
import { createHash } from "node:crypto";
import { ttl } from "../../../kernel/clock.ts";
import { uuidV7 } from "../../../kernel/ids.ts";
import { type ItemWrite, putItem } from "../../item.ts";
import { toJson } from "../../json-text.ts";
import type { MessageText, NamedText } from "./inbox-content.ts";
import { MESSAGE_KEPT_MS, Message } from "./inbox-items.ts";

/** The id of a send to one inbox: the time of the round and a hash of (job, subscriber), so a repeat has the same id. */
export function messageId(at: number, job: string, subscriber: string): string {
  return uuidV7(at, createHash("sha256").update(`${job}:${subscriber}`).digest());
}

interface Origin {
  subscriber: string;
  /** The experience that it belongs to, which may be hidden or recalled. */
  experience?: string | undefined;
  /** The chunk that it comes from, for an erasure. */
  place?: string | undefined;
  /** When its chunk was first claimed, in milliseconds, if that was before this round. */
  assigned_at?: number | undefined;
  /** When it is written, in milliseconds, if that is long after its round began. */
  late_at?: number | undefined;
}

type Delivery = Origin & (MessageText | NamedText);

/** The write of one delivery, which is also its ledger entry (docs/decisions/0013). `at` is the time of the round. */
export function messageWrite(job: string, at: number, delivery: Delivery): ItemWrite<"workspace"> {
  const { subscriber, ...origin } = delivery;
  const content = "content" in delivery ? toJson(delivery.content) : undefined;
  const expires = ttl(at + MESSAGE_KEPT_MS);
  const key = { subscriber, message: messageId(at, job, subscriber) };
  return putItem(Message, key, { job, ...origin, content, expires });
}
