// SMS by a provider of the Vonage shape, on the tenant's own account (CRD-6).

import type { Clock } from "../clock.ts";
import type { Egress, Exchange } from "../egress/egress.ts";
import {
  type Addresses,
  type CredentialsFor,
  jsonOf,
  type Outcome,
  type Provider,
  rejected,
  retryAfter,
  retryable,
  unproven,
  withoutAnswer,
} from "./provider.ts";

type Sms = CredentialsFor<"sms">;

const SEND_URL = "https://rest.nexmo.com/sms/json";
const BALANCE_URL = "https://rest.nexmo.com/account/get-balance";
/** What the provider cuts into parts at most. */
const MAX_CHARACTERS = 3_200;
const NO_ROOM = "message_too_long";

/** The provider's status of one part: what each code but 0 means. */
const refusals: Readonly<Record<string, { reason: string; isTransient?: true; dead?: true }>> = {
  1: { reason: "throttled", isTransient: true },
  2: { reason: "missing_parameters" },
  3: { reason: "invalid_parameters" },
  4: { reason: "invalid_credentials" },
  5: { reason: "internal_error", isTransient: true },
  6: { reason: "invalid_message" },
  7: { reason: "number_barred", dead: true },
  8: { reason: "account_barred" },
  9: { reason: "quota_violation" },
  10: { reason: "too_many_binds", isTransient: true },
  11: { reason: "account_not_enabled" },
  12: { reason: NO_ROOM },
  14: { reason: "invalid_signature" },
  15: { reason: "invalid_sender" },
  22: { reason: "invalid_network_code" },
  23: { reason: "invalid_callback" },
  29: { reason: "destination_not_permitted" },
  32: { reason: "signature_and_secret" },
  33: { reason: "number_deactivated", dead: true },
};

// The GSM 03.38 alphabet with its extension: everything else makes a message of UCS-2.
const GSM = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\[~\]|€]*$/;

export function smsProvider({ egress, clock }: { egress: Egress; clock: Clock }): Provider<Sms, Addresses["sms"]> {
  return {
    send: async ({ api_key, api_secret, sender_id }, { address, title, body, job, subscriber }) => {
      const text = textOf(title, body);
      if (text.length > MAX_CHARACTERS) return rejected(NO_ROOM);
      const form = new URLSearchParams({
        ...{ api_key, api_secret, from: sender_id, to: address.phone.replace(/^\+/, ""), text },
        ...(!GSM.test(text) && { type: "unicode" }),
        "client-ref": `${job}:${subscriber}`,
      });
      const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
      const exchange = await egress.request({ purpose: "sms", url: SEND_URL, headers, body: form.toString() });
      return outcomeOf(exchange, clock.now());
    },
    verify: async ({ api_key, api_secret }) => {
      const url = `${BALANCE_URL}?${new URLSearchParams({ api_key, api_secret })}`;
      const exchange = await egress.request({ purpose: "sms", method: "GET", url });
      if (exchange.outcome !== "answered") return unproven(exchange);
      const { status, body } = exchange;
      if (status === 200) return { ok: true };
      const said = jsonOf(body)["error-code-label"] ?? jsonOf(body).detail;
      const error = String(said ?? `The SMS provider answered ${status}`);
      return status === 429 || status >= 500 ? { ok: false, error, mayPass: true } : { ok: false, error };
    },
  };
}

/** A text message has no title of its own: it is the first line. */
const textOf = (title: string, body: string): string => (title ? `${title.replaceAll(/\s+/g, " ")}\n${body}` : body);

function outcomeOf(exchange: Exchange, now: number): Outcome {
  if (exchange.outcome !== "answered") return withoutAnswer(exchange);
  const { status, headers, body } = exchange;
  const { messages } = jsonOf(body) as { messages?: { status?: string; "message-id"?: string }[] };
  const parts = Array.isArray(messages) ? messages : [];
  // One part on its way is a message that must not be sent again.
  const accepted = parts.find((part) => part.status === "0");
  if (accepted) {
    const providerId = accepted["message-id"];
    return { status: "accepted", ...(providerId && { providerId }) };
  }
  const code = parts[0]?.status;
  if (code !== undefined) {
    const refusal = refusals[code] ?? { reason: `status_${code}` };
    return refusal.isTransient
      ? retryable(refusal.reason, retryAfter(headers, now))
      : rejected(refusal.reason, refusal.dead);
  }
  if (status === 429 || status === 503) return retryable(String(status), retryAfter(headers, now));
  if (status >= 500 || status < 400) return { status: "unknown", reason: String(status) };
  return rejected(String(status));
}
