// Deletions and pauses whose dependents are deleted or paused meanwhile (AMB-119).
import { expect, it } from "vitest";
import { withCampaigns } from "../support/campaigns.ts";
import { graphOf } from "../support/journeys.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A workspace, and the transactions of a group of endpoints, before which something else may happen. */
async function setting(group: string) {
  const writes = requests({ of: group, operation: "TransactWriteItems" });
  const here = await withCampaigns(await fresh({ hooks: writes.hooks }));
  const { call, channel_ids, template } = here;
  const template_id = await template();

  const schedule = async (campaign_id?: string): Promise<string> => {
    const times = { cron_expression: "0 9 * * *", timezone: "UTC" };
    const body = { ...times, template_id, channel_ids, target: { type: "all" }, campaign_id };
    return (await call("POST /api/v1/schedules", body)).body.id;
  };
  const journey = async (trigger: object = { type: "event", event_name: "go" }): Promise<string> => {
    const steps = graphOf({ hello: { send: { channel_ids, template_id, next: "end" } }, end: "exit" });
    const { id } = (await call("POST /api/v1/journeys", { name: "Welcome", trigger, steps })).body;
    await call(`POST /api/v1/journeys/${id}/activate`);
    return id;
  };
  const segment = async (): Promise<string> => {
    const rule = { attribute: { plan: { $in: ["pro"] } } };
    return (await call("POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule })).body.id;
  };
  /** Asks for this before the group writes what has the id. */
  const before = (id: string, route: string) =>
    writes.each(async (input) => {
      if (!JSON.stringify(input).includes(id)) return;
      writes.pass();
      expect((await call(route)).status).toBeLessThan(300);
    });
  return { ...here, template_id, schedule, journey, segment, before, isAwaited: writes.isAwaited };
}

it("a forced deletion of a template ends though its schedule is deleted meanwhile (AMB-119, SCH-9)", async () => {
  const { call, template_id, schedule, before, isAwaited } = await setting("api-templates");
  const id = await schedule();
  before(id, `DELETE /api/v1/schedules/${id}`);

  expect((await call(`DELETE /api/v1/templates/${template_id}?force=true`)).status).toBe(204);
  expect(isAwaited()).toBe(false);
});

it.each([
  ["deleted", (id: string) => `DELETE /api/v1/journeys/${id}`],
  ["paused", (id: string) => `POST /api/v1/journeys/${id}/pause`],
])("a forced deletion of a template ends though its journey is %s meanwhile (AMB-119)", async (_, routeOf) => {
  const { call, template_id, journey, before, isAwaited } = await setting("api-templates");
  const id = await journey();
  before(id, routeOf(id));

  expect((await call(`DELETE /api/v1/templates/${template_id}?force=true`)).status).toBe(204);
  expect(isAwaited()).toBe(false);
});

it("a forced deletion of a segment ends though the journey that it triggers is deleted meanwhile (AMB-119, SEG-9)", async () => {
  const { call, journey, segment, before, isAwaited } = await setting("api-segments");
  const segment_id = await segment();
  const id = await journey({ type: "segment_entered", segment_id });
  before(id, `DELETE /api/v1/journeys/${id}`);

  expect((await call(`DELETE /api/v1/segments/${segment_id}?force=true`)).status).toBe(204);
  expect(isAwaited()).toBe(false);
});

it("a campaign is deleted though one of its schedules is deleted meanwhile (CMP-17, SCH-9)", async () => {
  const { call, create, schedule, before, isAwaited } = await setting("api-campaigns");
  const campaign = (await create()).body.id;
  const id = await schedule(campaign);
  await schedule(campaign);
  before(id, `DELETE /api/v1/schedules/${id}`);

  expect((await call(`DELETE /api/v1/campaigns/${campaign}`)).status).toBe(204);
  expect(isAwaited()).toBe(false);
  expect((await call("GET /api/v1/schedules")).body.total).toBe(0);
});

it("a campaign is paused though one of its schedules is deleted meanwhile (CMP-21, SCH-9)", async () => {
  const { create, release, act, schedule, before, isAwaited } = await setting("api-campaigns");
  const campaign = (await create()).body.id;
  const id = await schedule(campaign);
  await release(campaign);
  before(id, `DELETE /api/v1/schedules/${id}`);

  expect((await act(campaign, "pause")).status).toBe(200);
  expect(isAwaited()).toBe(false);
});
