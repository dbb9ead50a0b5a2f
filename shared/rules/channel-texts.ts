// Liquid and URLs in the content of channels (CHC-1), and texts without HTML (CHC-2).
import { type ByChannel, channelFields } from "./channel-content.ts";
import { BLANK, isBlank } from "./characters.ts";
import type { ContentProblem } from "./content-grammar.ts";
import type { ContentField } from "./content-kinds.ts";
import { validateTemplate } from "./render.ts";
import { checkUrlTemplate } from "./safe-url.ts";

/** The problems of texts and URLs in content of valid shape. */
export function textProblems(content: ByChannel): ContentProblem[] {
  return Object.entries(content).flatMap(([name, values]) =>
    Object.entries(values).flatMap(([field, value]): ContentProblem[] => {
      const declared = channelFields[name as keyof ByChannel][field];
      return declared ? problemsOf(declared, value, [name, field]) : [];
    }),
  );
}

function problemsOf(field: ContentField, value: unknown, path: ContentProblem["path"]): ContentProblem[] {
  const judged = (text: unknown, at: ContentProblem["path"], kind?: "link" | "image"): ContentProblem[] => {
    if (typeof text !== "string") return [];
    const isBlankTitle = field.kind === "text" && field.leads === true && isBlank(text);
    const reason = isBlankTitle ? BLANK : (validateTemplate(text) ?? (kind && checkUrlTemplate(text, kind)));
    return reason === undefined ? [] : [{ path: at, reason }];
  };
  switch (field.kind) {
    case "text":
      return judged(value, path);
    case "link":
    case "image":
      return judged(value, path, field.kind);
    case "texts":
      return (value as unknown[]).flatMap((item, i) => judged(item, [...path, i]));
    case "buttons": {
      const buttons = value as { id: string; title: string; url: string }[];
      if (new Set(buttons.map(({ id }) => id)).size < buttons.length)
        return [{ path, reason: "must not repeat an id" }];
      return buttons.flatMap(({ title, url }, i) => [
        ...judged(title, [...path, i, "title"]),
        ...(url === "" ? [] : judged(url, [...path, i, "url"], "link")),
      ]);
    }
    default:
      return [];
  }
}

const LINE_TAG = /<(?:br(?:\s*\/)?|\/(?:p|div|h[1-6]|li|tr|table|ul|ol|blockquote))\s*>/gi;
/** Attributes have values, unless the name of the tag is not a word: `a <b and c> d` has no tag. */
const NAMED =
  "a|abbr|b|big|blockquote|body|br|center|code|div|em|font|footer|h[1-6]|head|header|html|i|label|li|main|mark|p|pre|s|section|small|span|strike|strong|style|sub|sup|title|tt|u";
const OTHERS = "hr|img|ol|script|table|tbody|td|tfoot|th|thead|tr|ul";
const TAG = new RegExp(
  `</?(?:(?:${NAMED})(?:\\s*|\\s[^<>=]{0,200}=[^<>]{0,2000})|(?:${OTHERS})(?:\\s*|\\s[^<>]{0,2000}))/?>`,
  "gi",
);

/** A text without HTML tags: ends of paragraphs and lines become line breaks. A `<` that opens no tag stays. */
export function withoutTags(text: string): string {
  if (!text.includes("<")) return text;
  return text.replaceAll(LINE_TAG, "\n").replaceAll(TAG, "").trim();
}

/** The text of a message: its title is the first line, between two `mark`s. */
export const titledText = ({ title, body }: { title: string; body: string }, mark = ""): string =>
  title ? `${mark}${title.replaceAll(/\s+/g, " ")}${mark}\n${body}` : body;
