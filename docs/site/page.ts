// A page of the documentation: its document, its style and its content policy. Pages share the style and the script.
import type { OpenApi } from "../generate/openapi.ts";

export const STYLE = `
:root{color-scheme:light dark;--page:light-dark(#fff,#101217);--surface:light-dark(#f5f6f8,#181b21);--line:light-dark(#d7dbe2,#323844);--edge:light-dark(#7d8595,#7b8596);--text:light-dark(#191c22,#e8eaee);--muted:light-dark(#565e6c,#a5adba);--accent:light-dark(#2c55c9,#8fadff);--good:light-dark(#17703f,#5fca90);--warn:light-dark(#7d5000,#e2b455);--bad:light-dark(#ab2118,#ff8d7d)}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;font:14px/20px system-ui,sans-serif;background:var(--page);color:var(--text)}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
nav{position:fixed;inset:0 auto 0 0;width:264px;display:flex;flex-direction:column;gap:8px;padding:16px 0 0 16px;background:var(--surface);border-right:1px solid var(--line);font-size:13px;line-height:18px}
nav b{display:block;margin:16px 0 4px;color:var(--muted)}nav p{margin:0;color:var(--muted)}
.bar{display:flex;gap:8px;margin-right:16px}.bar button{display:none}
input,textarea,button{min-width:0;padding:6px 8px;font:inherit;border:1px solid var(--edge);border-radius:6px;background:var(--page);color:inherit}.bar input{flex:1}button{cursor:pointer}
.list{overflow:auto;padding:0 16px 16px 0}.list a{display:block;padding:3px 0;color:var(--text);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
[hidden]{display:none!important}
main{margin-left:264px;padding:24px 32px 96px;max-width:1280px}
h1{margin-top:0;font-size:20px;line-height:28px}h2{margin-top:48px;padding-bottom:8px;border-bottom:1px solid var(--line);font-size:20px;line-height:28px}h3{margin:32px 0 4px;font-size:16px;line-height:24px}h4{margin:16px 0 4px;font-size:14px}
h1 a,h2 a,h3 a,h4 a{margin-left:8px;opacity:0}h1:hover a,h2:hover a,h3:hover a,h4:hover a,h1 a:focus,h2 a:focus,h3 a:focus,h4 a:focus{opacity:1}
code,pre,textarea{font:13px/18px ui-monospace,monospace}p,h3,li,summary{overflow-wrap:anywhere}code{background:var(--surface);padding:0 3px;border-radius:3px}
pre,textarea{background:var(--surface);padding:12px;overflow:auto;border:1px solid var(--line);border-radius:6px;margin:4px 0}textarea{width:100%;min-height:128px}
pre code{padding:0;background:none}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:8px 0;font-variant-numeric:tabular-nums}
td,th{border:1px solid var(--line);padding:4px 8px;text-align:left;vertical-align:top}th{background:var(--surface)}
details{margin:4px 0}summary{cursor:pointer}.dim{color:var(--muted)}
.fields{margin:4px 0;padding:0;list-style:none;border-top:1px solid var(--line)}.fields>li{padding:8px 0;border-bottom:1px solid var(--line)}.fields .fields{margin-left:16px}.fields p{margin:2px 0 0}
.pair{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 32px}.pair>div:last-child{position:sticky;top:16px;align-self:start;max-height:94vh;overflow:auto}
.pair>div:last-child pre{white-space:pre-wrap;overflow-wrap:anywhere}.row{display:flex;gap:8px;margin:4px 0}.row input{flex:1}.found{box-shadow:-8px 0 0 var(--page),-11px 0 0 var(--accent)}
.verb{display:inline-block;min-width:56px;padding:0 6px;border:1px solid currentColor;border-radius:6px;font:600 12px/18px ui-monospace,monospace;text-align:center}
.GET,.HEAD{color:var(--good)}.POST{color:var(--accent)}.DELETE{color:var(--bad)}.PATCH,.PUT{color:var(--warn)}
@media(max-width:1024px){.pair{display:block}.pair>div:last-child{position:static;max-height:none}}
@media(max-width:50rem){
html{scroll-padding-top:80px}
nav{position:sticky;inset:0 auto auto 0;z-index:1;width:auto;max-height:70vh;padding:8px 16px;border:0;border-bottom:1px solid var(--line)}nav>a{display:none}
.bar{margin:0}.bar button{display:block}.bar input,.bar button{font-size:16px}
.list{display:none;padding:0}.open .list{display:block}.list a{padding:6px 0;white-space:normal}
main{margin:0;padding:16px}
}
`;

/** A guide as the documentation shows it. */
export interface Guide {
  /** The name of its file in docs/guides. */
  name: string;
  title: string;
  /** Markdown. */
  text: string;
}

/** What a page shows, and what its script builds it from. */
export interface PageData {
  page: { kind: "index" | "guide" | "overview" | "tag" | "webhooks"; href: string; name: string; about?: string };
  /** The part of the OpenAPI document that the page is about, with what it refers to. */
  doc: Partial<OpenApi>;
  guide?: Guide;
}

/** The content security policy of all pages: files and requests of the service itself, and nothing inline. */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** `<` is escaped, so that no text in the data can become a tag. */
export const pageOf = (data: PageData, style: string, scripts: readonly string[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${data.page.name} · Guides and API reference</title>
<link rel="stylesheet" href="${style}">
${scripts.map((path) => `<script defer src="${path}"></script>\n`).join("")}<nav aria-label="Operations"></nav>
<main></main>
<script type="application/json" id="document">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
</html>
`;
