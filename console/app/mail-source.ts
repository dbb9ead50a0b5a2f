// Reads the source of a mail as a mailbox does, as far as the service writes it (shared/rules/mail-parts.ts).

/** What counts an open: it is invisible, and a look at the outbox opens no mail. */
const PIXEL = /<img data-part="open" [^>]*>/;

/** The HTML part as it was sent, with its footer and without its pixel; undefined where the source has none. */
export function htmlOfSource(source: string): string | undefined {
  const boundary = /boundary="?([^";\r\n]+)"?/i.exec(source)?.[1];
  const part = boundary && source.split(`--${boundary}`).find((one) => /^\r\nContent-Type: text\/html/i.test(one));
  if (!part) return undefined;
  const end = part.indexOf("\r\n\r\n");
  const content = part.slice(end + 4).replace(/\r\n$/, "");
  const isQuoted = /quoted-printable/i.test(part.slice(0, end));
  const html = isQuoted ? ofQuotedPrintable(content) : content;
  return html.replaceAll("\r\n", "\n").replace(PIXEL, "");
}

function ofQuotedPrintable(text: string): string {
  const bytes = text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return textOf(bytes);
}

const textOf = (bytes: string): string =>
  new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));

const WORD = /=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=/gi;

/** A header as it is read, in one line: words with letters beyond ASCII are encoded in it, and nothing stands between two. */
export const ofEncodedWords = (header: string): string =>
  header
    .replaceAll(/\r\n(?=[ \t])/g, "")
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(WORD, (_, word: string) => textOf(atob(word)));

/** What a mail loads by itself, but for one image that is in it. An escape of CSS may hide any of these. */
const LOADED =
  /\b(?:src|background|poster)\s*=(?!\s*["']?data:)|\bsrcset\s*=|url\((?!\s*["']?data:)|image-set\(|<image\b|\\[0-9a-f]/i;

/**
 * Whether somebody outside may learn that a mail is looked at: images that the workspace keeps here tell nobody.
 * @param origin where the workspace keeps them
 */
export const loadsRemote = (html: string, origin: string): boolean =>
  LOADED.test(html.replaceAll(`${origin}/assets/`, "data:"));
