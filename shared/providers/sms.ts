// SMS by a provider with the API of Vonage, on the tenant's own account (CRD-6).
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import type { Exchange } from "../egress/exchange.ts";
import type { Clock } from "../kernel/clock.ts";
import { titledText } from "../rules/channel-texts.ts";
import { isGsm, MAX_SMS } from "../rules/sms-segments.ts";
import {
  type Addresses,
  accepted,
  jsonOf,
  type Outcome,
  type Provider,
  refusedForNow,
  rejected,
  retryAfter,
  retryable,
  throttled,
  unanswered,
  unverifiable,
  unverified,
} from "./provider.ts";
import { digitsOf, referenceOf } from "./text-messages.ts";

type Sms = CredentialsFor<"sms">;

const SEND_URL = "https://rest.nexmo.com/sms/json";
const BALANCE_URL = "https://rest.nexmo.com/account/get-balance";
const TOO_LONG = "message_too_long";

interface Refusal {
  reason: string;
  isTransient?: true;
  isThrottled?: true;
  addressDead?: true;
}

/** The provider's status codes of a part, except 0. */
const refusals: Readonly<Record<string, Refusal>> = {
  1: { reason: "throttled", isThrottled: true },
  2: { reason: "missing_parameters" },
  3: { reason: "invalid_parameters" },
  4: { reason: "invalid_credentials" },
  5: { reason: "internal_error", isTransient: true },
  6: { reason: "invalid_message" },
  7: { reason: "number_barred", addressDead: true },
  8: { reason: "account_barred" },
  9: { reason: "quota_violation" },
  10: { reason: "too_many_binds", isTransient: true },
  11: { reason: "account_not_enabled" },
  12: { reason: TOO_LONG },
  14: { reason: "invalid_signature" },
  15: { reason: "invalid_sender" },
  22: { reason: "invalid_network_code" },
  23: { reason: "invalid_callback" },
  29: { reason: "destination_not_permitted" },
  32: { reason: "signature_and_secret" },
  33: { reason: "number_deactivated", addressDead: true },
};

/** Texts by the provider's HTTP API. */
export function smsProvider({ egress, clock }: { egress: Egress; clock: Clock }): Provider<Sms, Addresses["sms"]> {
  return {
    send: async ({ api_key, api_secret, sender_id }, message) => {
      const text = titledText(message);
      if (text.length > MAX_SMS) return rejected(TOO_LONG);
      const form = new URLSearchParams({
        api_key,
        api_secret,
        from: sender_id,
        to: digitsOf(message),
        text,
        ...(!isGsm(text) && { type: "unicode" }),
        "client-ref": referenceOf(message),
      });
      const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
      const exchange = await egress.request({ purpose: "sms", url: SEND_URL, headers, body: form.toString() });
      return outcomeOf(exchange, clock.now());
    },
    verify: async ({ api_key, api_secret }) => {
      const url = `${BALANCE_URL}?${new URLSearchParams({ api_key, api_secret })}`;
      const exchange = await egress.request({ purpose: "sms", method: "GET", url });
      if (exchange.kind !== "answered") return unverifiable(exchange);
      const { status, body } = exchange;
      if (status === 200) return { kind: "verified" };
      const { "error-code-label": label, detail } = jsonOf(body);
      return unverified(String(label ?? detail ?? `The SMS provider answered ${status}`), {
        isTemporary: status === 429 || status >= 500,
      });
    },
  };
}

interface SendAnswer {
  messages: { status?: string; "message-id"?: string }[];
}

function outcomeOf(exchange: Exchange, now: number): Outcome {
  if (exchange.kind !== "answered") return unanswered(exchange);
  const { status, headers, body } = exchange;
  const { messages } = jsonOf<SendAnswer>(body);
  const parts = Array.isArray(messages) ? messages : [];
  // If one part was accepted, the message must not be sent again.
  const acceptedPart = parts.find((part) => part.status === "0");
  if (acceptedPart) return accepted(acceptedPart["message-id"]);
  const code = parts[0]?.status;
  if (code !== undefined) {
    const { reason, isThrottled, isTransient, addressDead }: Refusal = refusals[code] ?? { reason: `status_${code}` };
    if (isThrottled) return throttled(reason, retryAfter(headers, now));
    return isTransient ? retryable(reason, retryAfter(headers, now)) : rejected(reason, { addressDead });
  }
  if (status === 429 || status === 503) return refusedForNow(exchange, String(status), now);
  if (status >= 500 || status < 400) return { kind: "unknown", reason: String(status) };
  return rejected(String(status));
}
