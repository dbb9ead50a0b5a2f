// The libraries of Segment and RudderStack, with their addresses set to this service as docs/guides/segment-libraries.md says.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import RudderAnalytics from "@rudderstack/rudder-sdk-node";
import { Analytics } from "@segment/analytics-node";
import { build } from "esbuild";
import type { ServiceProcess } from "../support/service-process.ts";
import { asApp, asOwner, asServer, type Claim, call, FOLDER, newWorkspace, settle, type Workspace } from "./claims.ts";
import { openPage } from "./page.ts";
import { runScript } from "./run.ts";

/** The event of the guide, which starts a journey here. */
const EVENT = "Order Completed";

async function startJourney(service: ServiceProcess, workspace: Workspace): Promise<void> {
  const headers = asOwner(workspace);
  const { channels } = await call(service, "GET /api/v1/channels", { headers });
  const channel_ids = channels
    .filter(({ type }: { type: string }) => type === "in_app")
    .map(({ id }: { id: string }) => id);
  const content = { title: "Thank you", body: "Your order is {{ event.total }}." };
  const body = {
    name: "After an order",
    trigger: { type: "event", event_name: EVENT },
    steps: { start: "thanks", steps: { thanks: { id: "thanks", type: "send", send: { channel_ids, content } } } },
  };
  const { id } = await call(service, "POST /api/v1/journeys", { headers, body });
  await call(service, `POST /api/v1/journeys/${id}/activate`, { headers });
}

/** @throws where `external_id` is no subscriber with these traits, or its event is not kept, or the journey sent nothing */
async function showThatItArrived(service: ServiceProcess, workspace: Workspace, external_id: string): Promise<void> {
  await settle(service);
  const headers = asServer(workspace);
  const { items } = await call(service, `GET /v1/subscribers?external_id=${external_id}`, { headers });
  const [subscriber] = items;
  assert.equal(subscriber?.email, `${external_id}@example.com`);
  assert.equal(JSON.parse(subscriber.attributes).plan, "pro");

  const events = await call(service, "GET /v1/events/export", { headers });
  const own = events.items.filter((event: { subscriber_id: string }) => event.subscriber_id === subscriber.id);
  assert.deepEqual(
    own.map(({ event_name, properties }: { event_name: string; properties: unknown }) => [event_name, properties]),
    [[EVENT, { total: 9.5 }]],
  );

  const inbox = await call(service, `GET /v1/in-app/messages?subscriber_id=${subscriber.id}`, {
    headers: asApp(workspace),
  });
  assert.deepEqual(
    inbox.messages.map(({ content }: { content: { title: string; body: string } }) => [content.title, content.body]),
    [["Thank you", "Your order is 9.5."]],
  );
}

const JOURNEY = "identify and track are a subscriber and its event, which starts a journey, whose message arrives";

