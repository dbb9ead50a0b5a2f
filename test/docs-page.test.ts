// The documentation: its pages over a small document tree, their filter, how they look in a browser, how they are served.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { runInNewContext } from "node:vm";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contents, operationsOf } from "../docs/generate/contents.ts";
import { guides } from "../docs/generate/guides.ts";
import type { OpenApi } from "../docs/generate/openapi.ts";
import { buildDocumentation } from "../docs/site/build.ts";
import { pagePolicy } from "../docs/site/page.ts";
import { webhookEvents } from "../shared/rules/webhook-events.ts";
import { hasBrowser, launchBrowser } from "./support/browser.ts";
import { document } from "./support/document.ts";
import { listenOnLoopback } from "./support/loopback.ts";
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

const site = buildDocumentation(document, guides());
const isPage = (path: string) => path.startsWith("/docs") && !path.startsWith("/docs/a/");
const pages = [...site.keys()].filter(isPage);

/** As much of a browser as the script asks for. */
function show(path: string) {
  const html = site.get(path)!.content.toString();
  const [, data = ""] = /id="document">([^<]*)<\/script>/.exec(html) ?? [];
  const scripts = [...html.matchAll(/<script defer src="([^"]+)"/g)].map(([, from]) => site.get(from!)!.content);
  const listeners: Record<string, () => void> = {};
  const createElement = (tag: string): Node => {
    const children: Node["children"] = [];
    return {
      tag,
      children,
      value: "",
      append: (...more: (Node | string)[]) => void children.push(...more),
      addEventListener: (name: string, listener: () => void) => {
        listeners[name] = listener;
      },
    };
  };
  const [nav, main] = [createElement("nav"), createElement("main")];
  runInNewContext(scripts.join("\n"), {
    document: {
      createElement,
      getElementById: () => ({ textContent: data }),
      querySelector: (name: string) => (name === "nav" ? nav : main),
    },
    location: { hash: "", origin: "https://api.example.com", protocol: "https:" },
  });
  return { nav, main, listeners };
}

