// The reference page's script, run over a document tree of our own: every operation and every refusal is on the page; and how it is served.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { contents, operationsOf } from "../docs/generate/contents.ts";
import { openApiOf } from "../docs/generate/openapi.ts";
import { pageOf, pagePolicy } from "../functions/api/service/page.ts";
import { testWorld } from "./support/world.ts";

interface Node {
  tag: string;
  children: (Node | string)[];
  [property: string]: unknown;
}

const textOf = (node: Node | string): string => (typeof node === "string" ? node : node.children.map(textOf).join(" "));
const allOf = (node: Node, tag: string): Node[] =>
  node.children.flatMap((child) =>
    typeof child === "string" ? [] : [...(child.tag === tag ? [child] : []), ...allOf(child, tag)],
  );

/** As much of a browser as the script asks for. */
function show(html: string) {
  const [, data = ""] = /id="document">([^<]*)<\/script>/.exec(html) ?? [];
  const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(html) ?? [];
  const listeners: Record<string, () => void> = {};
  const createElement = (tag: string): Node => {
    const children: Node["children"] = [];
    return {
      ...{ tag, children, append: (...more: (Node | string)[]) => void children.push(...more) },
      addEventListener: (name: string, listener: () => void) => {
        listeners[name] = listener;
      },
    };
  };
  const [nav, main] = [createElement("nav"), createElement("main")];
  runInNewContext(script, {
    document: {
      createElement,
      getElementById: () => ({ textContent: data }),
      querySelector: (name: string) => (name === "nav" ? nav : main),
    },
    location: { hash: "", origin: "https://api.example.com", protocol: "https:" },
  });
  return { nav, main, listeners, script };
}

it("shows the whole document", async () => {
  const { nav, main, listeners } = show(pageOf(JSON.stringify(await openApiOf(contents))));
  const text = textOf(main);
  for (const { endpoint } of operationsOf(contents)) {
    const [, path = ""] = endpoint.route.replaceAll(/:(\w+)/g, "{$1}").split(" ");
    expect(text).toContain(path);
  }
  expect(allOf(main, "section")).toHaveLength(operationsOf(contents).length);
  expect(text).toContain('curl -X POST "https://api.example.com/api/v1/templates"');
  expect(text).toContain("TENANT_SUSPENDED");
  expect(allOf(main, "table").length).toBeGreaterThan(20);
  expect(text).not.toMatch(/undefined|\[object/);
  const [search] = allOf(nav, "input");
  search!.value = "webhook that is not there";
  listeners.input!();
  expect(allOf(nav, "a").filter(({ href, hidden }) => href !== "#top" && !hidden)).toEqual([]);
});

it("lets nothing else run, and a tag in the document stays text", () => {
  const html = pageOf('{"x":"</script><script>alert(1)</script>"}');
  expect(html.match(/<script/g)).toHaveLength(2);
  const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(html) ?? [];
  expect(pagePolicy).toContain(`script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`);
});

it("GET /openapi.json and GET /docs are public, kept by caches for a while, and say the same", async () => {
  const world = await testWorld();
  const json = await world.call("GET /openapi.json");
  expect([json.status, json.headers["cache-control"], json.headers["access-control-allow-origin"]]).toEqual([
    200,
    "public, max-age=300",
    "*",
  ]);
  expect(json.body).toEqual(JSON.parse(readFileSync(new URL("../docs/openapi.json", import.meta.url), "utf8")));
  const page = await world.call("GET /docs");
  expect([page.status, page.headers["content-type"], page.headers["cache-control"]]).toEqual([
    200,
    "text/html; charset=utf-8",
    "public, max-age=300",
  ]);
  const embedded = /<script type="application\/json" id="document">([^<]*)<\/script>/.exec(page.body)?.[1];
  expect(JSON.parse(embedded!)).toEqual(json.body);
  expect(page.body).not.toMatch(/(src|href)="|https?:\/\/(?!127\.0\.0\.1|example\.com|")/);
  expect(page.headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[^;]+'; script-src 'sha256-/,
  );
});
