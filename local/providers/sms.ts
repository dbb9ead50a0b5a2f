// The embedded SMS provider, with the API of Vonage.
import {
  accept,
  acceptCredentials,
  type Refusal,
  type Sink,
  type SinkAnswer,
  type SinkDeps,
  type SinkRequest,
} from "./sink.ts";

const answers: Record<Refusal, readonly [status: string, text: string]> = {
  permanent: ["6", "The message was invalid"],
  invalid_token: ["33", "Number De-activated"],
  transient: ["5", "Internal Error"],
  rate_limited: ["1", "Throughput Rate Exceeded"],
};

const PART_CHARACTERS = { text: [160, 153], unicode: [70, 67] } as const;

export function smsSink(deps: SinkDeps): Sink {
  return (request) => {
    if (request.path === "/account/get-balance") return showBalance(deps, request);
    if (request.method === "POST" && request.path === "/sms/json") return takeMessage(deps, request);
    return { status: 404, body: { title: "Not found" } };
  };
}

function showBalance(deps: SinkDeps, { query }: SinkRequest) {
  const words = "authentication failed";
  const refuse = (said: string) => ({ status: 401, body: { "error-code": "401", "error-code-label": said } });
  const isSigned = query.get("api_key") && query.get("api_secret");
  const fine = isSigned ? { status: 200, body: { value: 10.28, autoReload: false } } : refuse(words);
  return acceptCredentials(deps, "sms", { words, refuse, fine });
}

const refuseMessage = (status: string, text: string): SinkAnswer => ({
  status: 200,
  body: { "message-count": "1", messages: [{ status, "error-text": text }] },
});

function takeMessage(deps: SinkDeps, { headers, body }: SinkRequest) {
  const form = Object.fromEntries(new URLSearchParams(body.toString()));
  if (!form.api_key || !form.api_secret) return refuseMessage("2", "Missing api_key");
  if (!form.to || !form.from || !form.text)
    return refuseMessage("2", `Missing ${form.to ? "text or from" : "to"} param`);
  if (!/^\d{7,15}$/.test(form.to)) return refuseMessage("3", "Invalid value for param: to");
  const [job_id, subscriber_id] = (form["client-ref"] ?? "").split(":");
  const lineEnd = form.text.indexOf("\n");
  const title = lineEnd < 0 ? null : form.text.slice(0, lineEnd);
  // The account's credentials are not part of the message.
  const { api_key: _key, api_secret: _secret, ...payload } = form;
  const whose = { channel: "sms", to: `+${form.to}`, subscriber_id, job_id } as const;
  return accept(
    deps,
    { ...whose, title, body: form.text.slice(lineEnd + 1), payload, headers },
    (fault) => refuseMessage(...answers[fault]),
    (id) => acceptedParts(form, id),
  );
}

function acceptedParts(
  { to, text = "", type, "client-ref": reference }: Record<string, string>,
  id: string,
): SinkAnswer {
  const [whole, part] = PART_CHARACTERS[type === "unicode" ? "unicode" : "text"];
  const count = text.length <= whole ? 1 : Math.ceil(text.length / part);
  const messages = Array.from({ length: count }, (_part, i) => ({
    to,
    "message-id": `${id}-${i}`,
    status: "0",
    "remaining-balance": "10.28",
    "message-price": "0.03",
    network: "26201",
    "client-ref": reference,
  }));
  return { status: 200, body: { "message-count": String(count), messages } };
}