it("the reference shows the whole document, each section on a page of its own (GEN-16)", () => {
  const shown = new Map(pages.map((path) => [path, show(path).main]));
  const texts = new Map([...shown].map(([path, main]) => [path, textOf(main)]));
  for (const { group, endpoint } of operationsOf(contents)) {
    const [, path = ""] = endpoint.route.replaceAll(/:(\w+)/g, "{$1}").split(" ");
    expect(texts.get(`/docs/${group}`)).toContain(path);
  }
  const all = [...shown.values()];
  const text = [...texts.values()].join("\n");
  const sections = all.flatMap((main) => allOf(main, "section"));
  expect(sections).toHaveLength(operationsOf(contents).length + webhookEvents.length);
  expect(text).toContain('curl -X POST "https://api.example.com/api/v1/templates"');
  expect(texts.get("/docs/reference")).toContain("TENANT_SUSPENDED");
  expect(text).toContain("const answer = await service.templates.create({");
  expect(all.flatMap((main) => allOf(main, "ul")).length).toBeGreaterThan(operationsOf(contents).length);
  const reference = [...texts].flatMap(([path, page]) => (path.startsWith("/docs/guides/") ? [] : [page]));
  expect(/.{40}(undefined|\[object|object \| object).{40}/.exec(reference.join("\n"))?.[0]).toBeUndefined();
});

it("every page is linked from the first one, and no link of a page leads nowhere (GEN-16)", () => {
  const linked = (path: string) => {
    const { nav, main } = show(path);
    return [nav, main].flatMap((part) => allOf(part, "a")).map(({ href }) => String(href));
  };
  expect(new Set(linked("/docs").map((href) => href.split("#")[0]))).toEqual(new Set([...pages, "", "/openapi.json"]));
  const dead = pages.flatMap((path) =>
    linked(path).filter((href) => href.startsWith("/") && !site.has(href.split("#")[0]!)),
  );
  expect(dead).toEqual([]);
});

it("each file is within 64 KB as the edge sends it, but for the document itself (D3)", () => {
  const sizes = [...site].map(([path, { content }]) => [path, gzipSync(content).length] as const);
  expect(sizes.filter(([, bytes]) => bytes > 64 * 1024).map(([path]) => path)).toEqual(["/openapi.json"]);
  expect(gzipSync(site.get("/openapi.json")!.content).length).toBeLessThan(133 * 1024);
});

describe("the filter", () => {
  const { nav, listeners } = show("/docs/templates");
  const [search] = allOf(nav, "input");
  const [status] = allOf(nav, "p");
  const [, list] = allOf(nav, "div");
  const groups = allOf(list!, "div");
  const titlesIn = (group: Node) => allOf(group, "a").flatMap(({ title, hidden }) => (title && !hidden ? [title] : []));

  /** What is listed once `text` was typed: the titles of each group that has one. */
  const typed = (text: string) => {
    search!.value = text;
    listeners.input!();
    return groups.flatMap((group) => (group.hidden || titlesIn(group).length === 0 ? [] : [titlesIn(group)]));
  };
  const own = typed("");

  it.each([
    ["a path", "/journeys/{id}/duplicate", [["POST /api/v1/journeys/{id}/duplicate"]]],
    ["a route as the access matrix writes it", "delete /api/v1/templates/:id", [["DELETE /api/v1/templates/{id}"]]],
    ["a field, also a nested one", "p256dh", [["POST /api/v1/devices"]]],
    ["words of a summary, in any case", "Copy  JOURNEY", [["POST /api/v1/journeys/{id}/duplicate"]]],
  ])("the filter of the reference finds %s on any page", (_, text, titles) => {
    expect(
      typed(text).filter((group) => !group.every((title) => guides().some((guide) => guide.title === title))),
    ).toEqual(titles);
    expect(status!.textContent).toBe("");
  });

  it("the filter of the reference finds all of a group, and hides the groups without a match", () => {
    const name = "recipients";
    const group = groups.find((one) => textOf(one).startsWith(name))!;
    const all = allOf(group, "a").flatMap(({ title }) => (title ? [title] : []));
    expect(typed(name)).toContainEqual(all);
    expect(groups.filter(({ hidden }) => !hidden).length).toBeLessThan(groups.length / 2);
  });

  it("the filter of the reference says when nothing matches, and lists every page with the links of this one once it is empty", () => {
    expect(typed("no such operation")).toEqual([]);
    expect(status!.textContent).toBe('No operation matches "no such operation".');
    expect(typed(" ")).toEqual(own);
    expect(own).toHaveLength(1);
    expect(groups.filter(({ hidden }) => hidden)).toEqual([]);
    expect(status!.textContent).toBe("");
  });
});

describe.skipIf(!hasBrowser)("in Chromium", () => {
  const server = createServer((request, response) => {
    const file = site.get(request.url!.split("?")[0]!);
    response.statusCode = file ? 200 : 404;
    response.setHeader("content-type", file?.type ?? "text/plain");
    response.setHeader("content-security-policy", pagePolicy);
    response.end(file?.content);
  });
  let port: number;
  let browser: Browser;
  beforeAll(async () => {
    port = await listenOnLoopback(server);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  const open = async (path: string, width: number, isMobile: boolean) => {
    const tab = await browser.newPage({ viewport: { width, height: 667 }, isMobile, locale: "en-US" });
    await tab.goto(`http://127.0.0.1:${port}${path}`);
    return tab;
  };
  const LINKS = "[...document.querySelectorAll('nav .list a[title]')].filter((link) => link.checkVisibility()).length";
  const inSection = (name: string) => operationsOf(contents).filter(({ group }) => group === name).length;

  it("a filter shows what matches, and nothing else", async () => {
    const tab = await open("/docs/journeys", 1_280, false);
    expect(await tab.evaluate(LINKS)).toBe(inSection("journeys"));
    await tab.fill("nav input", "copy a journey");
    expect(await tab.evaluate(LINKS)).toBe(1);
  });

  it("a filter for a field leads to the field on its page, however deep it is (GEN-16)", async () => {
    const tab = await open("/docs", 1_280, false);
    await tab.fill("nav input", "max_bounce_rate");
    await tab.click("nav .list a[title]:not([hidden])");
    await tab.locator(".found").waitFor();
    expect(new URL(tab.url()).pathname).not.toBe("/docs");
    expect(await tab.locator(".found > code").innerText()).toBe("max_bounce_rate");
    const top = "document.querySelector('.found').getBoundingClientRect().top";
    await tab.waitForFunction(`Math.abs(${top} - innerHeight / 2) < 120`);
  });

  it("an address from when this was one page leads to the page that has it", async () => {
    const addresses = {
      journeysDuplicate: "/docs/journeys",
      events: "/docs/events",
      "guide-email": "/docs/guides/email",
    };
    for (const [anchor, path] of Object.entries(addresses)) {
      const tab = await open(`/docs#${anchor}`, 1_280, false);
      await tab.waitForURL((url) => url.pathname === path);
    }
  });

  it("a phone scrolls in one direction, and its filter stays in reach and leads to an operation", async () => {
    const tab = await open("/docs/journeys", 375, true);
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(375);
    expect(await tab.evaluate(LINKS)).toBe(0);
    await tab.evaluate("scrollTo(0, 5_000)");
    expect(await tab.evaluate("document.querySelector('nav input').getBoundingClientRect().top")).toBeLessThan(40);
    await tab.fill("nav input", "copy a journey");
    expect(await tab.evaluate(LINKS)).toBe(1);
    await tab.click("nav .list a[title]:not([hidden])");
    await tab.waitForFunction("location.hash === '#journeysDuplicate'");
    expect(await tab.evaluate(LINKS)).toBe(0);
    await tab.click("nav button");
    expect(await tab.evaluate(LINKS)).toBe(inSection("journeys"));
  });
});

it("pages run nothing inline, and a tag in the document stays text", () => {
  const evil: OpenApi = structuredClone(document);
  evil.tags[0]!.description = "</script><script>alert(1)</script>";
  const { name } = evil.tags[0]!;
  const html = buildDocumentation(evil, []).get(`/docs/${name}`)!.content.toString();
  expect(html.match(/<script/g)).toHaveLength(3);
  expect(html).not.toMatch(/<script>|<style|style=|onclick/);
  expect(pagePolicy).toMatch(/^default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; /);
});

describe("the local service", async () => {
  const world = await testWorld();

  it("the local service serves the files as the edge does: to everybody, kept for a while or for good, and to other sites (E26)", async () => {
    const json = await world.call("GET /openapi.json");
    expect([json.status, json.headers["cache-control"], json.headers["access-control-allow-origin"]]).toEqual([
      200,
      "public, max-age=300",
      "*",
    ]);
    expect(json.body).toEqual(JSON.parse(readFileSync(new URL("../docs/openapi.json", import.meta.url), "utf8")));
    for (const [path, { content, type, cacheControl }] of site) {
      const { status, headers, body } = await world.gateway.handle(request(path));
      expect([path, status, headers["content-type"], headers["cache-control"]]).toEqual([
        path,
        200,
        type,
        cacheControl,
      ]);
      expect(body.equals(content)).toBe(true);
      expect(headers["content-security-policy"]).toBe(pagePolicy);
    }
    const kept = [...site].filter(([, { cacheControl }]) => cacheControl.includes("immutable"));
    expect(kept.map(([path]) => path).every((path) => /^\/docs\/a\/\w+-[0-9a-f]{12}\.(?:js|css)$/.test(path))).toBe(
      true,
    );
  });

  it("compresses them as the client accepts, takes no writes there, and has no others (E6, E26)", async () => {
    const raw = site.get("/docs/journeys")!.content;
    const as = (encodings: string) => world.gateway.handle(request("/docs/journeys", "GET", encodings));
    expect(brotliDecompressSync((await as("gzip, br")).body).equals(raw)).toBe(true);
    expect(gunzipSync((await as("gzip, br;q=0")).body).equals(raw)).toBe(true);
    expect((await as("identity")).body.equals(raw)).toBe(true);
    const head = await world.gateway.handle(request("/docs/journeys", "HEAD"));
    expect([head.headers["content-length"], head.body.length]).toEqual([String(raw.length), 0]);
    expect((await world.gateway.handle(request("/docs/journeys", "POST"))).status).toBe(403);
    expect((await world.gateway.handle(request("/docs/none"))).status).toBe(404);
    expect((await world.gateway.handle(request("/docsx"))).status).toBe(404);
  });

  const request = (path: string, method = "GET", encodings?: string) => ({
    method,
    path,
    headers: encodings === undefined ? {} : { "accept-encoding": encodings },
    body: Buffer.alloc(0),
    sourceIp: "203.0.113.7",
  });
});
