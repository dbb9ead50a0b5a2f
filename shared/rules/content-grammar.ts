// The grammar of content by channel (CHC-1), made of the fields of each kind of content.
import { channelFields } from "./channel-content.ts";
import { type ChannelClass, channelTypes, classOf, kindOf } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { type ContentField, type ContentKind, contentKinds } from "./content-kinds.ts";
import {
  described,
  type Grammar,
  type GrammarProblem,
  list,
  type NamedGrammar,
  named,
  namedObject,
  number,
  object,
  problemsIn,
  text,
} from "./grammar.ts";
import { URL_LENGTH } from "./safe-url.ts";

const MAX_BUTTON_ID = 64;
const MAX_BUTTON_TITLE = 200;

const button = (url: Grammar): Grammar =>
  object({
    fields: {
      id: text({ about: "How a report names it, once a message", min: 1, max: MAX_BUTTON_ID }),
      title: text({ about: "The text of the button", min: 1, max: MAX_BUTTON_TITLE }),
      url,
    },
    required: ["id", "title", "url"],
  });
const openingButton = button(
  text({ about: "What a tap opens: http, https or an address of the app", min: 1, max: URL_LENGTH }),
);
const dismissingButton = button(
  text({
    about: "What a tap opens: http, https or an address of the app. An empty one dismisses the message",
    max: URL_LENGTH,
  }),
);

function grammarOf(field: ContentField): Grammar {
  const { about } = field;
  switch (field.kind) {
    case "text":
    case "kept":
      return text({ about, min: 1, [field.unit === "bytes" ? "maxBytes" : "max"]: field.max });
    case "link":
    case "image":
      return text({ about, min: 1, max: URL_LENGTH });
    case "integer":
      return number({ about, min: 0, max: field.max });
    case "buttons":
      return list({ about, of: field.mayDismiss ? dismissingButton : openingButton, max: field.max });
    case "texts":
      return list({ about, of: text({ min: 1, max: field.maxLength }), max: field.max });
  }
}

const classes = Object.keys(channelFields) as ChannelClass[];
const aboutOf = (name: ChannelClass): string => {
  const type = channelTypes.find((channelType) => classOf(channelType) === name);
  return type ? channels[type].content.about : "";
};
const pascal = (name: string) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The content of a kind, named after the first class that has it. */
function contentOf(kind: ContentKind): NamedGrammar {
  const first = classes.find((name) => kindOf(name) === kind)!;
  const fields = Object.entries<ContentField>(contentKinds[kind]);
  const required = fields.flatMap(([name, field]) => (field.required ? [name] : []));
  return named(
    `${pascal(first)}Content`,
    object({
      about: `${aboutOf(first)}.`,
      fields: Object.fromEntries(fields.map(([name, field]) => [name, grammarOf(field)])),
      ...(required.length > 0 && { required, missing: "is required" }),
    }),
  );
}

const kinds = new Map((Object.keys(contentKinds) as ContentKind[]).map((kind) => [kind, contentOf(kind)]));
export const contentGrammars: readonly NamedGrammar[] = [...kinds.values()];

/** The shape of `by_channel`: fields, types and lengths, but neither Liquid nor URLs. */
export const ContentByChannel = namedObject("ContentByChannel", {
  about: "What some channels say instead of title and body. What a channel leaves out falls back to those.",
  fields: Object.fromEntries(
    classes.map((name) => [name, described({ about: aboutOf(name) }, kinds.get(kindOf(name))!)]),
  ),
  stranger: `must be one of ${classes.join(", ")}`,
});

/** `["push", "buttons", 0, "url"]`: below `by_channel`. */
export type ContentProblem = Pick<GrammarProblem, "path" | "reason">;

/** The problems in the shape of `by_channel`. */
export const contentProblems = (value: unknown): ContentProblem[] => problemsIn(ContentByChannel, value);
