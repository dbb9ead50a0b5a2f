// Webhooks: endpoints, events, delivery.
import type { Areas } from "./areas.ts";

export const webhooks: Areas = {
  "Webhook endpoints (HOK)": {
    "HOK-1": "An endpoint has an HTTPS URL, event types and a `whsec_` secret, shown once.",
    "HOK-2": "POST `/v1/hooks` answers 201 with the secret.",
    "HOK-3": "A bad URL, plain http or an unknown event is 422.",
    "HOK-4": "A plan without webhooks is 403.",
    "HOK-5": "A workspace has at most 10 endpoints.",
    "HOK-6": "GET `/v1/hooks` lists them without secrets.",
    "HOK-7": "A deleted endpoint gets nothing more.",
    "HOK-8": "GET `/v1/hooks/samples/:event` returns a sample of the event's data.",
    "HOK-9": "GET `/v1/whoami` says whose key it is.",
  },
  "Webhook events (WEV)": {
    "WEV-1": "`subscriber.created` is for new subscribers, not for updates.",
    "WEV-2": "`notification.dispatched` is for a send that begins.",
    "WEV-3": "`notification.terminal` is for a send that has ended.",
    "WEV-4": "`notification.interaction` comes once for each interaction.",
    "WEV-5": "The envelope has the delivery's id, the type, the workspace, a time and the data.",
    "WEV-6": "`subscriber.created` carries the subscriber, attributes as an object.",
    "WEV-7": "`notification.dispatched` carries the job, an estimate of its size and its time.",
    "WEV-8": "`notification.terminal` carries the job, its status and its counts.",
    "WEV-9": "`notification.interaction` carries job, type, platform and, with arms, the arm.",
    "WEV-10": "Types and platforms of interactions are the documented ones.",
    "WEV-11": "An endpoint gets only the types it subscribes to.",
  },
  "Webhook delivery (WHK)": {
    "WHK-1": "A delivery is an HTTPS POST of JSON.",
    "WHK-2": "It says `Content-Type: application/json`.",
    "WHK-3": "`X-Service-Event` is the event's type.",
    "WHK-4": "`X-Service-Delivery` is the delivery's id, the same at each attempt.",
    "WHK-5": "`X-Service-Signature` is `sha256=` and the HMAC of the raw body.",
    "WHK-6": "`X-Signature-256` repeats the signature.",
    "WHK-7": "2xx is success; an attempt has 10 seconds.",
    "WHK-8": "5xx and network errors are tried again after 1, 2 and 4 seconds.",
    "WHK-9": "4xx is final.",
    "WHK-10": "The log has payload, attempts, last status and outcome.",
    "WHK-11": "An endpoint counts its consecutive failures.",
    "WHK-12": "The HMAC key is the SHA-256 of the secret as hexadecimal text.",
    "WHK-13": "Receivers compare in constant time; the SDK has a function that does.",
  },
};
