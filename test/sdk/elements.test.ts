// The elements of the SDK in a real browser, against the running local service.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { type Outside, openOutside } from "./support/outside.ts";
import { AXE_RUN, FAKE_FEED, FAKE_PUSH, PAGE } from "./support/page-scripts.ts";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

let outside: Outside;
beforeAll(async () => {
  outside = await openOutside();
}, 120_000);
afterAll(() => outside?.close());

const bundled = async (contents: string, format: "esm" | "iife" = "esm") => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: outside.folder },
    ...{ bundle: true, write: false, minify: true, format, platform: "browser", logLevel: "silent", globalName: "sdk" },
  });
  return outputFiles[0]!.contents;
};

it("the inbox with its client has less than 12 KB", async () => {
  const code = await bundled('import "engagement-sdk/elements/inbox";');
  expect(gzipSync(code).length).toBeLessThan(12 * 1_024);
});

describe.skipIf(!hasBrowser)("in a browser", () => {
  let browser: Browser;
  let site: string;
  let close: () => void;
  beforeAll(async () => {
    browser = await launchBrowser();
    const code = await bundled(
      `export { createBrowserClient } from "engagement-sdk/browser"; export * from "engagement-sdk/elements/feed";
       export * from "engagement-sdk/elements/inbox"; export * from "engagement-sdk/elements/in-app";
       export * from "engagement-sdk/elements/web-push";`,
      "iife",
    );
    const settings = JSON.stringify({ baseUrl: outside.fact("service"), sdkKey: outside.fact("SDK key") });
    const worker = await bundled(
      `import { handlePush } from "engagement-sdk/elements/push-worker"; handlePush(self, ${settings});`,
    );
    const server = createServer(({ url = "/" }, response) => {
      const [type, body] = url === "/worker.js" ? ["text/javascript", worker] : ["text/html", PAGE];
      if (url === "/sdk.js") return response.setHeader("content-type", "text/javascript").end(code);
      // The strictest policy that a site may have.
      const policy = `default-src 'none'; script-src 'self'; connect-src *; img-src *; worker-src 'self'`;
      return response.setHeader("content-security-policy", policy).setHeader("content-type", type!).end(body);
    });
    site = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    close = () => server.close();
  });
  afterAll(async () => {
    await browser?.close();
    close?.();
  });

  let page: Page;
  const faults: string[] = [];
  beforeEach(async () => {
    faults.length = 0;
    page = await browser.newPage({ locale: "en-GB", bypassCSP: false });
    page.setDefaultTimeout(15_000);
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    await page.goto(site);
  });

  const api = async (route: string, body?: object) => {
    const [method = "", path = ""] = route.split(" ");
    const headers = { "content-type": "application/json", authorization: `Bearer ${outside.fact("access token")}` };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${outside.fact("service")}${path}`, init);
    expect(answer.status).toBeLessThan(300);
    return answer.status === 204 ? undefined : await answer.json();
  };
  const settle = () => fetch(`${outside.fact("service")}/_local/settle`, { method: "POST" });

  /** Opens a feed of a new subscriber in the page. */
  const openFeed = (external_id: string): Promise<string> =>
    page.evaluate(
      `(async () => {
        const { createBrowserClient, openFeed } = sdk;
        globalThis.client = createBrowserClient(${JSON.stringify({ baseUrl: outside.fact("service"), sdkKey: outside.fact("SDK key") })});
        const { id } = await client.subscribers.upsert({ external_id: ${JSON.stringify(external_id)} });
        globalThis.feed = openFeed(client, id);
        await new Promise((live) => feed.subscribe(() => feed.state === "live" && live()));
        return id;
      })()`,
    );

  it("the inbox shows what arrives, and is worked with the keyboard alone", async () => {
    const id = await openFeed("reader");
    await page.evaluate("document.querySelector('engagement-inbox').feed = feed");
    const bell = page.getByRole("button", { name: "Messages" });
    await bell.waitFor();
    for (const title of ["First", "<b>Second</b>"])
      await api("POST /api/v1/notifications", { subscriberIds: [id], title, body: "It works." });
    await page.getByRole("button", { name: "Messages, 2 unread" }).waitFor();
    expect(await page.getByRole("status").textContent()).toContain("New message:");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Messages" }).waitFor();
    expect(await page.locator(".title").allTextContents()).toEqual(["<b>Second</b>", "First"]);
    expect(await page.evaluate(`(${AXE_RUN})(${JSON.stringify(AXE)})`)).toEqual([]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Messages, 1 unread" }).waitFor();
    await page.keyboard.press("Delete");
    await expect.poll(() => page.locator(".title").allTextContents()).toEqual(["<b>Second</b>"]);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.evaluate("document.activeElement.shadowRoot.activeElement.className")).toBe("bell");
    await settle();
    // The page shows a change before the service has answered.
    const statuses = async () => {
      const { messages } = (await api(`GET /v1/in-app/messages?subscriber_id=${id}`)) as {
        messages: { status: string }[];
      };
      return messages.map(({ status }) => status).sort();
    };
    await expect.poll(statuses, { timeout: 10_000 }).toEqual(["dismissed", "unread"]);
    expect(faults).toEqual([]);
  });

  it("words in another language are those of the messages too that are shown already", async () => {
    const id = await openFeed("linguist");
    await page.evaluate("document.querySelector('engagement-inbox').feed = feed");
    await api("POST /api/v1/notifications", { subscriberIds: [id], title: "Hallo", body: "Welt" });
    await page.getByRole("button", { name: "Messages, 1 unread" }).click();
    await page.getByRole("button", { name: "Dismiss: Hallo" }).waitFor();
    const german = JSON.stringify({ title: "Nachrichten", dismiss: "Verwerfen" });
    await page.evaluate(`document.querySelector("engagement-inbox").labels = ${german}`);
    await page.getByRole("dialog", { name: "Nachrichten" }).getByRole("button", { name: "Verwerfen: Hallo" }).waitFor();
  });

  it.each([
    [1024, 700],
    [320, 480],
  ])(
    "the inbox's panel stays within a viewport of %i by %i pixels, whichever edge the bell is at",
    async (width, height) => {
      await page.setViewportSize({ width, height });
      await openFeed("edges");
      await page.evaluate("document.querySelector('engagement-inbox').feed = feed");
      await page.getByRole("button", { name: "Messages" }).waitFor();
      for (const edges of ["top left", "top right", "bottom left", "bottom right"])
        for (const align of ["start", "end"]) {
          const place = JSON.stringify(edges.split(" "));
          await page.evaluate(`(() => {
          const inbox = document.querySelector("engagement-inbox");
          Object.assign(inbox.style, { position: "fixed", top: "auto", right: "auto", bottom: "auto", left: "auto" });
          for (const edge of ${place}) inbox.style[edge] = "0";
          inbox.setAttribute("align", "${align}");
          inbox.toggle(false);
          inbox.toggle(true);
        })()`);
          const box = (await page.getByRole("dialog").boundingBox())!;
          expect([edges, align, box.x >= 0, box.x + box.width <= width]).toEqual([edges, align, true, true]);
          expect([edges, align, box.y >= 0, box.y + box.height <= height]).toEqual([edges, align, true, true]);
        }
      expect(faults).toEqual([]);
    },
    60_000,
  );

  it("a modal and a banner are shown by priority, once, and report impressions and clicks", async () => {
    const ids: string[] = [];
    for (const [name, format, priority] of [
      ["Sale", "modal", 9],
      ["News", "banner", 1],
    ] as const) {
      const actions = [{ id: "look", title: `See ${name}`, url: "" }];
      const { id } = (await api("POST /api/v1/in-app/experiences", {
        ...{ name, format, audience: { type: "all" }, display: { trigger: "immediate", priority, screens: ["/*"] } },
        content: { title: name, body: "20% off", actions: name === "Sale" ? actions : [] },
      })) as { id: string };
      ids.push(id);
    }
    const subscriber = await openFeed("visitor");
    for (const id of ids) await api(`POST /api/v1/in-app/experiences/${id}/publish`);
    await settle();
    await expect.poll(() => page.evaluate("feed.messages.length")).toBe(2);
    await page.evaluate("globalThis.inApp = sdk.showInApp(feed)");
    await page.getByRole("dialog", { name: "Sale" }).waitFor();
    expect(await page.evaluate(`(${AXE_RUN})(${JSON.stringify(AXE)})`)).toEqual([]);
    await page.getByRole("button", { name: "See Sale" }).click();
    await page.getByRole("region", { name: "News" }).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => page.locator("[data-engagement-format]").count()).toBe(0);
    await expect
      .poll(async () => {
        await settle();
        const stats = await Promise.all(ids.map((id) => api(`GET /api/v1/in-app/experiences/${id}/stats`)));
        return (stats as { impressions: number; dismissals?: number }[]).map(({ impressions }) => impressions);
      })
      .toEqual([1, 1]);
    await page.evaluate("inApp.close(); sdk.showInApp(feed)");
    expect(await page.locator("[data-engagement-format]").count()).toBe(0);
    expect(subscriber).not.toBe("");
    expect(faults).toEqual([]);
  });

  it("a click that leads to another page is reported, and the message is read", async () => {
    const elsewhere = `${outside.fact("service")}/healthz`;
    const { id } = (await api("POST /api/v1/in-app/experiences", {
      ...{ name: "Leave", format: "banner", audience: { type: "all" } },
      display: { trigger: "immediate" },
      content: { title: "Leave", body: "There", actions: [{ id: "go", title: "Go", url: elsewhere }] },
    })) as { id: string };
    const subscriber = await openFeed("leaver");
    await page.evaluate("globalThis.inApp = sdk.showInApp(feed)");
    await api(`POST /api/v1/in-app/experiences/${id}/publish`);
    await settle();
    await page.getByRole("button", { name: "Go" }).click();
    await page.waitForURL(elsewhere);
    const outcome = async () => {
      await settle();
      const { clicks } = (await api(`GET /api/v1/in-app/experiences/${id}/stats`)) as { clicks: number };
      const inbox = (await api(`GET /v1/in-app/messages?subscriber_id=${subscriber}`)) as {
        messages: { content: { title: string }; status: string }[];
      };
      return [clicks, inbox.messages.find(({ content }) => content.title === "Leave")?.status];
    };
    await expect.poll(outcome, { timeout: 5_000 }).toEqual([1, "read"]);
  });

  it("what one tab has shown once, another one does not show, and neither forgets what the other has shown", async () => {
    const context = await browser.newContext();
    const opened = async () => {
      const tab = await context.newPage();
      await tab.goto(site);
      await tab.evaluate(FAKE_FEED);
      return tab;
    };
    const [first, second, third] = [await opened(), await opened(), await opened()];
    for (const tab of [first, second]) await tab.evaluate("arrive(['a'])");
    for (const tab of [second, third]) await tab.evaluate("arrive(['b', 'a'])");
    const shown = [first, second, third].map((tab) => tab.locator("[data-engagement-format] h2").allTextContents());
    expect(await Promise.all(shown)).toEqual([["a"], ["b"], []]);
    await context.close();
  });

  it("web push is registered with consent alone, and taken back without it", async () => {
    const id = await openFeed("pushed");
    const { id: channel } = (await api("POST /api/v1/channels", { type: "web_push", name: "Web" })) as { id: string };
    const { vapid_public_key } = (await api(`POST /api/v1/channels/${channel}/credentials/vapid`)) as Record<
      string,
      string
    >;
    const register = (hasConsent: boolean) =>
      page.evaluate(
        `(async () => {
          ${FAKE_PUSH}
          const options = { externalId: "pushed", worker: "/worker.js", vapidPublicKey: "${vapid_public_key}" };
          return (await sdk.registerWebPush(client, { ...options, hasConsent: ${hasConsent} })).status;
        })()`,
      );
    const devices = async () =>
      ((await api(`GET /api/v1/subscribers/${id}/devices`)) as { items: unknown[] }).items.length;
    expect(await register(false)).toBe("no_consent");
    expect(await devices()).toBe(0);
    expect(await register(true)).toBe("registered");
    expect(await devices()).toBe(1);
    expect(await register(true)).toBe("registered");
    expect(await devices()).toBe(1);
    expect(await register(false)).toBe("no_consent");
    expect(await devices()).toBe(0);
  });
});
