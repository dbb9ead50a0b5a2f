// Twelve people at twelve gates on the running service: the API, the command line and the console say the same true reason.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../sdk/src/cli/run.ts";
import { reasonText } from "../../shared/rules/reason-words.ts";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { createTabs, type Tab } from "../support/console-tab.ts";
import { cleanUp, type ServiceProcess, startService } from "../support/service-process.ts";
import { type Gate, makeGates } from "../support/twelve-gates.ts";

const NOON = 12 * 3_600_000;
const DAY = 24 * 3_600_000;

const KINDS = { journey: "A journey", send: "A send" } as const;
const LINKS = { journey: "Open the journey", send: "Every condition" } as const;
/** By the command line a send is explained, and a journey asked why. */
const COMMANDS = { journey: "why", send: "explain" } as const;

let service: ServiceProcess;
let browser: Browser;
let gates: readonly Gate[] = [];
const faults: string[] = [];
const open = createTabs(() => ({ service, browser, faults }));

async function ask(route: string, body?: object, headers: Record<string, string> = {}) {
  const [method = "", path = ""] = route.split(" ");
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${route}: ${answer.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

/** An access token of the demo workspace, by the clock of the service. */
const token = async () => String((await ask("GET /_local/demo")).access_token);

async function byApi({ person, about, name }: Gate): Promise<string> {
  const query = new URLSearchParams({ person, [about]: name });
  return (await ask(`GET /api/v1/why?${query}`, undefined, { authorization: `Bearer ${await token()}` })).in_words;
}

async function byCli({ person, about, name }: Gate): Promise<string> {
  const out: string[] = [];
  const code = await runCli([COMMANDS[about], name, person], {
    env: { ENGAGEMENT_URL: service.url, ENGAGEMENT_TOKEN: await token() },
    cwd: ".",
    out: (line) => void out.push(line),
    note: (line) => void out.push(line),
    progress: () => {},
    isTerminal: false,
    ask: async () => "",
    readInput: async () => "",
    fetch,
    now: () => Date.now(),
    pause: async () => {},
    signal: new AbortController().signal,
  });
  expect([code, out.join(" ")]).toEqual([0, expect.any(String)]);
  return out.join(" ");
}

async function byConsole({ page, visit }: Tab, { person, about, name }: Gate): Promise<string> {
  await visit(`people?q=${person}`);
  await page.getByRole("link", { name: person, exact: true }).click();
  await page.getByRole("button", { name: KINDS[about], exact: true }).click();
  await page.getByLabel(KINDS[about], { exact: true }).selectOption({ label: name });
  const answer = page.locator("[aria-live=polite]", { has: page.getByRole("link", { name: LINKS[about] }) });
  await answer.waitFor();
  // The last one is the link.
  return (await answer.locator("p").allTextContents()).slice(0, -1).join("\n");
}

const inBerlin = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "Europe/Berlin",
  timeZoneName: "short",
});

/** With the times as they are read where the browser is. */
const withItsTimes = (told: string): string =>
  told.replaceAll(/(\S+) (\S+) UTC/g, (_, day, time) => inBerlin.format(new Date(`${day}T${time}Z`)));

describe.skipIf(!hasBrowser)("in Chromium", () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({ DATA_DIR: ":memory:" }), launchBrowser()]);
    const { now } = await ask("GET /_local/clock");
    const noon = Math.ceil((Date.parse(now) - NOON) / DAY) * DAY + NOON;
    await ask("POST /_local/clock", { to: new Date(noon).toISOString() });
    const { sdk_key, server_key } = await ask("GET /_local/demo");
    gates = await makeGates({
      now: () => noon,
      call: async (route, body, tier = "dashboard") => {
        const headers = {
          local: async () => ({}),
          sdk: async () => ({ "x-sdk-key": sdk_key }),
          server: async () => ({ authorization: `Bearer ${server_key}` }),
          dashboard: async () => ({ authorization: `Bearer ${await token()}` }),
        }[tier];
        return ask(route, body, await headers());
      },
    });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await cleanUp();
  });

  it("each is told the true reason by the API, the command line and, in the zone of the browser, by the console (F2)", async () => {
    const tab = await open();
    expect(gates).toHaveLength(12);
    for (const gate of gates) {
      const told = { api: await byApi(gate), cli: await byCli(gate), console: await byConsole(tab, gate) };
      const reason = expect.stringContaining(reasonText(gate.reason));
      expect([gate.person, told]).toEqual([gate.person, { api: reason, cli: reason, console: reason }]);
      expect([told.cli, told.console]).toEqual([told.api, withItsTimes(told.api)]);
    }
    expect(faults).toEqual([]);
  }, 180_000);
});
