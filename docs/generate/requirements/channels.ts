// Channels, their credentials, and templates of the chat app.
import type { Areas } from "./areas.ts";

export const channels: Areas = {
  "Channels (CHN)": {
    "CHN-1": "A channel has a type, a name, `active`, a status, and the outcome of its verification.",
    "CHN-2": "There are seven types: ios, android, web_push, email, in_app, sms, chat_app.",
    "CHN-3": "Names are unique in the workspace and have at most 128 characters.",
    "CHN-4": "A new channel is active, which means that it may send.",
    "CHN-5": "The status is `pending`, `active` or `invalid`.",
    "CHN-6": "`verified_at` appears with the first verification.",
    "CHN-7": "`verification_error` is what the provider said at the last failure.",
    "CHN-8": "A new channel is pending.",
    "CHN-9": "Credentials that the provider accepts make the channel `active`.",
    "CHN-10": "Credentials that it refuses make the channel `invalid`.",
    "CHN-11": "Uploading again or requesting verification restarts the cycle.",
    "CHN-12": "POST `/api/v1/channels` needs type and name and answers 201.",
    "CHN-13": "A type outside the plan is 403 and lists the types that are allowed.",
    "CHN-14": "GET `/api/v1/channels` returns all channels.",
    "CHN-15": "GET `/api/v1/channels/:id` returns one, or 404.",
    "CHN-16": "PATCH `/api/v1/channels/:id` changes name and `active`.",
    "CHN-17": "Deletion is 409 while credentials are stored, unless `force=true`.",
    "CHN-18": "POST `/api/v1/channels/:id/verify` answers 202, or 404 without credentials.",
    "CHN-19": "Every channel route answers 401 without a valid token.",
  },
  "Credentials of channels (CRD)": {
    "CRD-1": "The confirmation of an upload has ids, the short type and two times.",
    "CRD-2": "Credentials are encrypted at rest and returned by no endpoint.",
    "CRD-3": "Apple's push takes a key file, its id, team, bundle and environment.",
    "CRD-4": "Android's push takes the JSON key of a service account.",
    "CRD-5": "VAPID keys are made by the service; only the public one is shown.",
    "CRD-6": "SMS takes the key, secret and sender of the workspace's own account.",
    "CRD-7": "The chat app takes a token and two ids, and a secret where callbacks are wanted.",
    "CRD-8": "An upload replaces the credentials and verifies them again.",
  },
  "Chat-app templates (WAT)": {
    "WAT-1": "A chat-app template has name, language, category, body, status and what the provider said.",
    "WAT-2": "POST `/api/v1/channels/:id/chat-app-templates` needs name and body.",
    "WAT-3": "GET on the same path returns all of the channel.",
    "WAT-4": "Submitting hands a template to the provider and keeps the provider's id.",
    "WAT-5": "Refreshing fetches the status from the provider.",
    "WAT-6": "A template is drafted here, reviewed there, and its status comes from there.",
  },
};
