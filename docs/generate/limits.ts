// The limits that hold for every plan, from the code that enforces them (GEN-16).
import { MAX_FILE_BYTES as MAX_ASSET_BYTES } from "../../functions/api/assets/index.ts";
import { REGISTRATIONS_PER_ADDRESS } from "../../functions/api/auth/index.ts";
import { LOGINS_PER_ADDRESS } from "../../functions/api/auth/limits.ts";
import { MAX_MESSAGES } from "../../functions/api/campaigns/input.ts";
import { MAX_EXPORTED } from "../../functions/api/events/index.ts";
import { MAX_FILE_BYTES as MAX_IMPORT_BYTES } from "../../functions/api/imports/index.ts";
import { MAX_LISTED } from "../../functions/api/inbox/index.ts";
import { MAX_BULK } from "../../functions/api/subscribers/index.ts";
import { MAX_BODY_CHARACTERS, MAX_TITLE_CHARACTERS } from "../../shared/contract/message-text.ts";
import { MAX_GIVEN_IDS } from "../../shared/contract/notification-input.ts";
import { MAX_PER_PAGE } from "../../shared/contract/paging.ts";
import { CREDENTIAL_TTL_MS } from "../../shared/http/credential-cache.ts";
import { BODY_BYTES } from "../../shared/http/input.ts";
import { MAX_DESIGN_BYTES, MAX_HTML_BYTES } from "../../shared/rules/content-kinds.ts";
import { MAX_PROPERTIES, MAX_PROPERTY_CHARACTERS, SERVER_BODY_BYTES, tiers } from "../../shared/rules/event-limits.ts";
import { JSON_LIMITS } from "../../shared/rules/json-limits.ts";
import { RENDERED_BYTES, TEMPLATE_BYTES } from "../../shared/rules/render.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../shared/rules/webhook-events.ts";
import { MAX_ALIASES } from "../../shared/store/subscribers/aliases.ts";
import { MAX_DEVICES } from "../../shared/store/subscribers/device-registration.ts";
import { MAX_WEBHOOKS } from "../../shared/store/webhooks/webhooks.ts";

const KB = 1_024;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const count = (n: number) => n.toLocaleString("en-US");
const size = (bytes: number) => (bytes < KB * KB ? `${bytes / KB} KB` : `${bytes / KB / KB} MB`);

const { client, server } = tiers;

/** The limits: what, and the maximum. */
export const limits: readonly (readonly [what: string, maximum: string])[] = [
  [
    "JSON of a body",
    `${JSON_LIMITS.depth} levels, ${count(JSON_LIMITS.keys)} keys, ${count(JSON_LIMITS.elements)} entries of lists`,
  ],
  [
    "its length",
    `without a credential ${size(BODY_BYTES.public)}, with an SDK key ${size(BODY_BYTES.sdk)} unless it holds events; beyond it 413`,
  ],
  ["HTML and design of a mail", `${count(MAX_HTML_BYTES)} and ${count(MAX_DESIGN_BYTES)} bytes`],
  ["title and body of a message", `${count(MAX_TITLE_CHARACTERS)} and ${count(MAX_BODY_CHARACTERS)} characters`],
  ["template, and its rendered text", `${size(TEMPLATE_BYTES)} and ${size(RENDERED_BYTES)}`],
  ["`subscriberIds` or `external_ids` of a send", count(MAX_GIVEN_IDS)],
  ["messages of a campaign", count(MAX_MESSAGES)],
  ["ids of a bulk delete", count(MAX_BULK)],
  ["anonymous ids of a subscriber", `${MAX_ALIASES}; a further one is not linked`],
  ["devices of a subscriber", `${MAX_DEVICES}; the least recently used one is replaced`],
  [
    "events of a request",
    `SDK key ${client.eventsPerRequest}; server key ${count(server.eventsPerRequest)} in ${size(SERVER_BODY_BYTES)}`,
  ],
  ["one event", `SDK key ${size(client.eventBytes)}; server key ${size(server.eventBytes)}`],
  ["properties of an event", `${MAX_PROPERTIES}, keys and texts of ${MAX_PROPERTY_CHARACTERS} characters`],
  [
    "how old an event may be",
    `SDK key ${client.backdatedMs / HOUR_MS} hours; server key ${server.backdatedMs / HOUR_MS / 24} days`,
  ],
  ["file of an import", `${size(MAX_IMPORT_BYTES)}; beyond it 413`],
  ["image", size(MAX_ASSET_BYTES)],
  ["webhook endpoints", `${MAX_WEBHOOKS}; an attempt has ${ATTEMPT_TIMEOUT_MS / 1_000} seconds`],
  [
    "registrations by one network address",
    `${REGISTRATIONS_PER_ADDRESS.max} in ${REGISTRATIONS_PER_ADDRESS.windowMs / MINUTE_MS} minutes; then 429`,
  ],
  [
    "sign-ins by password from one network address",
    `${LOGINS_PER_ADDRESS.max} in ${LOGINS_PER_ADDRESS.windowMs / MINUTE_MS} minutes; then 429`,
  ],
  ["how long a key that was revoked may still send events", `${CREDENTIAL_TTL_MS / 1_000} seconds`],
  ["one page", `${MAX_PER_PAGE} items; inbox ${MAX_LISTED}; export ${count(MAX_EXPORTED)}`],
];
