// The service worker of web push, in a scope of its own, against a receiver of its reports.
import { createServer } from "node:http";
import { expect, it } from "vitest";
import { handlePush } from "../../sdk/src/elements/push-worker.ts";
import { listenOnLoopback } from "../support/loopback.ts";

it("a worker shows what the service pushes, opens what was tapped and reports it", async () => {
  const listeners = new Map<string, (event: object) => void>();
  const [shown, opened]: [unknown[][], string[]] = [[], []];
  const scope = {
    addEventListener: (type: string, listener: (event: object) => void) => void listeners.set(type, listener),
    location: { origin: "https://shop.example.com" },
    registration: { showNotification: async (...given: unknown[]) => void shown.push(given) },
    clients: { matchAll: async () => [], openWindow: async (url: string) => void opened.push(url) },
  };
  const reports: unknown[] = [];
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    reports.push([request.url, request.headers["x-sdk-key"], JSON.parse(Buffer.concat(chunks).toString())]);
    response.writeHead(202).end();
  });
  const port = await listenOnLoopback(receiver);
  handlePush(scope, { baseUrl: `http://127.0.0.1:${port}/`, sdkKey: "key" });
  const fire = async (type: string, event: object) => {
    const work: Promise<unknown>[] = [];
    listeners.get(type)!({ ...event, waitUntil: (one: Promise<unknown>) => work.push(one) });
    await Promise.all(work);
  };
  const data = {
    notification_id: "job",
    subscriber_id: "ada",
    url: "/sale",
    buttons: [{ id: "x", title: "X", url: "javascript:alert(1)" }],
  };
  await fire("push", { data: { json: () => ({ title: "Sale", body: "20%", tag: "t", data }) } });
  expect(shown).toEqual([["Sale", { body: "20%", tag: "t", data }]]);
  for (const action of ["", "x"])
    await fire("notificationclick", { action, notification: { data, close: () => undefined } });
  expect(opened).toEqual(["https://shop.example.com/sale"]);
  const about = { job_id: "job", platform: "web", subscriber_id: "ada", occurred_at: expect.any(String) };
  expect(reports).toEqual([
    ["/api/v1/notifications/interactions", "key", { ...about, interaction: "tapped" }],
    ["/api/v1/notifications/interactions", "key", { ...about, interaction: "action_tapped", action_id: "x" }],
  ]);
  receiver.close();
});
