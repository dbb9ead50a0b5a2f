// The mail that asks to confirm an opt-in. It is rendered as all content is: nothing in it may look like a variable.
import { CONFIRM_LINK } from "../../../shared/rules/mail-body.ts";
import type { Translation } from "../../../shared/rules/translations.ts";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
const plain = (text: string): string => text.replaceAll(/[{}%]/g, "").trim();

/** @param options.topic the name of the topic that it is about, if it is about one */
export function mailThatAsks(
  words: Translation,
  { sender, topic }: { sender: string; topic: string | undefined },
): { subject: string; text: string; html: string } {
  const what = topic === undefined ? plain(sender) : `${plain(sender)}: ${plain(topic)}`;
  const { confirm, confirmAsk, confirmIgnore } = words;
  return {
    subject: `${confirm}: ${what}`,
    text: `${confirmAsk}\n\n${what}\n\n${CONFIRM_LINK}\n\n${confirmIgnore}`,
    html:
      `<p>${escaped(confirmAsk)}</p><p><strong>${escaped(what)}</strong></p>` +
      `<p><a href="${CONFIRM_LINK}">${escaped(confirm)}</a></p><p>${escaped(confirmIgnore)}</p>`,
  };
}
