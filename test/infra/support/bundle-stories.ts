// What the deployed bundles do together: they register a workspace, send, erase, keep files and mail.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { proxyEvent } from "../../../local/gateway-event.ts";
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { listenOnLoopback } from "../../support/loopback.ts";
import { formOf, pictures } from "../../support/pictures.ts";
import type { bundledWorld } from "./bundled-world.ts";

export type BundledWorld = Awaited<ReturnType<typeof bundledWorld>>;

const PATIENCE_MS = 120_000;

export async function callBundles(world: BundledWorld, route: string, headers: Record<string, string>, body?: unknown) {
  const [method = "", path = ""] = route.split(" ");
  const payload = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const request = { method, path, headers: { ...headers, "content-type": "application/json" }, body: payload };
  const answer = await world.gateway.handle({ ...request, sourceIp: "203.0.113.7" });
  return { status: answer.status, body: JSON.parse(answer.body.toString() || "null") };
}

export const requestFor = (path: string, headers: Record<string, string>) => ({
  method: "GET",
  path,
  headers,
  body: Buffer.alloc(0),
  sourceIp: "203.0.113.7",
});

/** Opens the live stream of a subscriber; resolves with what came once a message is among it. */
function listenTo(world: BundledWorld, subscriber: string, headers: Record<string, string>): Promise<string> {
  const request = requestFor(`/v1/in-app/stream?subscriber_id=${subscriber}`, headers);
  const event = proxyEvent(world, request, { routeKey: "$default", functionUrl: true });
  return new Promise((resolve, reject) => {
    let text = "";
    const listening = world.invoke("stream", event, (reply) => {
      if (reply.kind === "chunk") text += reply.text;
      if (text.includes("data: ")) resolve(text);
    });
    listening.catch(reject);
  });
}

/** One after the other, each on what those before it left. */
export function bundleStories(world: () => BundledWorld): void {
  const call = (route: string, headers: Record<string, string>, body?: unknown) =>
    callBundles(world(), route, headers, body);
  let owner: Record<string, string>;
  let app: Record<string, string>;
  let subscriber: string;

  it("they register the first workspace, and give it an SDK key", { timeout: PATIENCE_MS }, async () => {
    const account = {
      email: "owner@example.com",
      password: "Correct-Horse-9-Battery",
      name: "Owner",
      workspace_name: "Shop",
    };
    const registered = await call("POST /api/v1/auth/register", {}, account);
    expect(registered).toMatchObject({ status: 201 });
    owner = { authorization: `Bearer ${registered.body.access_token}` };
    const { status, body } = await call("GET /api/v1/sdk-key", owner);
    expect(status).toBe(200);
    app = { "x-sdk-key": body.sdk_key };
  });

  it("they take a message from its sender to the inbox and the live stream", { timeout: PATIENCE_MS }, async () => {
    const upserted = await call("POST /api/v1/subscribers/upsert", app, { external_id: "anna" });
    expect(upserted.status).toBe(200);
    subscriber = upserted.body.id;
    const heard = listenTo(world(), subscriber, app);
    const message = { subscriberIds: [subscriber], title: "Hello", body: "From the bundles" };
    expect(await call("POST /api/v1/notifications", owner, message)).toMatchObject({ status: 201, body: { sent: 1 } });
    await world().settle();
    expect(await heard).toContain("From the bundles");
    const inbox = await call(`GET /v1/in-app/messages?subscriber_id=${subscriber}`, app);
    expect(inbox.status).toBe(200);
    expect(JSON.stringify(inbox.body)).toContain("From the bundles");
  });

  it("they set a timer for a later send, and erase a subscriber", async () => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const later = { subscriberIds: [subscriber], title: "Later", body: "On", scheduled_at };
    expect(await call("POST /api/v1/notifications", owner, later)).toMatchObject({ status: 201 });
    await world().settle();
    expect(world().used).toContainEqual(expect.stringMatching(/^react: scheduler:CreateSchedule on /));
    expect((await call(`DELETE /api/v1/subscribers/${subscriber}`, owner)).status).toBe(204);
    await world().settle();
    expect(await call(`GET /api/v1/subscribers/${subscriber}`, owner)).toMatchObject({ status: 404 });
  });

  it("they keep an image, show it, and let it go", { timeout: PATIENCE_MS }, async () => {
    const { body, headers } = formOf({ file: pictures.png });
    const request = { method: "POST", path: "/api/v1/in-app/assets", body, sourceIp: "203.0.113.7" };
    const answer = await world().gateway.handle({ ...request, headers: { ...owner, ...headers } });
    expect(answer.status).toBe(201);
    const { id } = JSON.parse(answer.body.toString());
    expect((await call(`DELETE /api/v1/in-app/assets/${id}`, owner)).status).toBe(204);
    await world().settle();
    expect([...world().used]).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^api-assets: s3:PutObject on /),
        expect.stringMatching(/^discard-asset: s3:DeleteObject on /),
      ]),
    );
  });

  it("they send a mail, and hear from SES that it bounced", { timeout: PATIENCE_MS }, async () => {
    const { id: channel } = (await call("POST /api/v1/channels", owner, { name: "Mail", type: "email" })).body;
    const credentials = { provider: "ses", from_email: "shop@example.com", from_name: "Shop" };
    expect((await call(`POST /api/v1/channels/${channel}/credentials/email`, owner, credentials)).status).toBeLessThan(
      300,
    );
    await world().settle();
    const bob = { external_id: "bob", email: "bounce@simulator.amazonses.com" };
    const { id } = (await call("POST /api/v1/subscribers/upsert", app, bob)).body;
    // An id of nobody is skipped, which a plan of the audience counts.
    const message = { subscriberIds: [id, "nobody"], channel_ids: [channel], title: "Hello", body: "By mail" };
    const sent = await call("POST /api/v1/notifications", owner, message);
    expect(sent).toMatchObject({ status: 201, body: { sent: 1 } });
    await world().settle();
    const rights = ["deliver: ses:SendEmail on ", "deliver: ses:SendRawEmail on "].map((right) =>
      expect.stringContaining(right),
    );
    expect([...world().used]).toEqual(expect.arrayContaining(rights));
    await world().advance(MINUTE);
    await world().settle();
    const told = await call(`GET /api/v1/notifications/${sent.body.id}/recipients/${id}`, owner);
    expect(told.body).toMatchObject({ state: "bounced", reason: "Permanent: General" });
  });

  it("they write the files of the edge, and remove them with the stack", { timeout: PATIENCE_MS }, async () => {
    const told: string[] = [];
    const cloudFormation = createServer(async (request, response) => {
      told.push(JSON.parse(await text(request)).Status);
      response.end();
    });
    const ResponseURL = `http://127.0.0.1:${await listenOnLoopback(cloudFormation)}/`;
    const event = { ResponseURL, StackId: "stack", RequestId: "request", LogicalResourceId: "SiteFiles" };
    for (const RequestType of ["Create", "Delete"]) await world().invoke("publish-site", { ...event, RequestType });
    cloudFormation.close();
    expect(told).toEqual(["SUCCESS", "SUCCESS"]);
  });
}
