// The reference page: its script over a small document tree, its filter, how it looks in a browser, and how it is served.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runInNewContext } from "node:vm";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contents, operationsOf } from "../docs/generate/contents.ts";
import { pageOf, pagePolicy } from "../functions/api/service/page.ts";
import { webhookEvents } from "../shared/rules/webhook-events.ts";
import { hasBrowser, launchBrowser } from "./support/browser.ts";
import { document } from "./support/document.ts";
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
      tag,
      children,
      append: (...more: (Node | string)[]) => void children.push(...more),
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

const page = pageOf(JSON.stringify(document));

it("shows the whole document", () => {
  const { main } = show(page);
  const text = textOf(main);
  for (const { endpoint } of operationsOf(contents)) {
    const [, path = ""] = endpoint.route.replaceAll(/:(\w+)/g, "{$1}").split(" ");
    expect(text).toContain(path);
  }
  expect(allOf(main, "section")).toHaveLength(operationsOf(contents).length + webhookEvents.length);
  expect(text).toContain('curl -X POST "https://api.example.com/api/v1/templates"');
  expect(text).toContain("TENANT_SUSPENDED");
  expect(text).toContain("const answer = await service.templates.create({");
  expect(allOf(main, "ul").length).toBeGreaterThan(operationsOf(contents).length);
  expect(/.{40}(undefined|\[object|object \| object).{40}/.exec(text)?.[0]).toBeUndefined();
});

describe("the filter", () => {
  const { nav, listeners } = show(page);
  const [search] = allOf(nav, "input");
  const [status] = allOf(nav, "p");
  const [, list] = allOf(nav, "div");
  const groups = allOf(list!, "div");
  const titlesIn = (group: Node) => allOf(group, "a").flatMap(({ title, hidden }) => (hidden ? [] : [title]));

  /** What is listed once `text` was typed: the titles of each group that is still there. */
  const typed = (text: string) => {
    search!.value = text;
    listeners.input!();
    return groups.filter(({ hidden }) => !hidden).map(titlesIn);
  };
  const everything = typed("");

  it.each([
    ["a path", "/journeys/{id}/duplicate", [["POST /api/v1/journeys/{id}/duplicate"]]],
    ["a route as the access matrix writes it", "delete /api/v1/templates/:id", [["DELETE /api/v1/templates/{id}"]]],
    ["a field, also a nested one", "p256dh", [["POST /api/v1/devices"]]],
    ["words of a summary, in any case", "Copy  JOURNEY", [["POST /api/v1/journeys/{id}/duplicate"]]],
  ])("finds %s", (_, text, titles) => {
    expect(typed(text)).toEqual(titles);
    expect(status!.textContent).toBe("");
  });

  it("finds all of a group, and hides the groups without a match", () => {
    const name = "recipients";
    const group = groups.find((one) => textOf(one).startsWith(name))!;
    expect(typed(name)).toContainEqual(allOf(group, "a").map(({ title }) => title));
    expect(groups.filter(({ hidden }) => !hidden).length).toBeLessThan(groups.length / 2);
  });

  it("says when nothing matches, and lists everything again once it is empty", () => {
    expect(typed("no such operation")).toEqual([]);
    expect(status!.textContent).toBe('No operation matches "no such operation".');
    expect(typed(" ")).toEqual(everything);
    expect(everything.flat()).toHaveLength(operationsOf(contents).length);
    expect(status!.textContent).toBe("");
  });
});

describe.skipIf(!hasBrowser)("in Chromium", () => {
  const site = createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.setHeader("content-security-policy", pagePolicy);
    response.end(page);
  });
  let browser: Browser;
  beforeAll(async () => {
    await once(site.listen(0, "127.0.0.1"), "listening");
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    site.close();
  });

  const open = async (width: number, isMobile: boolean) => {
    const tab = await browser.newPage({ viewport: { width, height: 667 }, isMobile, locale: "en-US" });
    await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/docs`);
    return tab;
  };
  const LINKS = "[...document.querySelectorAll('nav .list a')].filter((link) => link.checkVisibility()).length";

  it("a filter hides what does not match", async () => {
    const tab = await open(1_280, false);
    expect(await tab.evaluate(LINKS)).toBe(operationsOf(contents).length);
    await tab.fill("nav input", "copy a journey");
    expect(await tab.evaluate(LINKS)).toBe(1);
  }, 60_000);

  it("a filter for a field leads to the field, however deep it is (GEN-16)", async () => {
    const tab = await open(1_280, false);
    await tab.fill("nav input", "max_bounce_rate");
    await tab.click("nav .list a:not([hidden])");
    await tab.locator(".found").waitFor();
    expect(await tab.locator(".found > code").innerText()).toBe("max_bounce_rate");
    const top = "document.querySelector('.found').getBoundingClientRect().top";
    await tab.waitForFunction(`Math.abs(${top} - innerHeight / 2) < 120`);
  }, 60_000);

  it("a phone scrolls in one direction, and its filter stays in reach and leads to an operation", async () => {
    const tab = await open(375, true);
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(375);
    expect(await tab.evaluate(LINKS)).toBe(0);
    await tab.evaluate("scrollTo(0, 5_000)");
    expect(await tab.evaluate("document.querySelector('nav input').getBoundingClientRect().top")).toBeLessThan(40);
    await tab.fill("nav input", "copy a journey");
    expect(await tab.evaluate(LINKS)).toBe(1);
    await tab.click("nav .list a:not([hidden])");
    expect(await tab.evaluate("location.hash")).toBe("#journeysDuplicate");
    expect(await tab.evaluate(LINKS)).toBe(0);
    await tab.fill("nav input", "");
    await tab.click("nav button");
    expect(await tab.evaluate(LINKS)).toBe(operationsOf(contents).length);
  }, 60_000);
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
  expect(JSON.parse(embedded!).doc).toEqual(json.body);
  expect(page.body).not.toMatch(/(src|href)="|https?:\/\/(?!127\.0\.0\.1|([a-z]+\.)?example\.com|")/);
  expect(page.headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[^;]+'; script-src 'sha256-/,
  );
});
