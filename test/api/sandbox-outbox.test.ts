// The outbox of a sandbox: what it says of a message, its pages, and how long it is kept (F4).
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { entriesOf } from "../support/pages.ts";
import { addPeople } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { sandboxIn } from "../support/sandboxes.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A sandbox whose outbox has so many mails. */
async function mailed(count: number, more: object = {}) {
  const world = await fresh();
  const sandbox = await sandboxIn(world);
  const { email = "" } = await openChannels(world, sandbox.tenant, "email");
  await addPeople(world, sandbox.tenant, count, (n) => ({ email: `p${n}@shop.example` }));
  const body = { title: "Hello", body: "All", channel_ids: [email], target: { type: "all" }, ...more };
  const mail = async () => {
    await sandbox.call("POST /api/v1/notifications", body);
    await world.settle();
  };
  await mail();
  return { world, sandbox, mail };
}

it("the outbox has the headers of a webhook (F4)", async () => {
  const world = await fresh();
  const sandbox = await sandboxIn(world);
  await sandbox.call("POST /api/v1/webhooks", {
    target_url: "https://shop.example/hooks",
    events: ["subscriber.created"],
  });
  await sandbox.person("ada");
  await world.settle();

  const [{ headers }] = await sandbox.outbox();
  expect(headers).toMatchObject({ "content-type": "application/json" });
});

it("the outbox has the data of a message and its link to unsubscribe (F4)", async () => {
  const { sandbox } = await mailed(1, { data: { order: "A-1" } });

  const [{ headers }] = await sandbox.outbox();
  expect(headers).toEqual({ data: '{"order":"A-1"}', "List-Unsubscribe": expect.stringContaining("/u/") });
});

it("the outbox has the first 100,000 characters of a long mail (F4)", async () => {
  const { sandbox } = await mailed(1, { body: "&".repeat(30_000) });

  const [{ body }] = await sandbox.outbox();
  expect(body).toHaveLength(100_000);
});

it("the pages of an outbox together hold each message once, in their order (F4)", async () => {
  const { sandbox } = await mailed(205);
  const list = (page: string) => sandbox.tenant.call(`GET /v1/test/outbox${page}`);

  const found = await entriesOf<{ id: string; to: string }>(list);

  expect(new Set(found.map(({ to }) => to)).size).toBe(205);
  expect(found.map(({ id }) => id)).toEqual(found.map(({ id }) => id).sort());
});

it("a cursor of an outbox is refused in another sandbox (F4, GEN-8)", async () => {
  const { world, sandbox } = await mailed(101);
  const { next_cursor } = (await sandbox.tenant.call("GET /v1/test/outbox")).body;

  const { tenant } = await sandboxIn(world);
  expect((await tenant.call(`GET /v1/test/outbox?cursor=${encodeURIComponent(next_cursor)}`)).status).toBe(422);
});

it("the outbox keeps a message for 30 days of real time, however far the time of the sandbox is moved (F4)", async () => {
  const { world, sandbox, mail } = await mailed(1);

  await sandbox.move({ advance: "100d" });
  await mail();
  expect(await sandbox.outbox()).toHaveLength(2);

  await world.advance(33 * DAY);
  expect(await sandbox.outbox()).toEqual([]);
});
