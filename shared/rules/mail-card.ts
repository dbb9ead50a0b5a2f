// The frame of the service's own mails: a heading, its lines and one button, for light and dark mailboxes.
import { escapeHtml } from "./characters.ts";

interface MailCard {
  lang: string;
  heading: string;
  before: readonly string[];
  button: { label: string; url: string };
  after: readonly string[];
  /** Smaller, below the card's line. */
  notes?: readonly string[];
}

/** Styles that mailbox programs do not read in an element. No brace follows another, because Liquid would read them. */
const STYLES =
  "@media (max-width:640px){ .outer{padding:0!important} .card{border-radius:0!important} .in{padding:28px 20px!important} } " +
  "@media (prefers-color-scheme:dark){ .page{background:#101217!important} .card{background:#1b1f27!important} " +
  ".t{color:#eceef2!important} .m,.m a{color:#a5adba!important} .d{border-color:#3a4150!important} }";

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const ACCENT = "#2c55c9";

const table = (attributes: string, cell: string, content: string): string =>
  `<table role="presentation" cellpadding="0" cellspacing="0" border="0" ${attributes}><tr><td ${cell}>${content}</td></tr></table>`;

const lines = (texts: readonly string[], classes: string, style: string): string =>
  texts
    .map(
      (text) => `<p class="${classes}" style="margin:0 0 16px;overflow-wrap:anywhere;${style}">${escapeHtml(text)}</p>`,
    )
    .join("");

export function cardHtml({ lang, heading, before, button, after, notes = [] }: MailCard): string {
  const url = escapeHtml(button.url);
  const label = `<a href="${url}" style="display:inline-block;padding:12px 22px;color:#ffffff;font-size:16px;line-height:20px;font-weight:600;text-decoration:none">${escapeHtml(button.label)}</a>`;
  const text = "font-size:16px;line-height:24px;color:#191c22";
  const small = "font-size:13px;line-height:20px;color:#565e6c";
  const content =
    `<h1 class="t" style="margin:0 0 16px;overflow-wrap:anywhere;font-size:22px;line-height:28px;color:#191c22">${escapeHtml(heading)}</h1>` +
    lines(before, "t", text) +
    table('style="margin:8px 0 24px"', `bgcolor="${ACCENT}" style="border-radius:6px;background:${ACCENT}"`, label) +
    lines(after, "t", text) +
    `<div class="d" style="margin:8px 0 16px;border-top:1px solid #d7dbe2"></div>` +
    lines(notes, "m", small) +
    `<p class="m" style="margin:0;overflow-wrap:anywhere;${small}"><a href="${url}" style="color:#565e6c">${url}</a></p>`;
  const card = table(
    'class="card" width="100%" style="max-width:560px;margin:0 auto;border-radius:10px;background:#ffffff"',
    'class="in" align="left" style="padding:36px 40px"',
    content,
  );
  const page = table(
    `class="page" width="100%" bgcolor="#f5f6f8" style="background:#f5f6f8;font-family:${FONT}"`,
    'class="outer" align="center" style="padding:32px 12px"',
    `<!--[if mso]><table role="presentation" width="560" align="center"><tr><td><![endif]-->${card}<!--[if mso]></td></tr></table><![endif]-->`,
  );
  return `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><style>${STYLES}</style></head><body class="page" style="margin:0;padding:0;background:#f5f6f8">${page}</body></html>`;
}