/** The code of the guide, as it is printed, in a program of its own. */
async function proveGuide(service: ServiceProcess): Promise<void> {
  const workspace = await newWorkspace(service);
  await startJourney(service, workspace);
  const guide = readFileSync(new URL("../../docs/guides/segment-libraries.md", FOLDER), "utf8");
  const [, code] = /^```js\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  assert.ok(code, "The guide has a block of JavaScript.");
  const program = fileURLToPath(new URL("generated/segment-guide.mjs", FOLDER));
  writeFileSync(program, code);
  await runScript(program, [], { BASE_URL: service.url, SERVER_KEY: workspace.server_key });
  await showThatItArrived(service, workspace, "ada");
}

async function proveRudder(service: ServiceProcess): Promise<void> {
  const workspace = await newWorkspace(service);
  await startJourney(service, workspace);
  const analytics = new RudderAnalytics(workspace.server_key, { dataPlaneUrl: service.url });
  analytics.identify({ userId: "grace", traits: { email: "grace@example.com", plan: "pro" } });
  analytics.track({ userId: "grace", event: EVENT, properties: { total: 9.5 } });
  await analytics.flush();
  await showThatItArrived(service, workspace, "grace");
}

/** How the library for browsers sends: each message by the letter of its call, or many by that of a batch. */
const strategies = { standard: ["/i", "/t"], batching: ["/b"] } as const;
type Strategy = keyof typeof strategies;

async function browserProgram(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("programs/analytics-next.ts", FOLDER))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

const proveBrowser = (strategy: Strategy) => async (service: ServiceProcess) => {
  const workspace = await newWorkspace(service);
  await startJourney(service, workspace);
  const { page, complaints, close } = await openPage(await browserProgram());
  try {
    await page.waitForFunction("typeof window.report === 'function'");
    const sent = strategies[strategy].map((end) =>
      page.waitForResponse((answer) => answer.url().endsWith(end) && answer.request().method() === "POST"),
    );
    const given = [{ writeKey: workspace.sdk_key, cdnURL: service.url }, strategy];
    await page.evaluate(`window.report(...${JSON.stringify(given)})`);
    for (const answer of await Promise.all(sent)) assert.equal(answer.status(), 200);
    assert.deepEqual(complaints, []);
  } finally {
    await close();
  }
  await showThatItArrived(service, workspace, "lin");
};

/** @returns the requests that the library made for one message, and the error that it told its user, if any */
async function sendOne(service: ServiceProcess, writeKey: string, properties: object) {
  const analytics = new Analytics({ writeKey, host: service.url, maxRetries: 2 });
  let requests = 0;
  const errors: unknown[] = [];
  analytics.on("http_request", () => {
    requests++;
  });
  analytics.on("error", (error) => errors.push(error));
  analytics.track({ userId: "ada", event: EVENT, properties });
  await analytics.closeAndFlush({ timeout: 20_000 });
  return { requests, errors };
}

async function proveBadKey(service: ServiceProcess): Promise<void> {
  const { requests, errors } = await sendOne(service, "nobody", {});
  assert.deepEqual([requests, errors.length], [1, 1]);
  const body = JSON.stringify({ batch: [] });
  const headers = { authorization: `Basic ${btoa("nobody:")}`, "content-type": "application/json" };
  assert.equal((await fetch(`${service.url}/v1/batch`, { method: "POST", headers, body })).status, 401);
  assert.equal((await fetch(`${service.url}/v1/projects/nobody/settings`)).status, 404);
}

/** @returns the errors that the library told its user of one message, which it does not send again */
async function errorsOfRudder(service: ServiceProcess, writeKey: string): Promise<unknown[]> {
  const errors: unknown[] = [];
  const analytics = new RudderAnalytics(writeKey, {
    dataPlaneUrl: service.url,
    errorHandler: (error: unknown) => errors.push(error),
    logLevel: "none",
  });
  analytics.track({ userId: "ada", event: EVENT });
  await analytics.flush().catch((error: unknown) => errors.push(error));
  return errors;
}

async function proveBadKeyOfRudder(service: ServiceProcess): Promise<void> {
  assert.notEqual((await errorsOfRudder(service, "nobody")).length, 0);
  assert.deepEqual(await errorsOfRudder(service, (await newWorkspace(service)).server_key), []);
}

/** The library reads the settings of its key first, and sends nothing without them. */
async function proveBadKeyInBrowser(service: ServiceProcess): Promise<void> {
  const { page, close } = await openPage(await browserProgram());
  try {
    await page.waitForFunction("typeof window.report === 'function'");
    const requests: string[] = [];
    page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    const given = { writeKey: "nobody", cdnURL: service.url };
    const failure = await page.evaluate(`window.start(${JSON.stringify(given)})`);
    assert.equal(typeof failure, "string");
    assert.deepEqual(requests, ["GET /v1/projects/nobody/settings"]);
  } finally {
    await close();
  }
}

/** Status of a call of the tracking API with a good key. */
async function statusOf(service: ServiceProcess, { server_key }: Workspace, name: string, body: string) {
  const headers = { authorization: `Basic ${btoa(`${server_key}:`)}`, "content-type": "application/json" };
  return (await fetch(`${service.url}/v1/segment/${name}`, { method: "POST", headers, body })).status;
}

async function proveRefusals(service: ServiceProcess): Promise<void> {
  const workspace = await newWorkspace(service);
  const message = { type: "track", userId: "ada", event: EVENT };
  const large = JSON.stringify({
    batch: Array.from({ length: 40 }, () => ({ ...message, properties: { text: "x".repeat(20_000) } })),
  });
  assert.ok(large.length > 500_000);
  assert.equal(await statusOf(service, workspace, "batch", large), 400);
  assert.equal(await statusOf(service, workspace, "track", "{"), 400);
  const long = JSON.stringify({ ...message, properties: { text: "x".repeat(33_000) } });
  assert.equal(await statusOf(service, workspace, "track", long), 400);
  assert.equal(await statusOf(service, workspace, "nothing", JSON.stringify(message)), 404);
}

export const claims: readonly Claim[] = [
  { says: `The guide's program: ${JOURNEY}`, tool: "@segment/analytics-node", prove: proveGuide },
  { says: `With the address changed: ${JOURNEY}`, tool: "@rudderstack/rudder-sdk-node", prove: proveRudder },
  {
    says: `In Chromium, message by message: ${JOURNEY}`,
    tool: "@segment/analytics-next",
    prove: proveBrowser("standard"),
  },
  { says: `In Chromium, in batches: ${JOURNEY}`, tool: "@segment/analytics-next", prove: proveBrowser("batching") },
  {
    says: "A write key of nobody is refused at once, and the library tells its user",
    tool: "@segment/analytics-node",
    prove: proveBadKey,
  },
  {
    says: "A write key of nobody is refused, and the library tells its user; one of somebody is not",
    tool: "@rudderstack/rudder-sdk-node",
    prove: proveBadKeyOfRudder,
  },
  {
    says: "In Chromium, a write key of nobody has no settings: the library says so, and sends nothing",
    tool: "@segment/analytics-next",
    prove: proveBadKeyInBrowser,
  },
  {
    says: "A batch over 500 KB, a message over 32 KB and a body that is no JSON are a 400 as at Segment, a call that does not exist a 404",
    tool: "fetch",
    version: () => process.version,
    prove: proveRefusals,
  },
];
