// The reference page: one HTML file with its style, its script and the document. It loads nothing from the network.
import { createHash } from "node:crypto";

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--dim:#777;--link:light-dark(#0b57d0,#8ab4f8)}
*{box-sizing:border-box}
body{margin:0;font:15px/1.55 system-ui,sans-serif;background:Canvas;color:CanvasText}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
nav{position:fixed;inset:0 auto 0 0;width:19rem;display:flex;flex-direction:column;gap:.5rem;padding:1rem 0 0 1rem;background:Canvas;border-right:1px solid var(--line);font-size:13px}
nav b{display:block;margin:.9rem 0 .2rem}nav p{margin:0}
.bar{display:flex;gap:.5rem;margin-right:1rem}.bar button{display:none}
.bar input,.bar button{min-width:0;padding:.4rem;font:inherit;border:1px solid var(--line);border-radius:4px;background:var(--soft);color:inherit}.bar input{flex:1}
.list{overflow:auto;padding:0 1rem 1rem 0}.list a{display:block;padding:.1rem 0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
[hidden]{display:none!important}
main{margin-left:19rem;padding:1.5rem 2.5rem 6rem;max-width:64rem}
h1{margin-top:0}h2{margin-top:3rem;border-bottom:1px solid var(--line)}h3{margin:2.2rem 0 .3rem}h4{margin:1rem 0 .3rem}
code,pre{font:13px/1.45 ui-monospace,monospace}p,h3,li,summary{overflow-wrap:anywhere}code{background:var(--soft);padding:0 .25em;border-radius:3px}
pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:5px;margin:.4rem 0}
table{border-collapse:collapse;display:block;overflow-x:auto;margin:.6rem 0}
td,th{border:1px solid var(--line);padding:.25rem .6rem;text-align:left;vertical-align:top}
details{margin:.3rem 0}summary{cursor:pointer}.dim{color:var(--dim)}
.verb{display:inline-block;min-width:4.2em;padding:0 .4em;border-radius:3px;font:700 12px/1.7 ui-monospace,monospace;text-align:center;background:#8883}
.GET{background:#1a7f3733}.POST{background:#0b57d033}.DELETE{background:#c5221f33}.PATCH,.PUT{background:#b0600033}
@media(max-width:50rem){
nav{position:sticky;inset:0 auto auto 0;z-index:1;width:auto;max-height:70vh;padding:.5rem 1rem;border:0;border-bottom:1px solid var(--line)}nav>a{display:none}
.bar{margin:0}.bar button{display:block}.bar input,.bar button{font-size:16px}
.list{display:none;padding:0}.open .list{display:block}.list a{padding:.4rem 0;white-space:normal}
main{margin:0;padding:1rem}h2,h3{scroll-margin-top:5rem}
}
`;

const SCRIPT = String.raw`
const doc = JSON.parse(document.getElementById("document").textContent);
const make = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children.flat().filter((child) => child !== undefined && child !== ""));
  return node;
};
const inline = (text) =>
  text.split(/(\x60[^\x60]+\x60|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part) =>
    part[0] === "\x60" ? make("code", {}, part.slice(1, -1))
    : part.startsWith("**") ? make("strong", {}, part.slice(2, -2))
    : part[0] === "*" && part.length > 2 ? make("em", {}, part.slice(1, -1)) : part);
const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const markdown = (text) => text.trim().split(/\n{2,}/).map((block) => {
  const lines = block.split("\n");
  if (block.startsWith("## ")) return make("h3", {}, inline(block.slice(3)));
  if (block.startsWith("| ")) {
    const row = (tag) => (line) => make("tr", {}, cells(line).map((cell) => make(tag, {}, inline(cell))));
    return make("table", {}, lines.slice(0, 1).map(row("th")), lines.slice(2).map(row("td")));
  }
  if (block.startsWith("- ")) return make("ul", {}, block.slice(2).split(/\n- /).map((item) => make("li", {}, inline(item))));
  return make("p", {}, inline(lines.join(" ")));
});
const at = (ref) => ref.slice(2).split("/").reduce((value, key) => value[key], doc);
const whole = (part) => (part && part.$ref ? at(part.$ref) : part);
const json = (value) => make("pre", {}, JSON.stringify(value, null, 2));
const typeOf = (schema) => {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const some = schema.oneOf || schema.anyOf;
  if (some) return some.map(typeOf).join(" | ");
  if (schema.type === "array") return typeOf(schema.items || {}) + "[]";
  return [schema.type || "any"].flat().join(" | ") + (schema.format ? " (" + schema.format + ")" : "");
};
const bounds = (schema) => ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "default"]
  .filter((key) => schema[key] !== undefined).map((key) => key + " " + JSON.stringify(schema[key])).join(", ");
