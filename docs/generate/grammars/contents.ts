// The content of channels (CHC-1). The schema is made of the fields that shared/rules/channel-content.ts checks.
import { pascal } from "../../../shared/http/operation-names.ts";
import { MAX_BUTTON_ID, MAX_BUTTON_TITLE } from "../../../shared/rules/channel-content.ts";
import type { ContentField } from "../../../shared/rules/channel-fields.ts";
import { channels } from "../../../shared/rules/channels.ts";
import { type ContentKind, contentKinds } from "../../../shared/rules/content-kinds.ts";
import { URL_LENGTH } from "../../../shared/rules/safe-url.ts";
import { EXAMPLE_ID } from "../examples.ts";
import type { JsonSchema } from "../json-schema.ts";

/** Each kind with the classes of channels whose messages are of it: its component is named after the first. */
const kinds = (Object.keys(contentKinds) as ContentKind[]).map((kind) => {
  const found = Object.values(channels).filter(({ content }) => content.kind === kind);
  const classes = new Map(found.toReversed().map((channel) => [channel.class, channel.content.about]));
  const abouts = [...classes].toReversed();
  return { kind, abouts, component: `${pascal(found[0]?.class ?? kind)}Content` };
});

const urlAbout = "What a tap opens: http, https or an address of the app";

const button = (mayDismiss: boolean): JsonSchema => ({
  type: "object",
  properties: {
    id: {
      type: "string",
      minLength: 1,
      maxLength: MAX_BUTTON_ID,
      description: "How a report names it, once a message",
    },
    title: { type: "string", minLength: 1, maxLength: MAX_BUTTON_TITLE, description: "The text of the button" },
    url: mayDismiss
      ? { type: "string", maxLength: URL_LENGTH, description: `${urlAbout}. An empty one dismisses the message` }
      : { type: "string", minLength: 1, maxLength: URL_LENGTH, description: urlAbout },
  },
  required: ["id", "title", "url"],
  additionalProperties: false,
});

function schemaOf(field: ContentField): JsonSchema {
  const description = field.about;
  switch (field.kind) {
    case "text":
      return { type: "string", minLength: 1, maxLength: field.max, description };
    case "link":
    case "image":
      return { type: "string", minLength: 1, maxLength: URL_LENGTH, description };
    case "integer":
      return { type: "integer", minimum: 0, maximum: field.max, description };
    case "buttons":
      return { type: "array", items: button(field.mayDismiss), maxItems: field.max, description };
    case "texts":
      return {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: field.maxLength },
        maxItems: field.max,
        description,
      };
  }
}

const examples: Record<ContentKind, unknown[]> = {
  mail: [
    {
      subject: "20 % off for {{ subscriber.first_name }}",
      preheader: "Until Sunday",
      html: "<h1>The sale has begun</h1>",
    },
    { subject: "Your receipt", text: "Thank you. Your order: https://shop.example.com/orders/4711" },
    { html: "<p>Hello</p>", text: "Hello" },
  ],
  text: [
    { body: "Your code is {{ data.code }}." },
    { body: "The sale has begun." },
    { body: "Your parcel arrives today." },
  ],
  push: [
    {
      title: "The sale has begun",
      image_url: "https://shop.example.com/sale.jpg",
      url: "https://shop.example.com/sale",
    },
    {
      body: "Your table is booked.",
      buttons: [
        { id: "route", title: "Route", url: "https://maps.example.com/4711" },
        { id: "cancel", title: "Cancel", url: "myapp://bookings/4711/cancel" },
      ],
      collapse_key: "booking-4711",
    },
    { sound: "chime.caf", badge: 1, ttl_seconds: 3_600 },
  ],
  card: [
    { title: "Welcome", image_url: "https://shop.example.com/hello.png" },
    { actions: [{ id: "shop", title: "To the shop", url: "https://shop.example.com" }] },
    { body: "Anything missing?", actions: [{ id: "no", title: "No", url: "" }] },
  ],
  template: [
    { template_id: EXAMPLE_ID, parameters: ["{{ subscriber.first_name }}"] },
    { template_id: EXAMPLE_ID },
    { template_id: EXAMPLE_ID, parameters: [] },
  ],
};

const schemas = Object.fromEntries(
  kinds.map(({ kind, component, abouts }): [string, JsonSchema] => {
    const fields: Record<string, ContentField> = contentKinds[kind];
    const required = Object.keys(fields).filter((field) => fields[field]?.required);
    const schema: JsonSchema = {
      type: "object",
      description: `${abouts[0]?.[1]}.`,
      properties: Object.fromEntries(Object.entries(fields).map(([field, one]) => [field, schemaOf(one)])),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      examples: examples[kind],
    };
    return [component, schema];
  }),
);

export const contents: Record<string, JsonSchema> = {
  ContentByChannel: {
    type: "object",
    description: "What some channels say instead of title and body. What a channel leaves out falls back to those.",
    properties: Object.fromEntries(
      kinds.flatMap(({ component, abouts }) =>
        abouts.map(([name, description]) => [name, { $ref: `#/components/schemas/${component}`, description }]),
      ),
    ),
    additionalProperties: false,
    examples: [
      { email: examples.mail[0], sms: examples.text[1] },
      { push: examples.push[1], web_push: examples.push[0], in_app: examples.card[1] },
      { chat_app: examples.template[0], in_app: examples.card[2], push: examples.push[2] },
    ],
  },
  ...schemas,
};
