// A design as the HTML of a mail: tables, styles at each element, conditions of Outlook, and a dark variant.
import { MAX_DESIGN_BYTES, MAX_HTML_BYTES } from "../../shared/rules/content-kinds.ts";
import { onColour } from "./colours.ts";
import { type Block, type Design, fonts, type MailTheme } from "./design.ts";
import { contentOf, paddingOf } from "./kinds.ts";
import { table } from "./markup.ts";

/** The width of the card; narrower windows get narrower ones. */
const WIDTH = 600;

const DARK = "@media (prefers-color-scheme:dark)";

/** What mailbox programs do not read in a style of an element. */
const STYLES = `
body{margin:0;padding:0;width:100%!important}
img{-ms-interpolation-mode:bicubic}
@media (max-width:640px){
.outer{padding:0!important}
.card{border-radius:0!important}
}
@media (max-width:520px){
.side{padding-left:20px!important;padding-right:20px!important}
.col{max-width:100%!important;margin-right:0!important}
}
${DARK}{
.page{background:#101217!important}
.card{background:#1b1f27!important}
.t{color:#eceef2!important}
.m{color:#a5adba!important}
.a,.l a,.t a{color:#9db7ff!important}
.l{border-color:#9db7ff!important}
.d{border-color:#3a4150!important}
}`.replaceAll("\n", "");

/** In the editor each block has its id, and the chosen one a frame. */
interface Editing {
  chosen?: string | undefined;
}

/** Where a block has nothing to show yet. It is left out of what is sent. */
const NOTHING =
  '<p class="m" style="margin:0;padding:40px 16px;border:2px dashed #9aa3b2;text-align:center;font:14px/20px Arial,sans-serif;color:#616875">An image</p>';

export function mailHtml({ look, blocks }: Design, editing?: Editing): string {
  const rows = blocks.map((block) => rowHtml(block, look, editing)).join("");
  const card = table(
    rows,
    `class="card" width="100%" style="max-width:${WIDTH}px;margin:0 auto;background:${look.card};border-radius:${look.radius}px;overflow:hidden"`,
  );
  const around = `<!--[if mso]><table role="presentation" width="${WIDTH}" align="center" cellpadding="0" cellspacing="0"><tr><td><![endif]-->${card}<!--[if mso]></td></tr></table><![endif]-->`;
  const page = table(
    `<tr><td class="outer" align="center" style="padding:24px 12px">${around}</td></tr>`,
    `class="page" width="100%" bgcolor="${look.page}" style="background:${look.page};font-family:${fonts[look.font]}"`,
  );
  return `<!doctype html><html lang="en" xmlns:o="urn:schemas-microsoft-com:office:office"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]--><style>${STYLES}</style></head><body class="page" style="margin:0;padding:0;background:${look.page}">${page}</body></html>`;
}

/** The number of the block that a place of the HTML is in; -1 where it is in none. */
export function blockAt(design: Design, place: number): number {
  const rows = design.blocks.map((block) => rowHtml(block, design.look, undefined));
  const start = mailHtml(design).indexOf(rows.join(""));
  let end = start;
  return rows.findIndex((row) => {
    end += row.length;
    return place >= start && place < end;
  });
}

/** The classes by which colours follow a dark mailbox. */
const FOLLOWING = / ?class="[tmal]"/g;

function rowHtml(block: Block, look: MailTheme, editing: Editing | undefined): string {
  const [vertical, side] = paddingOf(block);
  const { back } = block;
  const content = (back ? onBack(block, look, back) : contentOf(block, look)) || (editing && NOTHING);
  if (!content) return "";
  const chosen =
    editing?.chosen === block.id
      ? "outline:2px solid #2c55c9;outline-offset:-2px;box-shadow:inset 0 0 0 4px #fffc;"
      : "";
  const id = editing ? ` data-block="${block.id}"` : "";
  const colour = back ? ` bgcolor="${back}"` : "";
  const padding = back && block.type !== "spacer" ? vertical + 6 : vertical;
  const style = `${back ? `background:${back};` : ""}${chosen}padding:${padding}px ${side}px`;
  return `<tr><td class="side"${id}${colour} style="${style}">${content}</td></tr>`;
}

/** On a background of its own a block has one colour of text, in the dark too. */
function onBack(block: Block, look: MailTheme, back: string): string {
  const text = onColour(back);
  return contentOf(block, { ...look, text, accent: text }).replaceAll(FOLLOWING, "");
}

/** The same as a mailbox shows it that is dark, or that is light, whatever this machine is. */
export const inTheme = (html: string, isDark: boolean): string =>
  html.replace(DARK, isDark ? "@media all" : "@media not all");

export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Whether the service would refuse a mail for its size. */
export const isTooLarge = (html: string, design: Design): boolean =>
  bytesOf(html) > MAX_HTML_BYTES || bytesOf(JSON.stringify(design)) > MAX_DESIGN_BYTES;

const VARIABLE = /\{\{\s*([\w.]+)[^}]*?\}\}/g;
const FALLBACK = /default:\s*(?:'([^']*)'|"([^"]*)")/;

/** What stands for variables while a mail is designed: the fallback of one that has it, else its name. */
export const sampled = (text: string): string =>
  text.replaceAll(VARIABLE, (whole, path: string) => {
    const [, single, double] = FALLBACK.exec(whole) ?? [];
    return single ?? double ?? (path.split(".").at(-1) ?? path).replaceAll("_", " ");
  });
