// Webhook events of interactions: one each, with its type and platform, and the arm of an A/B send (WEV).
import { describe, expect, it } from "vitest";
import { timestamp } from "../../shared/kernel/clock.ts";
import { hook, receiving } from "../support/hooks.ts";
import { addPeople, send } from "../support/people.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const setting = receiving(worlds());

/** As in the specification. */
const platforms = ["ios", "android", "web", "email", "server"];
const types = [
  ...["foreground_received", "tapped", "action_tapped", "dismissed", "email_opened", "email_clicked"],
  ...["inapp_impression", "inapp_click", "inapp_dismiss"],
];

async function listening(options: object = {}) {
  const here = await setting();
  const { world, tenant, outside } = here;
  await hook(here, ["notification.interaction"]);
  const people = await addPeople(world, tenant, 2);
  const { job } = await send(world, tenant, { target: { type: "all" }, ...options });
  const report = async (more: object = {}) => {
    const usual = { job_id: job.id, interaction: "tapped", platform: "ios", occurred_at: timestamp(START) };
    const body = { ...usual, ...more };
    return (await world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body })).status;
  };
  const told = async () => {
    await world.settle();
    return outside.received.map(({ body }) => JSON.parse(body));
  };
  return { world, tenant, people, job: String(job.id), report, told };
}

describe("notification.interaction", () => {
  it("one interaction is one event, in the envelope, without personal data (WEV-4, WEV-5, WEV-9)", async () => {
    const { tenant, people, job, report, told } = await listening();
    const more = { subscriber_id: people[0], occurred_at: timestamp(START - 1_000), action_id: "buy" };
    for (const _ of "ab") expect(await report(more)).toBe(202);
    const events = await told();
    expect(events).toEqual([
      {
        id: expect.any(String),
        event_type: "notification.interaction",
        tenant_id: tenant.id,
        timestamp: timestamp(START),
        data: { job_id: job, interaction_type: "tapped", platform: "ios" },
      },
    ]);
    expect(await report({ ...more, subscriber_id: people[1] })).toBe(202);
    expect(await told()).toHaveLength(2);
  });

  it("every type from every platform is an event of its own (WEV-4, WEV-10)", async () => {
    const { report, told } = await listening();
    const pairs = types.flatMap((interaction) => platforms.map((platform) => ({ interaction, platform })));
    for (const pair of pairs) expect(await report(pair)).toBe(202);
    const data = (await told()).map((event) => `${event.data.interaction_type} ${event.data.platform}`);
    expect(data.sort()).toEqual(pairs.map(({ interaction, platform }) => `${interaction} ${platform}`).sort());
  });

  it("only A/B sends have a variant_id (ABH-3, WEV-9)", async () => {
    // Stored apart from its job, because it is long (NTF-17).
    const variant_b = { title: "B", body: "B ".repeat(2_000) };
    const split = await listening({ variant_b, split_percentage: 50 });
    for (const variant_id of ["a", "b"]) expect(await split.report({ variant_id })).toBe(202);
    const arms = (await split.told()).map(({ data }) => data.variant_id);
    expect(arms.sort()).toEqual(["a", "b"]);
    const plain = await listening();
    expect(await plain.report({ variant_id: "a" })).toBe(202);
    expect(Object.keys((await plain.told())[0].data).sort()).toEqual(["interaction_type", "job_id", "platform"]);
  });

  it("a refused report, or one of another workspace, is no event (WEV-4, GEN-8)", async () => {
    const { world, job, report, told } = await listening();
    expect(await report({ interaction: "opened" })).toBe(422);
    const other = await world.tenant();
    const body = { job_id: job, interaction: "tapped", platform: "ios", occurred_at: timestamp(START) };
    expect((await world.call("POST /api/v1/notifications/interactions", { as: other.sdk, body })).status).toBe(422);
    expect(await told()).toEqual([]);
  });
});
