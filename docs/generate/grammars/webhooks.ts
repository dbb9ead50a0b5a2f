// The payloads of outbound webhooks. Samples and event types come from shared/rules/webhook-events.ts.
import { pascal } from "../../../shared/http/operation-names.ts";
import { breachReasons } from "../../../shared/rules/brake.ts";
import { interactions, platforms } from "../../../shared/rules/interactions.ts";
import { type WebhookEvent, webhookEvents, webhookSamples } from "../../../shared/rules/webhook-events.ts";
import { EXAMPLE_ID, EXAMPLE_TIME } from "../examples.ts";
import type { JsonSchema } from "../json-schema.ts";

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const id = (description: string): JsonSchema => ({ type: "string", description });
const number = (description: string): JsonSchema => ({ type: "integer", minimum: 0, description });

/** A payload of which some fields may be missing. */
const payload = (
  description: string,
  properties: Record<string, JsonSchema>,
  optional: readonly string[] = [],
): JsonSchema & { description: string } => ({
  type: "object",
  description,
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** Why a brake halted a send or a step (F21). */
const breach: Record<string, JsonSchema> = {
  reason: { type: "string", enum: [...breachReasons], description: "Which limit was exceeded" },
  channel: { type: "string", description: "The type of the channel that it is about" },
  rate: { type: "number", minimum: 0, maximum: 1, description: "`count` over `tried`" },
  limit: { type: "number", minimum: 0, maximum: 1, description: "The share at which it halts" },
  count: number("Errors, bounces, complaints or opt-outs"),
  tried: number("Addresses that were tried"),
};

const payloads: Record<WebhookEvent, JsonSchema & { description: string }> = {
  "subscriber.created": payload("A subscriber is new. A change of a known one does not fire it.", {
    subscriber_id: id("The subscriber"),
    external_id: id("The id of the subscriber in your own system"),
    email: { type: ["string", "null"], description: "The e-mail address, if there is one" },
    attributes: { type: "object", additionalProperties: {}, description: "The attributes, as an object" },
    created: { type: "boolean", description: "Always `true`" },
  }),
  "notification.dispatched": payload("A send starts.", {
    job_id: id("The id of the notification"),
    target_size_estimate: number("About how many subscribers it is for"),
    scheduled_at: {
      type: ["string", "null"],
      format: "date-time",
      description: "When it was scheduled for; `null` if it was sent at once",
    },
  }),
  "notification.halted": payload("The brake of a send stopped it: resume or cancel it.", {
    job_id: id("The id of the notification"),
    ...breach,
  }),
  "journey.halted": payload("The brake of a journey's step stopped it: resume or cancel the step.", {
    journey_id: id("The journey"),
    version: number("The version of the journey"),
    step: { type: "string", description: "The id of the step" },
    ...breach,
  }),
  "notification.terminal": payload("A send has ended.", {
    job_id: id("The id of the notification"),
    status: { type: "string", enum: ["completed", "failed"], description: "`failed` if it reached no recipient" },
    delivered: number("Recipients that a provider accepted"),
    failed: number("Recipients that it did not reach"),
    total: number("`delivered` and `failed` together"),
  }),
  "notification.interaction": payload(
    "A recipient interacted with a message.",
    {
      job_id: id("The id of the notification"),
      interaction_type: { type: "string", enum: [...interactions], description: "What the recipient did" },
      platform: { type: "string", enum: [...platforms], description: "The system on which the message was seen" },
      variant_id: { type: "string", enum: ["a", "b"], description: "The arm. Only of sends with two variants" },
    },
    ["variant_id"],
  ),
};

const dataName = (event: WebhookEvent) => `${pascal(event)}Data`;
const eventName = (event: WebhookEvent) => `${pascal(event)}Event`;

const sampleOf = (event: WebhookEvent) => ({
  id: EXAMPLE_ID,
  event_type: event,
  tenant_id: EXAMPLE_ID,
  timestamp: EXAMPLE_TIME,
  data: webhookSamples[event],
});

const envelope = (event: WebhookEvent): JsonSchema => ({
  type: "object",
  description: payloads[event].description,
  properties: {
    id: id("The id of the delivery, the same on every attempt"),
    event_type: { type: "string", const: event, description: "The type of the event" },
    tenant_id: id("The workspace"),
    timestamp: { type: "string", format: "date-time", description: "When it happened" },
    data: { ...ref(dataName(event)), description: "What happened" },
  },
  required: ["id", "event_type", "tenant_id", "timestamp", "data"],
  additionalProperties: false,
  examples: [sampleOf(event)],
});

export const webhookSchemas: Record<string, JsonSchema> = {
  WebhookEvent: {
    description: "The body of a webhook. `event_type` decides what `data` holds.",
    oneOf: webhookEvents.map((event) => ref(eventName(event))),
    discriminator: {
      propertyName: "event_type",
      mapping: Object.fromEntries(webhookEvents.map((event) => [event, ref(eventName(event)).$ref])),
    },
    examples: webhookEvents.map(sampleOf),
  },
  WebhookData: {
    description: "The `data` of an event.",
    anyOf: webhookEvents.map((event) => ref(dataName(event))),
    examples: Object.values(webhookSamples),
  },
  ...Object.fromEntries(webhookEvents.map((event) => [eventName(event), envelope(event)])),
  ...Object.fromEntries(
    webhookEvents.map((event) => [dataName(event), { ...payloads[event], examples: [webhookSamples[event]] }]),
  ),
};

const HEADERS: readonly (readonly [name: string, description: string, isOptional?: true])[] = [
  ["X-Service-Event", "The type of the event"],
  ["X-Service-Delivery", "The id of the delivery, the same on every attempt: use it to recognize repeats"],
  ["X-Service-Sequence", "The number of the delivery among those of the endpoint, from 1 without gaps"],
  [
    "X-Service-Signature",
    "`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the hex SHA-256 of the secret",
  ],
  ["X-Signature-256", "The same as `X-Service-Signature`"],
  ["X-Service-Signature-Previous", "The signature by the previous secret, for a day after a rotation", true],
  ["webhook-id", "The id of the delivery, as Standard Webhooks names it"],
  ["webhook-timestamp", "When the attempt was made, in seconds since 1970 (Standard Webhooks)"],
  ["webhook-signature", "`v1,` and a base64 signature for each valid secret, separated by spaces (Standard Webhooks)"],
];

/** The headers of a delivery, with what each holds. */
export const webhookHeaderTable: readonly (readonly [name: string, description: string])[] = HEADERS.map(
  ([name, description]) => [name, description],
);

/** The `webhooks` section of the document. */
export const webhookOperations = (): Record<string, object> =>
  Object.fromEntries(
    webhookEvents.map((event) => [
      event,
      {
        post: {
          operationId: `webhook${pascal(event)}`,
          tags: ["webhooks"],
          summary: payloads[event].description.replace(/\..*$/, ""),
          description: `${payloads[event].description} It is sent to every active endpoint that has \`${event}\` among its \`events\`.`,
          security: [],
          parameters: HEADERS.map(([name, description, isOptional]) => ({
            name,
            in: "header",
            required: !isOptional,
            schema: { type: "string" },
            description,
          })),
          requestBody: {
            required: true,
            description: "The event",
            content: { "application/json": { schema: ref(eventName(event)), example: sampleOf(event) } },
          },
          responses: {
            "2XX": { description: "The delivery is accepted" },
            "4XX": { description: "The delivery failed and is not retried" },
            "5XX": { description: "The delivery is tried again after 1, 2 and 4 seconds" },
          },
        },
      },
    ]),
  );
