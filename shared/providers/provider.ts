// What every provider of messages is to the rest: a send with four outcomes, and a cheap proof of credentials.
import type { Exchange } from "../egress/egress.ts";
import type { Credentials } from "./credentials.ts";

/** What became of one message, as far as can be known (docs/decisions/0010). */
export type Outcome =
  | { status: "accepted"; providerId?: string }
  /** For good. `addressDead`: the device or address must not be used again. */
  | { status: "rejected"; reason: string; addressDead?: boolean }
  /** Certainly not accepted: it may be tried again. */
  | { status: "retryable"; reason: string; retryAfterSeconds?: number }
  /** It may have been accepted: it is never sent again. */
  | { status: "unknown"; reason: string };

export type Verification = { ok: true } | { ok: false; error: string; mayPass?: boolean };

/** Where a message goes, by channel type. */
export interface Addresses {
  ios: { token: string; environment?: "sandbox" | "production" | undefined };
  android: { token: string };
  web_push: { endpoint: string; keys: { p256dh: string; auth: string } };
  email: { email: string };
  /** E.164. */
  sms: { phone: string };
  /** E.164. */
  chat_app: { phone: string };
}
export type ProvidedChannel = keyof Addresses;

/** One message to one address; its texts are final. */
export interface Outgoing<A = Addresses[ProvidedChannel]> {
  tenant: string;
  job: string;
  subscriber: string;
  /** The device's id, or the channel type where there is one address. */
  target: string;
  address: A;
  title: string;
  body: string;
  data?: Readonly<Record<string, unknown>> | undefined;
  variant?: "a" | "b" | undefined;
  category?: "marketing" | "transactional" | undefined;
  /** The body of an e-mail as it goes out, text and HTML, where it is more than what was written. */
  parts?: { text: string; html: string } | undefined;
  /** When the row of the ledger begins, in milliseconds: what the provider tells of the message later finds it. */
  at?: number | undefined;
  /** Where one click unsubscribes (e-mail). */
  unsubscribeUrl?: string | undefined;
  /** An approved template of the chat app, sent in place of title and body. */
  template?: { name: string; language: string; parameters: readonly string[] } | undefined;
}

export interface Provider<C, A> {
  /** Sends one message; never throws and never sends twice. */
  send(credentials: C, message: Outgoing<A>): Promise<Outcome>;
  /** Proves by a cheap real call that the credentials work. `mayPass`: the provider could not be asked; ask again. */
  verify(credentials: C): Promise<Verification>;
}

/** Which credentials serve which channel type. */
export interface CredentialTypes {
  ios: "ios_push";
  android: "android_push";
  web_push: "vapid";
  email: "email";
  sms: "sms";
  chat_app: "chat_app";
}
export type CredentialsFor<T extends ProvidedChannel> = Extract<Credentials, { type: CredentialTypes[T] }>;

/** One provider per channel type. */
export type Providers = { [T in ProvidedChannel]: Provider<CredentialsFor<T>, Addresses[T]> };

export const rejected = (reason: string, addressDead = false): Outcome =>
  addressDead ? { status: "rejected", reason, addressDead } : { status: "rejected", reason };

export const retryable = (reason: string, retryAfterSeconds?: number): Outcome =>
  retryAfterSeconds === undefined
    ? { status: "retryable", reason }
    : { status: "retryable", reason, retryAfterSeconds };

/** What a request that got no answer means for its message. */
export function withoutAnswer(exchange: Exclude<Exchange, { outcome: "answered" }>): Outcome {
  if (exchange.outcome === "unknown") return { status: "unknown", reason: exchange.reason };
  return exchange.isRefused ? rejected(exchange.reason) : retryable(exchange.reason);
}

/** What it means for a proof of credentials. */
export const unproven = (exchange: Exclude<Exchange, { outcome: "answered" }>): Verification =>
  exchange.outcome === "not_sent" && exchange.isRefused
    ? { ok: false, error: exchange.reason }
    : { ok: false, error: `The provider could not be reached: ${exchange.reason}.`, mayPass: true };

const MAX_RETRY_AFTER_SECONDS = 86_400;

/** Whole seconds of a `Retry-After` header, which may also be a date. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers["retry-after"];
  if (!text) return undefined;
  const at = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((at - now) / 1_000);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS) : undefined;
}

/** A JSON object, or an empty one for anything else. */
export function jsonOf(text: string): Record<string, unknown> {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** D-PUSH: the notification's data with what tells the app which notification it is, and for whom. */
export const mergedData = ({ data, job, subscriber, variant }: Outgoing): Record<string, unknown> => ({
  ...data,
  notification_id: job,
  subscriber_id: subscriber,
  ...(variant && { variant_id: variant }),
});
