// The live stream, read by the EventSource of others through a proxy that cuts connections by chance (AMB-122).
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import EventSource2 from "eventsource-2";
import { EventSource as EventSource3 } from "eventsource-3";
import { EventSource as EventSource4 } from "eventsource-4";
import { randomFrom } from "../simulator/random.ts";
import { launchBrowser } from "../support/browser.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { asServer, type Claim, call, newWorkspace } from "./claims.ts";
import { cuttingProxy } from "./cutting-proxy.ts";
import { openPage } from "./page.ts";

const CUTS = 100;
const SEED = 32;
/** A position names the messages of the last minute, 60 at most (docs/decisions/0021): fewer are sent. */
const BETWEEN_SENDS_MS = 2_000;
const PATIENCE_MS = 30_000;

/** Where a client begins whose inbox is empty. */
const EMPTY = "00000000-0000-7000-8000-000000000000";

interface Reader {
  /** The titles of the messages that it saw, in that order. */
  seen(): Promise<string[]>;
  close(): Promise<void>;
}

type Open = (url: string) => Promise<Reader>;

interface EventSourceLike {
  addEventListener(type: "message", listener: (event: { data: string }) => void): void;
  close(): void;
}

const library =
  (make: (url: string) => EventSourceLike): Open =>
  async (url) => {
    const titles: string[] = [];
    const source = make(url);
    source.addEventListener("message", ({ data }) => void titles.push(JSON.parse(data).title));
    return { seen: async () => titles, close: async () => source.close() };
  };

/** The browser's own. */
const browser: Open = async (url) => {
  const { page, close } = await openPage();
  await page.evaluate(`window.titles = [];
new EventSource(${JSON.stringify(url)}).onmessage = ({ data }) => window.titles.push(JSON.parse(data).title);`);
  return { seen: () => page.evaluate<string[]>("window.titles"), close };
};

async function browserVersion(): Promise<string> {
  const chromium = await launchBrowser();
  const version = chromium.version();
  await chromium.close();
  return version;
}

interface Outcome {
  cuts: number;
  lost: number;
  twice: number;
}

/** Sends messages until the proxy has cut a hundred connections, then until the reader has had time to see the last one. */
async function read(service: ServiceProcess, open: Open): Promise<Outcome> {
  const workspace = await newWorkspace(service);
  const headers = asServer(workspace);
  const { id } = await call(service, "POST /v1/subscribers/upsert", { headers, body: { external_id: "ada" } });
  const proxy = await cuttingProxy(service.url, randomFrom(SEED), CUTS);
  const query = new URLSearchParams({ subscriber_id: id, sdk_key: workspace.sdk_key, last_event_id: EMPTY });
  const reader = await open(`${proxy.url}/v1/in-app/stream?${query}`);
  try {
    const sent: string[] = [];
    while (proxy.cuts() < CUTS) {
      const title = `Message ${sent.length + 1}`;
      sent.push(title);
      const body = { external_ids: ["ada"], title, body: "Something happened.", category: "transactional" };
      await call(service, "POST /v1/notifications", { headers, body });
      await sleep(BETWEEN_SENDS_MS);
    }

    let seen: string[] = [];
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(500)) {
      seen = await reader.seen();
      if (new Set(seen).size === sent.length) break;
    }
    const lost = sent.filter((each) => !seen.includes(each)).length;
    return { cuts: proxy.cuts(), lost, twice: seen.length - new Set(seen).size };
  } finally {
    await reader.close();
    proxy.close();
  }
}

const readers = {
  "eventsource-2": library((url) => new EventSource2(url)),
  "eventsource-3": library((url) => new EventSource3(url)),
  "eventsource-4": library((url) => new EventSource4(url)),
  chromium: browser,
};
type ReaderName = keyof typeof readers;

let outcomes: Record<ReaderName, Promise<Outcome>> | undefined;

/** All at once, since each waits for minutes. */
function outcomeOf(name: ReaderName, service: ServiceProcess): Promise<Outcome> {
  outcomes ??= Object.fromEntries(Object.entries(readers).map(([each, open]) => [each, read(service, open)])) as Record<
    ReaderName,
    Promise<Outcome>
  >;
  return outcomes[name];
}

const once = (tool: ReaderName, version?: () => Promise<string>): Claim => ({
  says: `${CUTS} cuts at random places of the live stream: no message is lost, none is seen twice`,
  tool,
  ...(version && { version }),
  prove: async (service) => {
    const { cuts, lost, twice } = await outcomeOf(tool, service);
    assert.deepEqual({ cuts, lost, twice }, { cuts: CUTS, lost: 0, twice: 0 });
  },
});

export const claims: readonly Claim[] = [
  once("eventsource-2"),
  once("eventsource-3"),
  once("eventsource-4"),
  once("chromium", browserVersion),
];
