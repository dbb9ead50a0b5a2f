// Requests of the delivery worker are throttled after the provider answered: no outcome that is known is lost.
import { expect, it } from "vitest";
import { awsFailure, type Wire } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { jobOf } from "../support/notify.ts";
import { addDevice, addPeople, send } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A workspace whose delivery worker is throttled at the DynamoDB requests that `isThrottled` names, while `on` is set. */
async function throttledWorkspace(isThrottled: (operation: string, input: string) => boolean) {
  const throttle = { on: false, hits: 0 };
  const { world, tenant } = await withTenant({
    hooks: (name) => ({
      before: (service, operation, input: Wire) => {
        if (name !== "deliver" || service !== "dynamodb" || !throttle.on) return;
        if (!isThrottled(operation, JSON.stringify(input))) return;
        throttle.hits++;
        // As it is when the SDK's own retries are used up.
        throw awsFailure("ServiceUnavailable", "throttled", { status: 400 });
      },
    }),
  });
  return { world, tenant, throttle };
}

/** Ten subscribers with a phone each: one address is dead, one has a transient failure. */
async function tenPhones(world: TestWorld, tenant: Tenant) {
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 10);
  const devices = [];
  for (const id of people) devices.push(await addPhone(world, tenant, id, "ios"));
  await spoil(world, { channel: "ios", outcome: "invalid_token", subscriber_id: people[3] });
  await spoil(world, { channel: "ios", outcome: "transient", subscriber_id: people[7], times: 1 });
  return { people, devices, body: { subscriberIds: people, channel_ids: [ios] } };
}

/** The send as it ends: every outcome that the provider gave is in the job and in the ledger, and no push went twice. */
async function expectTrueOutcomes(world: TestWorld, tenant: Tenant, people: readonly string[], id: string) {
  const job = await jobOf(tenant, id);
  expect(job).toMatchObject({ status: "completed", counts: { sent: 10, delivered: 9, failed: 1 } });
  expect(job.fail_reasons).not.toHaveProperty("delivery_unconfirmed");
  expect(Object.values(job.fail_reasons)).toEqual([1]);
  const states = await Promise.all(people.map(async (one) => (await ledgerOf(tenant, one)).map(({ state }) => state)));
  expect(states).toEqual(people.map((_, i) => (i === 7 ? ["retryable", "sent"] : [i === 3 ? "failed" : "sent"])));
  const given = (await outboxOf(world, `?job_id=${id}`)).map(({ subscriber_id }) => subscriber_id);
  expect(given.sort()).toEqual(people.filter((_, i) => i !== 3).sort());
}

/** The status of a subscriber's only device. */
const statusOf = async (tenant: Tenant, subscriber: string): Promise<string> =>
  (await tenant.call(`GET /api/v1/subscribers/${subscriber}/devices`)).body.items[0].status;

/** Ten phones, of which the fourth is dead, and whose mark as such is throttled. */
async function throttledMark() {
  let device = "";
  const { world, tenant, throttle } = await throttledWorkspace(
    (operation, input) => operation === "UpdateItem" && input.includes(device),
  );
  const { people, devices, body } = await tenPhones(world, tenant);
  device = devices[3]!.id;
  throttle.on = true;
  return { world, tenant, throttle, people, dead: people[3]!, device, body };
}

it("a throttled mark of a dead device changes no outcome, and is logged (D-NTF-STATE, D-DEV)", async () => {
  const { world, tenant, throttle, people, dead, device, body } = await throttledMark();

  const { job } = await send(world, tenant, body);
  await world.advance(10 * MINUTE);

  expect(throttle.hits).toBeGreaterThan(0);
  await expectTrueOutcomes(world, tenant, people, job.id);
  const message = "a dead address was not marked";
  const logged = { level: "warn", message, job: job.id, subscriber: dead, device, channel: "ios" };
  expect(world.logs).toContainEqual(expect.objectContaining(logged));
});

it("the next send marks a dead device whose mark was throttled (D-NTF-STATE, D-DEV)", async () => {
  const { world, tenant, throttle, dead, body } = await throttledMark();
  await send(world, tenant, body);
  await world.advance(10 * MINUTE);
  expect(await statusOf(tenant, dead)).toBe("active");
  throttle.on = false;

  await send(world, tenant, { ...body, subscriberIds: [dead] });

  expect(await statusOf(tenant, dead)).toBe("invalid");
});

it("a throttled mark of one dead device leaves the others marked (D-NTF-STATE, D-DEV)", async () => {
  const { world, tenant, people, dead, body } = await throttledMark();
  await spoil(world, { channel: "ios", outcome: "invalid_token", subscriber_id: people[5] });

  const { job } = await send(world, tenant, body);
  await world.advance(10 * MINUTE);

  expect(await jobOf(tenant, job.id)).toMatchObject({ status: "completed", counts: { delivered: 8, failed: 2 } });
  expect(await statusOf(tenant, dead)).toBe("active");
  expect(await statusOf(tenant, people[5]!)).toBe("invalid");
});

