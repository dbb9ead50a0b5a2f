// The kinds of messages, and the fields of each that a channel may set in place of title and body (CHC-1).

/** A field of content. With a `label`, the console's editor asks for it. */
export type ContentField = {
  required?: true;
  /** The description in the reference. */
  about: string;
  label?: string;
  hint?: string;
  /** The text that a reader sees first: in a test send it is marked. */
  leads?: true;
} & (
  | { kind: "text"; max: number; unit?: "bytes"; rows?: number; isCode?: true }
  | { kind: "link" | "image" }
  /** Kept for an editor as it is: neither rendered nor sent. */
  | { kind: "kept"; max: number; unit: "bytes" }
  | { kind: "integer"; max: number }
  | { kind: "buttons"; max: number; mayDismiss: boolean }
  | { kind: "texts"; max: number; maxLength: number }
);

/** The limit of APNs, in bytes. */
export const MAX_COLLAPSE_KEY = 64;
/** The limits of a mail, and of the design it was made from, in bytes of UTF-8 (docs/decisions/0104). */
export const MAX_HTML_BYTES = 204_800;
export const MAX_DESIGN_BYTES = 102_400;
/** Above this the largest mailbox provider clips a mail. */
export const CLIPPED_BYTES = 102 * 1_024;
/** FCM and APNs keep a message for at most four weeks. */
const MAX_TTL_SECONDS = 2_419_200;

const title = {
  kind: "text",
  max: 1_000,
  leads: true,
  label: "Title",
  about: "The title, with the Liquid subset. Default: `title` of the message",
} as const;
const body = { kind: "text", max: 10_000, label: "Body", rows: 4 } as const;
const image = {
  kind: "image",
  label: "Image URL",
  about: "An http or https address, of an uploaded asset for example",
} as const;

const mail = {
  subject: {
    ...title,
    label: "Subject",
    about: "The subject, with the Liquid subset. Default: `title` of the message",
  },
  preheader: {
    kind: "text",
    max: 500,
    label: "Preheader",
    hint: "What an inbox shows after the subject.",
    about: "What a mailbox shows after the subject",
  },
  html: {
    kind: "text",
    max: MAX_HTML_BYTES,
    unit: "bytes",
    label: "HTML",
    rows: 8,
    isCode: true,
    about: "The HTML, at most 204,800 bytes of UTF-8. Default: made of `text`, else of `body` of the message",
  },
  design: {
    kind: "kept",
    max: MAX_DESIGN_BYTES,
    unit: "bytes",
    about:
      "What an editor made the HTML of, such as JSON, at most 102,400 bytes of UTF-8. It is stored and returned as it is, and never sent",
  },
  text: {
    kind: "text",
    max: 50_000,
    label: "Plain text",
    rows: 4,
    hint: "For email clients that show no HTML.",
    about: "The plain text. Default: made of `html`, else of `body` of the message",
  },
} as const;

const text = {
  body: { ...body, leads: true, about: "The whole text. Default: title and body of the message as plain text" },
} as const;

const push = {
  title,
  body: { ...body, about: "The text, with the Liquid subset. Default: `body` of the message as plain text" },
  image_url: image,
  url: { kind: "link", label: "URL opened by a tap", about: "What a tap on the message opens" },
  buttons: {
    kind: "buttons",
    max: 2,
    mayDismiss: false,
    about: "At most two. A tap is reported as `action_tapped`",
  },
  sound: { kind: "text", max: 256, about: "The name of a sound in the app. Default: `default`" },
  badge: { kind: "integer", max: 99_999, about: "The number at the icon of the app; 0 removes it" },
  collapse_key: {
    kind: "text",
    max: MAX_COLLAPSE_KEY,
    about: "A message replaces an earlier one of the same key on the device. Default: the id of the notification",
  },
  ttl_seconds: {
    kind: "integer",
    max: MAX_TTL_SECONDS,
    about: "How long the push service keeps it for a device that is offline; 0: it is delivered now or never",
  },
} as const;

const card = {
  title,
  body: { ...body, max: 50_000, about: "The text, with the Liquid subset. Default: `body` of the message" },
  image_url: image,
  actions: { kind: "buttons", max: 4, mayDismiss: true, about: "The buttons, at most four" },
} as const;

const template = {
  template_id: { kind: "text", max: 128, required: true, about: "An approved template of the chat app" },
  parameters: {
    kind: "texts",
    max: 99,
    maxLength: 1_024,
    about: "What fills its variables, in order, with the Liquid subset. Default: none",
  },
} as const;

export const contentKinds = { mail, text, push, card, template } satisfies Record<
  string,
  Readonly<Record<string, ContentField>>
>;
export type ContentKind = keyof typeof contentKinds;
