// The script of the documentation. It runs in the browser: it builds a page from the data in it, and the list of all
// pages from `site`, which another file has.
import { namesIn } from "./names.ts";

export const SCRIPT = String.raw`
const { page, doc, guide } = JSON.parse(document.getElementById("document").textContent);
const make = (tag, props, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children.flat(2).filter((child) => child !== undefined && child !== ""));
  return node;
};
const heading = (tag, id, ...children) => make(tag, { id }, ...children, make("a", { href: "#" + id, title: "Link to this section", ariaLabel: "Link to this section" }, "#"));
const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
const inline = (text) =>
  text.split(/(\x60[^\x60]+\x60|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)\s]+\))/).map((part) => {
    const link = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part);
    const target = link && link[2].replace(/^([a-z-]+)\.md$/, "/docs/guides/$1");
    return part[0] === "\x60" ? make("code", {}, part.slice(1, -1))
    : part.startsWith("**") ? make("strong", {}, part.slice(2, -2))
    : link ? (/^(#|https:|\/docs\/)/.test(target) ? make("a", { href: target }, inline(link[1])) : link[1])
    : part[0] === "*" && part.length > 2 ? make("em", {}, part.slice(1, -1)) : part;
  });
const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const block = (text, prefix) => {
  const lines = text.split("\n");
  const title = /^(#+) (.*)/.exec(text);
  if (title) return heading("h" + Math.min(4, title[1].length + 1), prefix + slug(title[2]), inline(title[2]));
  if (text.startsWith("| ")) {
    const row = (tag) => (line) => make("tr", {}, cells(line).map((cell) => make(tag, {}, inline(cell))));
    return make("table", {}, lines.slice(0, 1).map(row("th")), lines.slice(2).map(row("td")));
  }
  if (text.startsWith("- ")) return make("ul", {}, text.slice(2).split(/\n- /).map((item) => make("li", {}, inline(item))));
  if (/^\d+\. /.test(text)) return make("ol", {}, text.split(/(?:^|\n)\d+\. /).slice(1).map((item) => make("li", {}, inline(item))));
  return make("p", {}, inline(lines.join(" ")));
};
const markdown = (text, prefix) => text.trim().split(/^\x60\x60\x60\w*\n([\s\S]*?)^\x60\x60\x60$/m).map((part, i) =>
  i % 2 ? make("pre", {}, make("code", {}, part.trimEnd())) : part.split(/\n{2,}/).map((one) => one.trim()).filter(Boolean).map((one) => block(one, prefix || "")));
const at = (ref) => ref.slice(2).split("/").reduce((value, key) => value[key], doc);
const whole = (part) => (part && part.$ref ? at(part.$ref) : part);
const json = (value) => make("pre", {}, JSON.stringify(value, null, 2));
const nameOf = (schema) => schema.$ref.split("/").pop();
const variantsOf = (schema) => schema.oneOf || schema.anyOf;
const typeOf = (schema) => {
  if (schema.$ref) return nameOf(schema);
  if (schema.title) return schema.title;
  const kind = Object.entries(schema.properties || {}).find(([, one]) => one.const !== undefined);
  if (kind) return kind[0] + " " + JSON.stringify(kind[1].const);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const some = variantsOf(schema);
  if (some) return [...new Set(some.map(typeOf))].join(" | ");
  const types = [schema.type || "any value"].flat();
  if (types.includes("array")) return ["list of " + typeOf(schema.items || {}), ...types.filter((one) => one !== "array")].join(" | ");
  return types.join(" | ") + (schema.format ? " (" + schema.format + ")" : "");
};
const words = { minLength: "at least # characters", maxLength: "at most # characters", minimum: "at least #", maximum: "at most #", minItems: "at least # items", maxItems: "at most # items", minProperties: "at least # keys", maxProperties: "at most # keys", pattern: "pattern #", default: "default #" };
const bounds = (schema) => Object.keys(words).filter((key) => schema[key] !== undefined && schema[key] !== 999999999 && schema[key] !== Number.MAX_SAFE_INTEGER).map((key) => key === "minLength" && schema[key] === 1 ? "not empty" : words[key].replace("#", () => key !== "default" && typeof schema[key] === "number" ? schema[key].toLocaleString("en-US", { maximumFractionDigits: 9 }) : JSON.stringify(schema[key])).replace(/^(at \w+ 1) (\w+)s$/, "$1 $2")).join(", ");
const said = (...parts) => inline(parts.filter(Boolean).join(" · "));
/** What a schema holds: its fields, or those of its items, values and variants. Built when it is opened, for schemas are recursive. */
const insideOf = (schema) => {
  const own = whole(schema);
  const some = variantsOf(own);
  if (own.properties && Object.keys(own.properties).length) return () => fieldsOf(own);
  if (some && some.some((one) => insideOf(one))) return () => some.filter((one) => one.type !== "null").map((one) => make("div", {}, make("p", {}, make("code", {}, typeOf(one)), " ", said(whole(one).description)), unfold(one)));
  if (own.items) return insideOf(own.items);
  if (typeof own.additionalProperties !== "object") return;
  const inside = insideOf(own.additionalProperties);
  return inside && (() => [make("p", { className: "dim" }, "Under each key:"), inside()].flat());
};
const unfold = (schema) => {
  const inside = insideOf(schema);
  const examples = whole(schema).examples || [];
  if (!inside) return "";
  const node = make("details", {}, make("summary", {}, "Fields of ", make("code", {}, typeOf(schema))));
  let isBuilt = false;
  const build = () => {
    if (isBuilt) return;
    isBuilt = true;
    node.append(...[inside()].flat(), ...(examples.length ? [make("p", {}, "Examples"), ...examples.map(json)] : []));
  };
  node.addEventListener("toggle", build);
  node.holds = (word) => namesIn(schema, whole).some((name) => name.toLowerCase().includes(word));
  node.build = build;
  return node;
};
/** Unfolds a section down to the fields whose names hold what the filter looks for. @returns the first of them */
const MAX_LEVELS = 4;
const reveal = (section, sought) => {
  for (let level = 0; level < MAX_LEVELS; level++)
    for (const node of section.querySelectorAll("details"))
      if (!node.open && node.holds && sought.some((word) => node.holds(word))) {
        node.build();
        node.open = true;
      }
  const found = [...section.querySelectorAll(".fields > li")].filter((field) => sought.some((word) => field.firstElementChild.textContent.toLowerCase().includes(word)));
  for (const field of found) field.classList.add("found");
  for (const field of found) for (let node = field.parentElement; node && node !== section; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  return found[0];
};
const fieldsOf = (schema) => make("ul", { className: "fields" }, Object.entries(schema.properties).map(([name, one]) =>
  make("li", {}, make("code", {}, name), " ", make("span", { className: "dim" }, typeOf(one), (schema.required || []).includes(name) ? " · required" : ""),
    make("p", {}, said(one.description || whole(one).description, bounds(one))), unfold(one))));
const fields = (schema) => {
  const own = whole(schema);
  if (own.properties && Object.keys(own.properties).length) return fieldsOf(own);
  return [make("p", {}, make("code", {}, typeOf(schema)), " ", said(own.description)), unfold(schema)];
};
/** All names of fields in a schema. */
const namesIn = ${namesIn};
const origin = location.origin === "null" || location.protocol === "file:" ? "$BASE_URL" : location.origin;
const answer = ([status, given]) => {
  const response = whole(given);
  const [type, media] = Object.entries(response.content || {})[0] || [];
  const examples = media ? (media.examples ? Object.values(media.examples).map((one) => one.value) : media.example === undefined ? [] : [media.example]) : [];
  return make("details", {}, make("summary", {}, make("b", {}, status), " ", inline(response.description), type && type !== "application/json" ? " · " + type : ""),
    media && status < 400 ? fields(media.schema.contentSchema || media.schema) : "", examples.map(json));
};
/** On a laptop: sends the request with the credentials of the demo workspace, with a new token each time. */
const headerOf = { sdk: (own) => ({ "X-SDK-Key": own.sdk_key }), server: (own) => ({ Authorization: "Bearer " + own.server_key }), dashboard: (own) => ({ Authorization: "Bearer " + own.access_token }) };
const demoOf = async () => (await fetch("/_local/demo")).json();
/** The server key of the demo workspace has no scopes: another one has all of them, once for each visit. */
let serverKey;
const withServerKey = async (demo) => {
  serverKey ??= fetch("/api/v1/server-keys", { method: "POST", headers: { ...headerOf.dashboard(demo), "Content-Type": "application/json" }, body: JSON.stringify({ name: "Reference", scopes: site.scopes }) }).then((made) => made.json());
  return { ...demo, server_key: (await serverKey).key };
};
const tryIt = (method, path, operation, body) => {
  const query = (operation.parameters || []).filter((one) => one.in === "query" && (one.required || one.example !== undefined)).map((one) => one.name + "=" + encodeURIComponent(one.example || "")).join("&");
  const target = make("input", { value: path.replace(/\{(\w+)\}/g, ":$1") + (query && "?" + query), ariaLabel: "Path and query", size: 48 });
  const text = make("textarea", { value: body && body.example !== undefined ? JSON.stringify(body.example, null, 2) : "", hidden: !body, ariaLabel: "Body" });
  text.rows = Math.min(24, text.value.split("\n").length + 1);
  const send = make("button", { type: "button" }, "Send");
  const shown = make("pre", { hidden: true });
  send.addEventListener("click", async () => {
    shown.hidden = false;
    try {
      const kind = operation.security.map((one) => Object.keys(one)[0])[0];
      const demo = kind === "server" ? await withServerKey(await demoOf()) : await demoOf();
      const response = await fetch(target.value, { method, headers: { ...(kind ? headerOf[kind](demo) : {}), ...(body ? { "Content-Type": "application/json" } : {}) }, ...(body ? { body: text.value } : {}) });
      const received = await response.text();
      shown.textContent = response.status + "\n" + (received && /json/.test(response.headers.get("content-type") || "") ? JSON.stringify(JSON.parse(received), null, 2) : received);
    } catch (error) {
      shown.textContent = "The request failed: " + error.message;
    }
  });
  const details = make("details", {}, make("summary", {}, "Try it with the demo workspace"), make("p", { className: "row" }, target, send), text, shown);
  /** The subscriber of the examples is the one of the demo workspace. */
  details.addEventListener("toggle", async () => {
    const { subscriber_id } = await demoOf();
    for (const field of [target, text]) field.value = field.value.replace(/(subscriber_?ids?"?[=:]\s*\[?\s*"?)[0-9a-f-]{36}/gi, "$1" + subscriber_id).replace(":subscriberId", subscriber_id);
  }, { once: true });
  return details;
};
const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname || "");
const nav = document.querySelector("nav");
const main = document.querySelector("main");
const search = make("input", { type: "search", placeholder: "Filter by path, word or field", ariaLabel: "Filter operations" });
const toggle = make("button", { type: "button", ariaExpanded: "false" }, "Menu");
const noMatch = make("p", { role: "status" });
const list = make("div", { className: "list" });
nav.append(make("a", { href: "/docs" }, make("strong", {}, site.title)), make("div", { className: "bar" }, search, toggle), noMatch, list);
/** All pages, each with the links in it: those of other pages are hidden until the filter finds them. */
const groups = site.groups.map(({ name, href, links }) => {
  const group = make("div", {}, make("b", {}, make("a", { href }, name)));
  const operations = links.map(({ href: target, title, verb, text, words }) => {
    const link = make("a", { href: target, title }, verb ? [make("span", { className: "verb " + verb }, verb), " "] : "", text);
    group.append(link);
    return [link, words.toLowerCase(), target];
  });
  list.append(group);
  return { group, operations };
});
const linksTo = (entries) => make("ul", {}, entries.map(({ href, name, title, text, about }) => make("li", {}, make("a", { href }, name || text || title), about ? [": ", inline(about)] : "")));
const answersOf = (operation) => Object.values(operation.responses).flatMap((one) => Object.values(whole(one).content || {}).map((media) => media.schema.contentSchema || media.schema));
const sectionOf = (path, method, operation) => {
  const body = operation.requestBody && Object.entries(operation.requestBody.content)[0];
  const access = operation.security.map((one) => Object.keys(one)[0]).join(" or ") || "public";
  const text = make("div", {}, operation.description ? markdown(operation.description).flat() : "",
    operation.parameters ? [make("h4", {}, "Parameters"), make("ul", { className: "fields" }, operation.parameters.map((one) => make("li", {},
      make("code", {}, one.name), " ", make("span", { className: "dim" }, one.in + " · " + typeOf(one.schema) + (one.required ? " · required" : "")), make("p", {}, said(one.description, bounds(one.schema))))))] : "",
    body ? [make("h4", {}, "Body ", make("span", { className: "dim" }, body[0])), fields(body[1].schema)] : "",
    make("h4", {}, "Responses"), Object.entries(operation.responses).map(answer));
  const code = make("div", {}, (operation["x-codeSamples"] || []).map(({ lang, source }) => [make("h4", {}, lang), make("pre", {}, source.replaceAll("$BASE_URL", () => origin))]),
    isLocal && access !== "agent" && (!body || body[0] === "application/json") && !path.endsWith("/stream") ? tryIt(method, path, operation, body && body[1]) : "");
  return make("section", {}, heading("h3", operation.operationId, operation.summary),
    make("p", {}, make("span", { className: "verb " + method }, method), " ", make("code", {}, path), make("span", { className: "dim" }, " · " + access)),
    make("div", { className: "pair" }, text, code));
};
const contentOf = {
  index: () => [heading("h1", "top", site.title), make("p", { className: "dim" }, "Version ", site.version, " · ", make("a", { href: "/openapi.json" }, "openapi.json")),
    heading("h2", "guides", "Guides"), linksTo(site.groups[0].links), heading("h2", "reference", "Reference"), linksTo(site.groups.slice(1))],
  guide: () => [make("article", {}, heading("h1", "top", guide.title), markdown(guide.text.replace(/^# .*\n/, "")))],
  overview: () => [heading("h1", "top", "Reference"), ...markdown(doc.info.description).flat()],
  tag: () => [heading("h1", page.name, page.name), make("p", {}, inline(page.about)), ...Object.entries(doc.paths).flatMap(([path, methods]) => Object.entries(methods).map(([verb, operation]) => sectionOf(path, verb.toUpperCase(), operation)))],
  webhooks: () => [heading("h1", "top", page.name), ...Object.entries(doc.webhooks).map(([event, { post }]) => make("section", {}, heading("h3", post.operationId, event), ...markdown(post.description).flat(),
    fields(post.requestBody.content["application/json"].schema), json(post.requestBody.content["application/json"].example)))],
};
main.append(...contentOf[page.kind]());
/** On a narrow screen the list opens over the page. */
const openList = (isOpen) => {
  nav.className = isOpen ? "open" : "";
  toggle.ariaExpanded = String(isOpen);
};
const filter = () => {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { group, operations } of groups) {
    for (const [link, text, target] of operations) link.hidden = wanted.length ? !wanted.every((word) => text.includes(word)) : target.split("#")[0] !== page.href;
    group.hidden = wanted.length > 0 && operations.every(([link]) => link.hidden);
  }
  noMatch.textContent = groups.every(({ group }) => group.hidden) ? 'No operation matches "' + search.value.trim() + '".' : "";
  openList(wanted.length > 0);
};
search.addEventListener("input", filter);
filter();
toggle.addEventListener("click", () => openList(nav.className === ""));
/** Shows the operation that the address names, and in it the fields that the filter looked for. */
const show = () => {
  for (const field of document.querySelectorAll(".found")) field.classList.remove("found");
  const section = document.getElementById(location.hash.slice(1));
  if (!section) return;
  section.scrollIntoView();
  const sought = new URLSearchParams(location.search).getAll("field");
  const field = sought.length > 0 ? reveal(section.closest("section"), sought) : undefined;
  if (field) setTimeout(() => field.scrollIntoView({ block: "center" }));
};
for (const { operations } of groups) for (const [link, , target] of operations) link.addEventListener("click", () => {
  openList(false);
  const [path, id] = target.split("#");
  const words = search.value.toLowerCase().split(/\s+/).filter((word) => word.length > 2);
  link.href = id && words.length ? path + "?" + words.map((word) => "field=" + encodeURIComponent(word)).join("&") + "#" + id : target;
});
/** Links from when this was one page: #journeysDuplicate, #journeys, #guide-quickstart. */
const older = page.kind === "index" && location.hash.slice(1);
const moved = older && (site.groups.flatMap(({ links }) => links).find(({ href }) => href.endsWith("#" + older) || href === "/docs/guides/" + older.replace(/^guide-/, "")) || site.groups.find(({ name }) => name === older));
if (moved) location.replace(moved.href);
else if (location.hash) show();
`;
