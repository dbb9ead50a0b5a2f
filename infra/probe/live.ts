// Checks of the live stream with credentials: when bytes arrive, and which headers reach the function.
import { randomUUID } from "node:crypto";
import { type Ask, type Check, check, demand, parsed } from "./ask.ts";

export interface Credentials {
  sdkKey: string;
  accessToken: string;
}

const SENDS = 5;
const FRAME_PATIENCE_MS = 20_000;
const KEEPALIVE_PATIENCE_MS = 45_000;
const STREAM = "/v1/in-app/stream";

/** Registers a workspace for one run, and returns its credentials. */
export async function registerThrowaway(ask: Ask): Promise<Credentials> {
  const id = randomUUID();
  const person = { email: `probe-${id}@${id}.example.com`, password: `Pr0be!${randomUUID()}`, name: "Probe" };
  const session = await ask("POST", "/api/v1/auth/register", {}, { ...person, workspace_name: "Probe" });
  const accessToken = String(parsed(demand(session.status === 201, session.text))?.access_token);
  const key = await ask("GET", "/api/v1/sdk-key", { authorization: `Bearer ${accessToken}` });
  return { accessToken, sdkKey: String(parsed(demand(key.status === 200, key.text))?.sdk_key) };
}

/** Opens streams of a subscriber of its own and sends to it. The subscriber is not removed. */
export async function probeStream(
  base: string,
  ask: Ask,
  { sdkKey, accessToken }: Credentials,
  long: boolean,
): Promise<Check[]> {
  const bearer = { authorization: `Bearer ${accessToken}` };
  const sdk = { "x-sdk-key": sdkKey };
  const checks: Check[] = [];
  const person = await ask("POST", "/api/v1/subscribers/upsert", sdk, { external_id: `probe-${randomUUID()}` });
  const id = parsed(person.text)?.id;
  if (typeof id !== "string")
    return [{ lines: "E7", about: "the SDK key is accepted", ok: false, seen: `${person.status}: ${person.text}` }];
  const path = `${STREAM}?subscriber_id=${id}`;

  checks.push(
    await check("E7 E10", "Authorization reaches the stream", async () => {
      const feed = await openStream(base + path, bearer);
      await feed.close();
      return demand(feed.status === 200, `status ${feed.status}`);
    }),
  );
  if (base.startsWith("https:"))
    checks.push(
      await check("E10", "a client's own x-viewer-authorization is dropped", async () => {
        const feed = await openStream(base + path, { "x-viewer-authorization": bearer.authorization });
        await feed.close();
        return demand(feed.status === 401, `status ${feed.status}`);
      }),
    );

  const feed = await openStream(base + path, sdk);
  checks.push(
    await check("E6 E17", "the stream's first byte", async () => {
      await feed.until("retry: ", FRAME_PATIENCE_MS);
      return demand(feed.status === 200, `after ${Math.round(performance.now() - feed.askedAt)} ms`);
    }),
    await check("E6 E17", `frame delay, median of ${SENDS}`, async () => {
      const delays: number[] = [];
      for (let i = 0; i < SENDS; i++) {
        const title = `probe ${randomUUID()}`;
        const sentAt = performance.now();
        const sent = await ask("POST", "/api/v1/notifications", bearer, { subscriberIds: [id], title, body: "Probe" });
        demand(sent.status === 201, `the notification got ${sent.status}: ${sent.text}`);
        await feed.until(title, FRAME_PATIENCE_MS);
        delays.push(performance.now() - sentAt);
      }
      return judgeDelays(delays);
    }),
  );
  if (long)
    checks.push(
      await check("E16", "the stream sends a comment every 30 s", async () => {
        const from = performance.now();
        await feed.until(": keepalive", KEEPALIVE_PATIENCE_MS);
        return `a comment after ${Math.round((performance.now() - from) / 1_000)} s more`;
      }),
    );
  await feed.close();
  return checks;
}

/** A later frame was held back on its way: Lambda may hold one until the next write. */
const MAX_DELAY_MS = 3_000;

/** @param delays in milliseconds. @throws if half of the frames are too late */
export function judgeDelays(delays: readonly number[]): string {
  const sorted = delays.map(Math.round).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const text = `${median} ms from send to frame, ${sorted.at(-1)} ms at most`;
  return demand(median <= MAX_DELAY_MS, text);
}

async function openStream(url: string, headers: Record<string, string>) {
  const askedAt = performance.now();
  const gone = new AbortController();
  const unanswered = setTimeout(() => gone.abort(), FRAME_PATIENCE_MS);
  const response = await fetch(url, { headers, signal: gone.signal }).finally(() => clearTimeout(unanswered));
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    status: response.status,
    askedAt,
    /** Reads until the text has arrived. @throws if it does not arrive in time */
    until: async (words: string, patienceMs: number) => {
      const late = setTimeout(() => gone.abort(new Error(`nothing in ${patienceMs} ms`)), patienceMs);
      try {
        while (!text.includes(words)) {
          const { done, value } = await reader.read();
          if (done) throw new Error(`the stream (${response.status}) ended: ${text.slice(0, 200)}`);
          text += decoder.decode(value, { stream: true });
        }
        text = text.slice(text.indexOf(words) + words.length);
      } finally {
        clearTimeout(late);
      }
    },
    close: async () => {
      gone.abort();
      await reader.cancel().catch(() => undefined);
    },
  };
}