const rows = (schema, prefix, depth) => Object.entries((schema && schema.properties) || {}).flatMap(([name, one]) => {
  const required = (schema.required || []).includes(name);
  const inner = depth < 3 ? (one.type === "array" ? one.items : one) : undefined;
  return [make("tr", {}, make("td", {}, make("code", {}, prefix + name), required ? "" : make("span", { className: "dim" }, " optional")),
    make("td", {}, typeOf(one)), make("td", { className: "dim" }, inline([one.description, bounds(one)].filter(Boolean).join(" · "))))]
    .concat(inner && inner.properties ? rows(inner, prefix + name + ".", depth + 1) : []);
});
const fields = (schema) => {
  const resolved = schema && schema.$ref ? at(schema.$ref) : schema;
  const all = rows(resolved, "", 0);
  return all.length ? make("table", {}, all) : make("p", {}, make("code", {}, typeOf(schema || {})));
};
const curl = (method, path, operation) => {
  const kinds = operation.security.map((one) => Object.keys(one)[0]);
  const body = operation.requestBody && operation.requestBody.content["application/json"];
  const query = (operation.parameters || []).filter((one) => one.in === "query" && one.required).map((one) => one.name + "=" + one.example).join("&");
  const target = path.replace(/\{(\w+)\}/g, "$$$1") + (query && "?" + query);
  const origin = location.origin === "null" || location.protocol === "file:" ? "$BASE_URL" : location.origin;
  return ["curl" + (method === "GET" ? "" : " -X " + method) + ' "' + origin + target + '"',
    kinds[0] === "sdk" ? '-H "X-SDK-Key: $SDK_KEY"' : kinds[0] ? '-H "Authorization: Bearer $' + (kinds[0] === "server" ? "SERVER_KEY" : "ACCESS_TOKEN") + '"' : "",
    body && body.example !== undefined ? "-H 'Content-Type: application/json' -d '" + JSON.stringify(body.example).replaceAll("'", "'\\''") + "'" : ""].filter(Boolean).join(" \\\n  ");
};
const answer = ([status, given]) => {
  const response = whole(given);
  const [type, media] = Object.entries(response.content || {})[0] || [];
  const examples = media ? (media.examples ? Object.values(media.examples).map((one) => one.value) : media.example === undefined ? [] : [media.example]) : [];
  return make("details", {}, make("summary", {}, make("b", {}, status), " ", inline(response.description), type && type !== "application/json" ? " · " + type : ""),
    media && status < 400 ? fields(media.schema) : "", examples.map(json));
};
const nav = document.querySelector("nav");
const main = document.querySelector("main");
const search = make("input", { type: "search", placeholder: "Filter by path, summary or group", ariaLabel: "Filter operations" });
const toggle = make("button", { type: "button", ariaExpanded: "false" }, "Menu");
const noMatch = make("p", { role: "status" });
const list = make("div", { className: "list" });
nav.append(make("a", { href: "#top" }, make("strong", {}, doc.info.title)), make("div", { className: "bar" }, search, toggle), noMatch, list);
main.append(make("h1", { id: "top" }, doc.info.title), make("p", { className: "dim" }, "Version ", doc.info.version, " · ", make("a", { href: "openapi.json" }, "openapi.json")), ...markdown(doc.info.description));
const groups = [];
for (const tag of doc.tags) {
  const group = make("div", {}, make("b", {}, tag.name));
  const operations = [];
  list.append(group);
  groups.push({ group, operations });
  main.append(make("h2", { id: tag.name }, tag.name), make("p", {}, tag.description));
  for (const [path, methods] of Object.entries(doc.paths)) for (const [verb, operation] of Object.entries(methods)) {
    if (operation.tags[0] !== tag.name) continue;
    const method = verb.toUpperCase();
    const link = make("a", { href: "#" + operation.operationId, title: method + " " + path }, make("span", { className: "verb " + method }, method), " ", operation.summary);
    group.append(link);
    operations.push([link, [tag.name, method, path, path.replace(/\{(\w+)\}/g, ":$1"), operation.summary].join(" ").toLowerCase()]);
    const body = operation.requestBody && Object.entries(operation.requestBody.content)[0];
    const access = operation.security.map((one) => Object.keys(one)[0]).join(" or ") || "public";
    main.append(make("section", {}, make("h3", { id: operation.operationId }, operation.summary),
      make("p", {}, make("span", { className: "verb " + method }, method), " ", make("code", {}, path), make("span", { className: "dim" }, " · " + access)),
      operation.description ? markdown(operation.description) : "",
      operation.parameters ? [make("h4", {}, "Parameters"), make("table", {}, operation.parameters.map((one) => make("tr", {},
        make("td", {}, make("code", {}, one.name), one.required ? "" : make("span", { className: "dim" }, " optional")), make("td", {}, one.in), make("td", {}, typeOf(one.schema)),
        make("td", { className: "dim" }, inline([one.description, bounds(one.schema)].filter(Boolean).join(" · "))))))] : "",
      body ? [make("h4", {}, "Body ", make("span", { className: "dim" }, body[0])), fields(body[1].schema)] : "",
      make("pre", {}, curl(method, path, operation)), make("h4", {}, "Responses"), Object.entries(operation.responses).map(answer)));
  }
}
/** On a narrow screen the list opens over the page. */
const openList = (isOpen) => {
  nav.className = isOpen ? "open" : "";
  toggle.ariaExpanded = String(isOpen);
};
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { group, operations } of groups) {
    for (const [link, text] of operations) link.hidden = !words.every((word) => text.includes(word));
    group.hidden = operations.every(([link]) => link.hidden);
  }
  noMatch.textContent = groups.every(({ group }) => group.hidden) ? 'No operation matches "' + search.value.trim() + '".' : "";
  openList(words.length > 0);
});
toggle.addEventListener("click", () => openList(nav.className === ""));
for (const { operations } of groups) for (const [link] of operations) link.addEventListener("click", () => openList(false));
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
`;

const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The content security policy: only the page's own style and script, and no requests. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src ${digest(STYLE)}`,
  `script-src ${digest(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page that shows an OpenAPI document. `<` is escaped, so no text in the document can become a tag. */
export const pageOf = (openApi: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<style>${STYLE}</style>
<nav aria-label="Operations"></nav>
<main></main>
<script type="application/json" id="document">${openApi.replaceAll("<", "\\u003c")}</script>
<script>${SCRIPT}</script>
</html>
`;
