// A mail server on this machine: what it does takes real time, which moves of service time wait for.
import { afterEach, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { SMTP } from "../support/channels.ts";
import { type MailServer, mailServer } from "../support/mail-server.ts";
import { addPeople, send } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { testWorld } from "../support/world.ts";

const SLOW_MS = 400;
const servers: MailServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Ten people who are reached by mail alone. */
async function setting() {
  const server = await mailServer(SLOW_MS);
  servers.push(server);
  const world = await testWorld({ env: { PROVIDERS_ALLOW_LOOPBACK: "1" } });
  const tenant = await world.tenant();
  const { email } = await openChannels(world, tenant, "email");
  const body = { ...SMTP, host: "127.0.0.1", port: server.port };
  const set = await tenant.call(`POST /api/v1/channels/${email}/credentials/email`, body);
  expect(set.status).toBe(200);
  await world.settle();
  await addPeople(world, tenant, 10, (n) => ({ email: `p${n}@example.com` }));
  const ask = () => tenant.call("POST /api/v1/notifications", { ...input, channel_ids: [email] });
  const input = { target: { type: "all" }, title: "Hello", body: "World" };
  return { server, world, tenant, channel: email!, ask };
}

it.each<[string, (world: Awaited<ReturnType<typeof testWorld>>) => Promise<unknown>]>([
  ["an advance", (world) => world.advance(MINUTE)],
  ["a settle", (world) => world.settle()],
])("%s waits for a mail server that takes its time, so that no mail is unconfirmed", async (_, move) => {
  const { server, world, tenant, ask } = await setting();
  const { id } = (await ask()).body;
  await move(world);
  expect(server.mails).toHaveLength(10);
  const { items } = (await tenant.call(`GET /api/v1/notifications/${id}/recipients`)).body;
  expect(items.map(({ state }: { state: string }) => state)).toEqual(Array(10).fill("delivered"));
});

it("mails of two sends go by the sessions of the first (D-EMAIL)", async () => {
  const { server, world, tenant, channel } = await setting();
  const { connections } = server;
  await send(world, tenant, { target: { type: "all" }, channel_ids: [channel] });
  const opened = connections();
  await send(world, tenant, { target: { type: "all" }, channel_ids: [channel] });
  expect([server.mails.length, connections()]).toEqual([20, opened]);
});
