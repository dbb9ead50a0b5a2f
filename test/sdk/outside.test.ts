// The packed SDK in a folder outside this tree: what it holds, its types, and a server at work with the local service.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { selfSigned } from "../support/self-signed.ts";
import { type Outside, openOutside } from "./support/outside.ts";

const STRICT = [
  "--strict",
  "--noEmit",
  "--module",
  "nodenext",
  "--target",
  "es2022",
  "--lib",
  "es2022,dom",
  "--types",
  "",
];

let outside: Outside;
beforeAll(async () => {
  outside = await openOutside();
}, 120_000);
afterAll(() => outside?.close());

it("packs code, types, licence and nothing else", () => {
  const files = readdirSync(join(outside.folder, "node_modules/engagement-sdk"));
  expect(files.toSorted()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  const dist = readdirSync(join(outside.folder, "node_modules/engagement-sdk/dist"), {
    recursive: true,
    withFileTypes: true,
  });
  expect(dist.filter((file) => file.isFile() && !/\.(js|d\.ts)$/.test(file.name))).toEqual([]);
});

it("its command line logs in, exports and finds no difference (F17)", () => {
  const [, email, password = ""] = /^(\S+) +password (.+)$/.exec(outside.fact("owner")) ?? [];
  const main = join(outside.folder, "node_modules/engagement-sdk/dist/cli/main.js");
  expect(readFileSync(main, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  const env = { ENGAGEMENT_CONFIG: join(outside.folder, "config"), ENGAGEMENT_PASSWORD: password };
  const engagement = (...words: string[]) => outside.command(main, words, env);
  expect(engagement("login", "--url", outside.fact("service"), "--email", email!)).toMatch(/^Logged in/);
  delete (env as Partial<typeof env>).ENGAGEMENT_PASSWORD;
  expect(engagement("export")).toMatch(/wrote channels/);
  expect(engagement("diff", "--exit-code")).toMatch(/unchanged/);
});

it("a page of another origin may read what the client goes by", async () => {
  const { headers } = await fetch(`${outside.fact("service")}/v1/in-app/messages`, { headers: { "x-sdk-key": "x" } });
  expect(headers.get("access-control-expose-headers")).toBe("date, retry-after, x-request-id, x-stream-id");
});

it("a server and a reader work together through it", async () => {
  const script = `
    import { createClient } from "engagement-sdk";
    import { createBrowserClient } from "engagement-sdk/browser";
    import { ServiceError } from "engagement-sdk/errors";
    import { verifyWebhook } from "engagement-sdk/webhook";
    const [baseUrl, accessToken, serverKey, sdkKey] = process.argv.slice(2);
    const server = createClient({ baseUrl, accessToken, serverKey });
    const reader = createBrowserClient({ baseUrl, sdkKey });
    const { id } = await reader.subscribers.upsert({ external_id: "grace", attributes: { first_name: "Grace" } });
    const later = () => { let resolve; const promise = new Promise((done) => { resolve = done; }); return { promise, resolve }; };
    const [found, live] = [later(), later()];
    const stream = reader.stream(id, { onMessage: found.resolve, onState: (state) => state === "live" && live.resolve() });
    await live.promise;
    const { sent } = await server.notifications.create({ subscriberIds: [id], title: "Hello {{ subscriber.first_name }}", body: "It works." });
    const message = await found.promise;
    stream.close();
    await stream.closed;
    await reader.inbox.readMessage(message.id, { subscriber_id: id });
    const { messages } = await reader.inbox.listMessages({ subscriber_id: id, status: "read" });
    const refused = await server.templates.get("nothing").catch((error) => error);
    const { items } = await server.subscribers.listWithServerKey({ external_id: "grace" });
    console.log(JSON.stringify({
      sent, title: message.title, read: messages.map((one) => one.id === message.id), people: items.length,
      refused: [refused instanceof ServiceError, refused.status, refused.code, typeof refused.requestId],
      forged: verifyWebhook("secret", "{}", "sha256=00"),
    }));
  `;
  const facts = ["service", "access token", "server key", "SDK key"];
  expect(outside.script("try.js", script, ...facts)).toEqual({
    sent: 1,
    title: "Hello Grace",
    read: [true],
    people: 1,
    forged: false,
    refused: [true, 404, "NOT_FOUND", "string"],
  });
});

it("imports a small file with the request and a large one by way of an upload (ARC-1)", () => {
  const script = `
    import { createClient } from "engagement-sdk";
    const [baseUrl, accessToken] = process.argv.slice(2);
    const asked = [];
    const recording = (url, init) => { asked.push(init.method + " " + new URL(url).pathname); return fetch(url, init); };
    const server = createClient({ baseUrl, accessToken, fetch: recording });
    const { id } = await server.lists.create({ name: "Imported" });
    const row = (n) => "person-" + n + ",person-" + n + "@example.com," + "x".repeat(900) + "\\n";
    const fileOf = (rows) => new Blob(["external_id,email,first_name\\n", ...Array.from({ length: rows }, (_, n) => row(n))]);
    const imports = [await server.importCsv(id, fileOf(2)), await server.importCsv(id, fileOf(5000), { dryRun: true })];
    await fetch(baseUrl + "/_local/settle", { method: "POST" });
    const jobs = await Promise.all(imports.map((one) => server.imports.getListsImport(one.import_job_id)));
    const people = await server.lists.listSubscribers(id);
    console.log(JSON.stringify({
      asked: asked.filter((one) => one.startsWith("POST") && !one.endsWith("/lists")), people: people.items.length,
      jobs: jobs.map(({ status, total_rows, failed_rows, dry_run }) => ({ status, total_rows, failed_rows, dry_run })),
    }));
  `;
  const importing = "POST /api/v1/lists/import";
  expect(outside.script("import.js", script, "service", "access token")).toEqual({
    asked: [importing, `${importing}/uploads`, "POST /engagement-imports", importing],
    people: 2,
    jobs: [
      { status: "completed", total_rows: 2, failed_rows: 0, dry_run: false },
      { status: "completed", total_rows: 5_000, failed_rows: 0, dry_run: true },
    ],
  });
});

it("the packed SDK verifies a delivery that really came (WHK-12, WHK-13)", async () => {
  const script = `
    import { once } from "node:events";
    import { createServer } from "node:https";
    import { createClient } from "engagement-sdk";
    import { verifyWebhook } from "engagement-sdk/webhook";
    const [baseUrl, serverKey, sdkKey] = process.argv.slice(2);
    const receiver = createServer(${JSON.stringify(selfSigned)}).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const server = createClient({ baseUrl, serverKey, sdkKey });
    const target_url = "https://127.0.0.1:" + receiver.address().port + "/";
    const { secret } = await server.hooks.create({ target_url, events: ["subscriber.created"] });
    const arrival = once(receiver, "request");
    await server.subscribers.upsert({ external_id: "hooked" });
    const [request, response] = await arrival;
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end();
    receiver.close();
    const body = Buffer.concat(chunks);
    const signature = request.headers["x-service-signature"];
    console.log(JSON.stringify({
      event: request.headers["x-service-event"], person: JSON.parse(body).data.external_id,
      genuine: verifyWebhook(secret, body, signature), changed: verifyWebhook(secret, body + " ", signature),
      foreign: verifyWebhook(secret + "x", body, signature),
    }));
  `;
  expect(outside.script("hook.js", script, "service", "server key", "SDK key")).toEqual({
    event: "subscriber.created",
    person: "hooked",
    genuine: true,
    changed: false,
    foreign: false,
  });
});

it("its types hold in a strict project outside, and refuse what the service would (D-SDK)", () => {
  const code = `
    import { createClient } from "engagement-sdk";
    import { createBrowserClient } from "engagement-sdk/browser";
    import { ServiceError } from "engagement-sdk/errors";
    import type { Template } from "engagement-sdk/types";
    import { verifyWebhook } from "engagement-sdk/webhook";
    export const good: boolean = verifyWebhook("s", new Uint8Array(), null);
    export const fieldsOf = (error: unknown) => (error instanceof ServiceError ? error.fields : undefined);
    const server = createClient({ baseUrl: "", accessToken: "" });
    export const template: Promise<Template> = server.templates.create({ name: "n", content: { title: "t", body: "b" } });
    // @ts-expect-error a template has a content
    server.templates.create({ name: "n" });
    // @ts-expect-error no such target
    server.notifications.create({ target: { type: "everyone" }, title: "t", body: "b" });
    // @ts-expect-error the SDK key does not open it
    createBrowserClient({ baseUrl: "", sdkKey: "" }).templates;
    const { devices, events, notifications } = createBrowserClient({ baseUrl: "", sdkKey: "" });
    export const registered: Promise<{ id: string }> = devices.create({ subscriber_id: "s", platform: "ios", token: "t" });
    export const linked: Promise<{ linked: boolean }> = events.identify({ anonymous_id: "a", subscriber_id: "s" });
    // @ts-expect-error no such interaction
    notifications.createInteraction({ job_id: "j", interaction: "looked", platform: "web", occurred_at: "" });
    export const imported: Promise<{ import_job_id: string }> = server.importCsv("l", new Blob([]), { source: "platform_a" });
    createBrowserClient({ baseUrl: "", sdkKey: "" }).stream("id", { onMessage: ({ actions }) => void actions[0]?.label });
  `;
  writeFileSync(join(outside.folder, "typed.ts"), code);
  expect(outside.tsc(...STRICT, "typed.ts")).toBe("");
});

it("a strict program builds a segment and a journey, sends from a server key and reads a timeline, and nothing on its way is unknown (GEN-16)", () => {
  writeFileSync(join(outside.folder, "strict.ts"), readFileSync(new URL("support/strict-program.ts", import.meta.url)));
  expect(outside.tsc(...STRICT, "strict.ts")).toBe("");
  const facts = ["service", "access token", "SDK key"];
  expect(outside.script("strict.ts", readFileSync(join(outside.folder, "strict.ts"), "utf8"), ...facts)).toEqual({
    sent: 1,
    branches: 2,
    timeline: ["journey", "journey", "message", "message", "segment"],
  });
});