it("a throttled suppression of a dead mailbox changes no outcome (D-NTF-STATE, D-CONSENT)", async () => {
  const { world, tenant, throttle } = await throttledWorkspace(
    (operation, input) => operation === "UpdateItem" && input.includes("#AD#"),
  );
  const { email } = await openChannels(world, tenant, "email");
  const people = await addPeople(world, tenant, 3, (n) => ({ email: `p${n}@example.com` }));
  await spoil(world, { channel: "email", outcome: "invalid_token", subscriber_id: people[1] });
  const body = { subscriberIds: people, channel_ids: [email] };
  throttle.on = true;

  const { id } = (await send(world, tenant, body)).job;
  await world.advance(10 * MINUTE);

  expect(throttle.hits).toBeGreaterThan(0);
  const job = await jobOf(tenant, id);
  expect(job).toMatchObject({ status: "completed", counts: { delivered: 2, failed: 1 } });
  expect(job.fail_reasons).not.toHaveProperty("delivery_unconfirmed");
  throttle.on = false;
  expect((await send(world, tenant, body)).job.counts).toMatchObject({ delivered: 2, failed: 1, skipped: 0 });
  expect((await send(world, tenant, body)).job.skip_reasons).toEqual({ suppressed: 1 });
});

it("a dead mailbox does not suppress the address that replaced it before it was marked (D-CONSENT)", async () => {
  const mark = requests({ of: "deliver", operation: "UpdateItem", naming: "#AD#" });
  const { world, tenant } = await withTenant({ hooks: mark.hooks });
  const { email } = await openChannels(world, tenant, "email");
  const people = await addPeople(world, tenant, 1, () => ({ email: "old@example.com" }));
  await spoil(world, { channel: "email", outcome: "invalid_token", times: 1 });
  const upsert = { external_id: "p0", email: "new@example.com" };
  mark.each(() => world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: upsert }));
  const body = { subscriberIds: people, channel_ids: [email] };

  expect((await send(world, tenant, body)).job.counts).toMatchObject({ failed: 1 });
  expect((await send(world, tenant, body)).job.counts).toMatchObject({ delivered: 1, skipped: 0 });
  expect((await outboxOf(world)).map(({ to }) => to)).toEqual(["new@example.com"]);
});

it("throttled rows of the ledger change no outcome, because the claim keeps what is known (D-NTF-STATE)", async () => {
  const { world, tenant, throttle } = await throttledWorkspace((operation) => operation === "BatchWriteItem");
  const { people, body } = await tenPhones(world, tenant);
  throttle.on = true;

  const { job } = await send(world, tenant, body);
  expect(throttle.hits).toBeGreaterThan(0);
  throttle.on = false;
  await world.advance(20 * MINUTE);

  await expectTrueOutcomes(world, tenant, people, job.id);
});

it("outcomes of providers are kept by the queue while the table refuses every write for minutes (D-NTF-STATE)", async () => {
  const writes = ["BatchWriteItem", "TransactWriteItems", "UpdateItem", "PutItem", "DeleteItem"];
  let isSent = false;
  const { world, tenant, throttle } = await throttledWorkspace((operation, input) => {
    const isRefused = isSent && writes.includes(operation);
    // The claim of the group is the last write that succeeds.
    isSent ||= input.includes('to\\":10');
    return isRefused;
  });
  const { people, body } = await tenPhones(world, tenant);
  throttle.on = true;

  const { job } = await send(world, tenant, body);
  expect(throttle.hits).toBeGreaterThan(1);
  await world.advance(3 * MINUTE);
  expect((await jobOf(tenant, job.id)).status).toBe("processing");
  throttle.on = false;
  await world.advance(30 * MINUTE);

  await expectTrueOutcomes(world, tenant, people, job.id);
});

it("throttled reads of the next group change no outcome of the groups before (D-NTF-STATE)", async () => {
  let last = "";
  const { world, tenant, throttle } = await throttledWorkspace(
    (operation, input) => operation === "BatchGetItem" && input.includes(last),
  );
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 100);
  // Eleven addresses a group: the last group is not among the hundred addresses that are read at once.
  for (const [n, id] of people.entries())
    for (let device = 0; device < (n % 10 === 0 ? 2 : 1); device++) {
      last = world.ids.uuid();
      await addDevice(world, tenant, id, last);
    }
  throttle.on = true;

  const { job } = await send(world, tenant, { subscriberIds: people, channel_ids: [ios] });
  expect(throttle.hits).toBeGreaterThan(0);
  expect(await outboxOf(world, `?job_id=${job.id}`)).toHaveLength(99);
  throttle.on = false;
  await world.advance(20 * MINUTE);

  const ended = await jobOf(tenant, job.id);
  expect(ended).toMatchObject({ status: "completed", counts: { delivered: 100 } });
  expect(ended.fail_reasons).toEqual({});
  expect(await outboxOf(world, `?job_id=${job.id}`)).toHaveLength(110);
});
