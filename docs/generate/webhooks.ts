// The webhooks of the document: their bodies, their headers, and the requests that are made.
import { webhookPayloads } from "../../shared/contract/webhook-payloads.ts";
import { pascal } from "../../shared/http/operation-names.ts";
import { refTo } from "../../shared/rules/grammar.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { type WebhookEvent, webhookEvents, webhookSamples } from "../../shared/rules/webhook-events.ts";
import { EXAMPLE_ID, EXAMPLE_TIME } from "./examples.ts";
import { schemaOf } from "./json-schema.ts";

const id = (description: string): JsonSchema => ({ type: "string", description });

const payloads = Object.fromEntries(
  webhookEvents.map((event) => [event, schemaOf(webhookPayloads[event], "input")]),
) as Record<WebhookEvent, JsonSchema & { description: string }>;

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
    data: { ...refTo(dataName(event)), description: "What happened" },
  },
  required: ["id", "event_type", "tenant_id", "timestamp", "data"],
  additionalProperties: false,
  examples: [sampleOf(event)],
});

export const webhookSchemas: Record<string, JsonSchema> = {
  WebhookEvent: {
    description: "The body of a webhook. `event_type` decides what `data` holds.",
    oneOf: webhookEvents.map((event) => refTo(eventName(event))),
    discriminator: {
      propertyName: "event_type",
      mapping: Object.fromEntries(webhookEvents.map((event) => [event, refTo(eventName(event)).$ref])),
    },
    examples: webhookEvents.map(sampleOf),
  },
  WebhookData: {
    description: "The `data` of an event.",
    anyOf: webhookEvents.map((event) => refTo(dataName(event))),
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
            content: { "application/json": { schema: refTo(eventName(event)), example: sampleOf(event) } },
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
