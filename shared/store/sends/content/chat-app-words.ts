// The text of an approved template in place of title and body in the chat app (AMB-90), filled for a recipient, for
// previews and explanations. The provider makes the sent text from the same values.
import { isBlank } from "../../../rules/characters.ts";
import { filledBody } from "../../../rules/chat-app-template-states.ts";
import { compileTemplate, type RenderScope } from "../../../rules/render.ts";
import { chatAppOf } from "../../channels/chat-app-content.ts";
import { ChatAppTemplateItem } from "../../channels/items.ts";
import type { StoreReader } from "../../context.ts";
import { type Arm, attempted } from "./arms.ts";
import type { RenderedTexts, Renderer } from "./texts.ts";

interface WordsContext {
  arm: Arm;
  scope: RenderScope;
  /** In milliseconds. */
  now: number;
}

export interface FilledTemplate {
  kind: "template";
  body: string;
  /** The values of its variables. */
  parameters: string[];
  /** Dotted paths of the variables without a value, each once. */
  unknown: string[];
  /** The provider takes no variable without a text. */
  isBlank: boolean;
  isApproved: boolean;
}

/** Undefined where title and body are sent; `failed` for a template that is gone or cannot be filled. */
export type ChatAppWords = (seen: WordsContext) => FilledTemplate | { kind: "failed" } | undefined;

/** @param via the channels among which the templates are */
export async function chatAppWords(
  store: StoreReader,
  via: readonly { id: string; type: string }[],
  said: Parameters<typeof chatAppOf>[0],
): Promise<ChatAppWords> {
  const arms = [undefined, "a", "b"] as const;
  const ids = [...new Set(arms.flatMap((arm) => chatAppOf(said, arm)?.template_id ?? []))];
  const channels = via.filter(({ type }) => type === "chat_app");
  const keys = channels.flatMap(({ id: channel }) => ids.map((id) => ({ channel, id })));
  const rows = keys.length === 0 ? [] : await store.getAll(ChatAppTemplateItem, keys);
  const templates = new Map(rows.flatMap((row) => (row ? [[row.id, row]] : [])));
  return ({ arm, scope, now }) => {
    const content = chatAppOf(said, arm);
    if (!content) return undefined;
    const template = templates.get(content.template_id);
    const filled = attempted(() =>
      content.parameters.map((text) => compileTemplate(text).render(scope, { now, escape: "none" })),
    );
    if (!template || !filled) return { kind: "failed" };
    const parameters = filled.map(({ text }) => text);
    return {
      kind: "template",
      body: filledBody(template.body, parameters),
      parameters,
      unknown: [...new Set(filled.flatMap(({ unknown }) => unknown))],
      isBlank: parameters.some(isBlank),
      isApproved: template.status === "approved",
    };
  };
}

/** The message on one channel. */
export type Shown = FilledTemplate | { kind: "texts"; texts: RenderedTexts } | { kind: "failed" };

export function shownOn(
  channel: Parameters<Renderer["renderScope"]>[2],
  { renderer, chatApp }: { renderer: Renderer; chatApp: ChatAppWords },
  seen: WordsContext,
): Shown {
  const template = channel === "chat_app" ? chatApp(seen) : undefined;
  if (template) return template;
  const texts = renderer.renderScope(seen.arm, seen.scope, channel);
  return texts ? { kind: "texts", texts } : { kind: "failed" };
}

type Words = { title: string | null; body: string | null; unknown: string[]; data?: RenderedTexts["data"] };

/** Its words; null where there are none. */
export function wordsOf(shown: Shown): Words {
  if (shown.kind === "failed") return { title: null, body: null, unknown: [] };
  return shown.kind === "texts" ? shown.texts : { title: null, body: shown.body, unknown: shown.unknown };
}
