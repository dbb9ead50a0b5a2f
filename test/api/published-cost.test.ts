// What it costs that something is published, by what is asked of AWS: at most 0.30 dollars a million.
import { expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import type { Hooks } from "../../local/aws/index.ts";
import { ingest } from "../support/events.ts";
import { post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** List prices of us-east-1: of a put, of 64 KB on a bus, of an invocation, of a read of the table. */
const PUT = 5e-6;
const ENTRY = 1e-6;
const INVOCATION = 0.2e-6;
const READ = 0.125e-6;
/** One second of 512 MB, which is more than a batch takes. */
const SECOND_OF_MEMORY = 0.5 * 0.0000133334;
const MAX_PER_MILLION = 0.3;

async function counted(env: Record<string, string>) {
  const calls = { invocations: 0, puts: 0, reads: 0 };
  const hooks: Hooks = {
    count: (service) => {
      if (service === "s3") calls.puts++;
      if (service === "dynamodb") calls.reads++;
    },
  };
  const { world, tenant } = await withTenant({ env, hooks: (name) => (name === "publish-events" ? hooks : {}) });
  const { host } = world;
  const before = host.invoke;
  host.invoke = (name, ...given) => {
    if (name === "publish-events") calls.invocations++;
    return before(name, ...given);
  };
  const dollars = () => {
    const { invocations, puts, reads } = calls;
    const entries = world.eventbridge.meter().entries;
    return puts * PUT + entries * ENTRY + invocations * (INVOCATION + SECOND_OF_MEMORY) + reads * READ;
  };
  return { world, tenant, dollars };
}

const EVENTS = 1_000;
const manyEvents = Array.from({ length: EVENTS }, (_, n) => ({
  anonymous_id: `visitor-${n % 50}`,
  event_name: "product_viewed",
  properties: { sku: `sku-${n}`, price: 1_999, currency: "EUR" },
}));

const perMillion = (dollars: number, count: number) => (dollars / count) * 1_000_000;
const kindsOf = ({ logs }: TestWorld) => logs.filter(({ message }) => message === "published").map(({ to }) => to);

it("received events on the bus and in the archive cost at most 0.30 dollars a million (CLI-3)", async () => {
  const { world, tenant, dollars } = await counted({ EVENT_BUS: "default", ARCHIVE_BUCKET: "archive" });
  await world.call("POST /_local/operator", { body: { events_on_bus: { tenant_id: tenant.id, on: true } } });
  await ingest(world, tenant, { events: manyEvents });
  await world.settle();

  expect(kindsOf(world)).toEqual(expect.arrayContaining(["bus", "archive"]));
  expect(perMillion(dollars(), EVENTS)).toBeLessThanOrEqual(MAX_PER_MILLION);
});

it("outcomes of a send to many in the archive cost at most 0.30 dollars a million (CLI-3)", async () => {
  const { world, tenant, dollars } = await counted({ ARCHIVE_BUCKET: "archive" });
  const ids = await fill(world, tenant, 500);
  await world.settle();
  const before = dollars();
  await post(world, tenant, { subscriberIds: ids });
  await world.settle();

  expect(perMillion(dollars() - before, ids.length)).toBeLessThanOrEqual(MAX_PER_MILLION);
});

it("outbound events on the bus cost at most 0.30 dollars a million where four of a workspace share an entry (CLI-3)", async () => {
  const { world, tenant, dollars } = await counted({ EVENT_BUS: "default" });
  const workspaces = [tenant];
  while (workspaces.length < 50) workspaces.push(await world.tenant());
  await world.settle();
  const before = dollars();
  await Promise.all(workspaces.map((workspace) => addPeople(world, workspace, 4)));
  await world.settle();

  expect(world.eventbridge.meter().entries).toBe(50);
  expect(perMillion(dollars() - before, 200)).toBeLessThanOrEqual(MAX_PER_MILLION);
});
