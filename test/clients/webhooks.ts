// Deliveries of webhooks, verified by the library of Standard Webhooks at a receiver of TLS on this machine.
import assert from "node:assert/strict";
import { createServer } from "node:https";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { webhookEvents } from "../../shared/rules/webhook-events.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { selfSigned } from "../support/self-signed.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { asOwner, asServer, type Claim, call, newWorkspace, settle } from "./claims.ts";

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

/** Answers every delivery with 200. */
async function receiver() {
  const deliveries: Delivery[] = [];
  const server = createServer(selfSigned, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      deliveries.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
      response.end();
    });
  });
  const port = await listenOnLoopback(server);
  return {
    deliveries,
    url: `https://127.0.0.1:${port}/in`,
    close: () => server.close(),
  };
}

/** Of every type, one is sent by the endpoint that tries a webhook. */
async function proveDeliveries(service: ServiceProcess): Promise<void> {
  const workspace = await newWorkspace(service);
  const { deliveries, url, close } = await receiver();
  try {
    const hook = { target_url: url, events: webhookEvents };
    const { id, secret } = await call(service, "POST /v1/hooks", { headers: asServer(workspace), body: hook });
    const trial = (event: string) =>
      call(service, `POST /api/v1/webhooks/${id}/test`, { headers: asOwner(workspace), body: { event } });
    for (const event of webhookEvents) await trial(event);
    const ada = { external_id: "ada", attributes: { city: "Malmö 🎉" } };
    await call(service, "POST /v1/subscribers/upsert", { headers: asServer(workspace), body: ada });
    await settle(service);
    assert.deepEqual(deliveries.map(eventOf).sort(), [...webhookEvents, "subscriber.created"].sort());
    for (const { headers, body } of deliveries)
      assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));

    const [first] = deliveries as [Delivery];
    assert.throws(() => new Webhook(secret).verify(`${first.body} `, first.headers), WebhookVerificationError);

    // For a day after a rotation, receivers with either secret verify.
    const rotated = await call(service, `POST /api/v1/webhooks/${id}/secret/rotate`, { headers: asOwner(workspace) });
    deliveries.length = 0;
    await trial("subscriber.created");
    await settle(service);
    const [next] = deliveries as [Delivery];
    for (const each of [secret, rotated.secret])
      assert.deepEqual(new Webhook(each).verify(next.body, next.headers), JSON.parse(next.body));
  } finally {
    close();
  }
}

const eventOf = ({ body }: Delivery): string => JSON.parse(body).event_type;

export const claims: readonly Claim[] = [
  {
    says: "A webhook of every type verifies by its secret, and after a rotation by both; a changed body does not",
    tool: "standardwebhooks",
    prove: proveDeliveries,
  },
];
