// The interface of a message provider: a send with four outcomes, and an inexpensive verification of credentials.
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Exchange } from "../egress/exchange.ts";
import type { PushExtras } from "../rules/channel-content.ts";
import type { ProvidedChannel } from "../rules/channel-types.ts";
import type { channels } from "../rules/channels.ts";
import type { SendOutcome } from "../rules/progress.ts";

/** The outcome of one message that a provider was asked to send. */
export type Outcome = Exclude<SendOutcome, { kind: "skipped" }>;

/** A provider's answer about credentials. */
export type Verification = { kind: "verified" } | VerificationFailure;
export type VerificationFailure =
  | { kind: "refused"; error: string }
  /** The provider did not decide, so the verification is repeated. */
  | { kind: "undecided"; error: string };

export interface AddressKinds {
  token: { token: string; environment?: "sandbox" | "production" | undefined };
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
  email: { email: string };
  /** E.164. */
  phone: { phone: string };
}
export type Addresses = { [T in ProvidedChannel]: AddressKinds[(typeof channels)[T]["address"]] };

/** One message to one address; its texts are final. */
export interface OutgoingMessage<A = Addresses[ProvidedChannel]> {
  tenant: string;
  job: string;
  subscriber: string;
  /** The device's id, or the channel type if there is one address. */
  target: string;
  address: A;
  title: string;
  body: string;
  data?: Readonly<Record<string, unknown>> | undefined;
  /** The parts of a push beside its texts. */
  push?: PushExtras | undefined;
  variant?: "a" | "b" | undefined;
  category?: "marketing" | "transactional" | undefined;
  /** The bodies of an email; without them `body` is its text. */
  parts?: { text: string; html: string } | undefined;
  /** The time in the key of its ledger row, in milliseconds: later events of the provider find the row by it. */
  at?: number | undefined;
  /** The one-click unsubscribe URL (email). */
  unsubscribeUrl?: string | undefined;
  /** An approved template of the chat app, sent in place of title and body. */
  template?: { name: string; language: string; parameters: readonly string[] } | undefined;
}

export interface Provider<C, A> {
  /** Sends one message; never throws and never sends twice. */
  send(credentials: C, message: OutgoingMessage<A>): Promise<Outcome>;
  /** Verifies credentials of a workspace by an inexpensive request that needs them. */
  verify(credentials: C, tenant: string): Promise<Verification>;
}

export type Providers = { [T in ProvidedChannel]: Provider<CredentialsFor<T>, Addresses[T]> };

export type AnsweredExchange = Extract<Exchange, { kind: "answered" }>;
type UnansweredExchange = Exclude<Exchange, { kind: "answered" }>;

export const accepted = (providerId?: unknown): Outcome =>
  typeof providerId === "string" && providerId !== "" ? { kind: "accepted", providerId } : { kind: "accepted" };

/** @param options.addressDead the address must not be used again */
export const rejected = (
  reason: string,
  { addressDead = false }: { addressDead?: boolean | undefined } = {},
): Outcome => (addressDead ? { kind: "rejected", reason, addressDead } : { kind: "rejected", reason });

export const retryable = (reason: string, retryAfterSeconds?: number): Outcome & { kind: "retryable" } =>
  retryAfterSeconds === undefined ? { kind: "retryable", reason } : { kind: "retryable", reason, retryAfterSeconds };

export const throttled = (reason: string, retryAfterSeconds?: number): Outcome => ({
  ...retryable(reason, retryAfterSeconds),
  isThrottled: true,
});

export function refusedForNow(
  { status, headers }: Pick<AnsweredExchange, "status" | "headers">,
  reason: string,
  now: number,
): Outcome {
  const seconds = retryAfter(headers, now);
  const isThrottled = status === 429 || (status === 503 && seconds !== undefined);
  return (isThrottled ? throttled : retryable)(reason, seconds);
}

/** The outcome of a message whose request was not answered. */
export function unanswered(exchange: UnansweredExchange): Outcome {
  if (exchange.kind === "unknown") return { kind: "unknown", reason: exchange.reason };
  return exchange.isRefused ? rejected(exchange.reason) : retryable(exchange.reason);
}

/** @param options.isTemporary the verification may be tried again */
export const unverified = (error: string, { isTemporary = false } = {}): VerificationFailure => ({
  kind: isTemporary ? "undecided" : "refused",
  error,
});

/** The result of a verification whose request was not answered. */
export const unverifiable = (exchange: UnansweredExchange): Verification =>
  exchange.kind === "not_sent" && exchange.isRefused
    ? unverified(exchange.reason)
    : unverified(`The provider could not be reached: ${exchange.reason}.`, { isTemporary: true });

const MAX_RETRY_AFTER_SECONDS = 86_400;

/** Whole seconds of a `Retry-After` header, which may also be a date. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const text = headers["retry-after"];
  if (!text) return undefined;
  const at = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Math.ceil((at - now) / 1_000);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), MAX_RETRY_AFTER_SECONDS) : undefined;
}

/** A JSON object, or an empty one for anything else. `T` is what the provider documents; it is not checked. */
export function jsonOf<T extends object = Record<string, unknown>>(text: string): Partial<T> {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Partial<T>) : {};
  } catch {
    return {};
  }
}
