// The content of channels (CHC-1). The schema is made of the fields that shared/rules/channel-content.ts checks.
import {
  type ContentClass,
  type ContentField,
  channelFields,
  MAX_BUTTON_ID,
  MAX_BUTTON_TITLE,
} from "../../../shared/rules/channel-content.ts";
import { URL_LENGTH } from "../../../shared/rules/safe-url.ts";
import { EXAMPLE_ID } from "../examples.ts";
import type { JsonSchema } from "../json-schema.ts";

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const component: Record<ContentClass, string> = {
  email: "EmailContent",
  sms: "SmsContent",
  push: "PushContent",
  web_push: "PushContent",
  in_app: "InAppContent",
  chat_app: "ChatAppContent",
};

const about: Record<ContentClass, string> = {
  email: "What an e-mail says",
  sms: "What an SMS says",
  push: "What a push to a phone says",
  web_push: "What a push to a browser says",
  in_app: "What a message of the inbox says",
  chat_app: "The approved template that the chat app sends",
};

const ownTitle = "The title, with the Liquid subset. Default: `title` of the message";
const image = "An http or https address, of an uploaded asset for example";

const push: Record<string, string> = {
  title: ownTitle,
  body: "The text, with the Liquid subset. Default: `body` of the message as plain text",
  image_url: image,
  url: "What a tap on the message opens",
  buttons: "At most two. A tap is reported as `action_tapped`",
  sound: "The name of a sound in the app. Default: `default`",
  badge: "The number at the icon of the app; 0 removes it",
  collapse_key: "A message replaces an earlier one of the same key on the device. Default: the id of the notification",
  ttl_seconds: "How long the push service keeps it for a device that is offline; 0: it is delivered now or never",
};

const sentences: Record<ContentClass, Record<string, string>> = {
  email: {
    subject: "The subject, with the Liquid subset. Default: `title` of the message",
    preheader: "What a mailbox shows after the subject",
    html: "The HTML. Default: made of `text`, else of `body` of the message",
    text: "The plain text. Default: made of `html`, else of `body` of the message",
  },
  sms: { body: "The whole text. Default: title and body of the message as plain text" },
  push,
  web_push: push,
  in_app: {
    title: ownTitle,
    body: "The text, with the Liquid subset. Default: `body` of the message",
    image_url: image,
    actions: "The buttons, at most four",
  },
  chat_app: {
    template_id: "An approved template of the chat app",
    parameters: "What fills its variables, in order, with the Liquid subset. Default: none",
  },
};

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

function schemaOf(field: ContentField, description = ""): JsonSchema {
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

const examples: Record<ContentClass, unknown[]> = {
  email: [
    {
      subject: "20 % off for {{ subscriber.first_name }}",
      preheader: "Until Sunday",
      html: "<h1>The sale has begun</h1>",
    },
    { subject: "Your receipt", text: "Thank you. Your order: https://shop.example.com/orders/4711" },
    { html: "<p>Hello</p>", text: "Hello" },
  ],
  sms: [
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
  web_push: [],
  in_app: [
    { title: "Welcome", image_url: "https://shop.example.com/hello.png" },
    { actions: [{ id: "shop", title: "To the shop", url: "https://shop.example.com" }] },
    { body: "Anything missing?", actions: [{ id: "no", title: "No", url: "" }] },
  ],
  chat_app: [
    { template_id: EXAMPLE_ID, parameters: ["{{ subscriber.first_name }}"] },
    { template_id: EXAMPLE_ID },
    { template_id: EXAMPLE_ID, parameters: [] },
  ],
};

const schemas = Object.fromEntries(
  Object.entries(channelFields)
    .filter(([name]) => name !== "web_push")
    .map(([name, fields]): [string, JsonSchema] => {
      const required = Object.keys(fields).filter((field) => fields[field]?.required);
      const schema: JsonSchema = {
        type: "object",
        description: `${about[name as ContentClass]}.`,
        properties: Object.fromEntries(
          Object.entries(fields).map(([field, one]) => [field, schemaOf(one, sentences[name as ContentClass][field])]),
        ),
        ...(required.length > 0 && { required }),
        additionalProperties: false,
        examples: examples[name as ContentClass],
      };
      return [component[name as ContentClass], schema];
    }),
);

export const contents: Record<string, JsonSchema> = {
  ContentByChannel: {
    type: "object",
    description: "What some channels say instead of title and body. What a channel leaves out falls back to those.",
    properties: Object.fromEntries(
      Object.keys(channelFields).map((name) => [
        name,
        { ...ref(component[name as ContentClass]), description: about[name as ContentClass] },
      ]),
    ),
    additionalProperties: false,
    examples: [
      { email: examples.email[0], sms: examples.sms[1] },
      { push: examples.push[1], web_push: examples.push[0], in_app: examples.in_app[1] },
      { chat_app: examples.chat_app[0], in_app: examples.in_app[2], push: examples.push[2] },
    ],
  },
  ...schemas,
};
