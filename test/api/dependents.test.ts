// Deletion of what something active depends on (AMB-119).
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { SMS } from "../support/channels.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { type Answer, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const content = { title: "t", body: "b" };
const PAYING = { name: "Paying", is_dynamic: true, rule: { attribute: { plan: { $in: ["pro"] } } } };

type Setting = Awaited<ReturnType<typeof withCampaigns>>;

/** A workspace with something to delete, and something active that depends on it. */
interface Dependence {
  call: Setting["call"];
  /** Path of what is to be deleted. */
  used: string;
  /** Path of what depends on it, and its id. */
  user: string;
  id: string;
}

const segmentOf = async ({ call }: Pick<Setting, "call">): Promise<string> =>
  (await call("POST /api/v1/segments", PAYING)).body.id;

const templateOf = async ({ call }: Pick<Setting, "call">): Promise<string> =>
  (await call("POST /api/v1/templates", { name: "Daily", content })).body.id;

const usedByCampaign = (kind: "segments" | "channels") => async (): Promise<Dependence> => {
  const { world, call, create, release, channel_ids } = await withCampaigns(await fresh());
  const segment_id = await segmentOf({ call });
  const { id } = (await create({ target: { type: "segment", segment_id }, scheduled_at: at(DAY) })).body;
  await release(id);
  await world.settle();
  return { call, used: `${kind}/${kind === "segments" ? segment_id : channel_ids[0]}`, user: `campaigns/${id}`, id };
};

const usedByExperience = async (
  kind: "segments" | "channels" = "segments",
  period: object = { start_at: at(DAY) },
): Promise<Dependence> => {
  const { call, channel_ids } = await withCampaigns(await fresh());
  const segment_id = await segmentOf({ call });
  const draft = { name: "Sale", format: "banner", content, audience: { type: "segment", segment_id }, ...period };
  const { id } = (await call("POST /api/v1/in-app/experiences", draft)).body;
  await call(`POST /api/v1/in-app/experiences/${id}/publish`);
  return {
    call,
    used: `${kind}/${kind === "segments" ? segment_id : channel_ids[0]}`,
    user: `in-app/experiences/${id}`,
    id,
  };
};

/** @param action on its campaign, which switches the schedule off until that comes back */
const usedBySchedule = (kind: "templates" | "channels", action?: "pause" | "archive") => async () => {
  const { call, channel_ids, create, release, act } = await withCampaigns(await fresh());
  const template_id = await templateOf({ call });
  const campaign_id = action && (await create()).body.id;
  const cron = { cron_expression: "0 9 * * *", timezone: "UTC", target: { type: "all" }, campaign_id };
  const { id } = (await call("POST /api/v1/schedules", { ...cron, template_id, channel_ids })).body;
  const used = `${kind}/${kind === "templates" ? template_id : channel_ids[0]}`;
  const comeBack = () => act(campaign_id, action === "pause" ? "resume" : "unarchive");
  if (action) await release(campaign_id);
  if (action) await act(campaign_id, action);
  return { call, used, user: `schedules/${id}`, id, comeBack };
};

const usedByJourney = (kind: "templates" | "channels" | "segments") => async (): Promise<Dependence> => {
  const { call, active, channel } = await journeySetting(await fresh());
  const template_id = await templateOf({ call });
  const segment_id = await segmentOf({ call });
  const steps = graphOf({ hello: { send: { channel_ids: [channel], template_id, next: "end" } }, end: "exit" });
  const id = await active(steps, { trigger: { type: "segment_entered", segment_id } });
  const used = { templates: template_id, channels: channel, segments: segment_id }[kind];
  return { call, used: `${kind}/${used}`, user: `journeys/${id}`, id };
};

const PAUSED = { status: "paused" };
const OFF = { active: false, next_run_at: null, last_error: { code: "SWITCHED_OFF" } };

/** What is used, how one makes it, and what a forced deletion leaves of its user and in the annotations. */
const dependences: [name: string, make: () => Promise<Dependence>, left: object, annotation: string][] = [
  ["the segment that triggers a journey (SEG-9)", usedByJourney("segments"), PAUSED, "journey_paused"],
  ["the template of a journey (TPL-8)", usedByJourney("templates"), PAUSED, "journey_paused"],
  ["the channel of a journey (CHN-17)", usedByJourney("channels"), PAUSED, "journey_paused"],
  ["the segment of a campaign (SEG-9)", usedByCampaign("segments"), PAUSED, "campaign_paused"],
  ["the channel of a campaign (CHN-17)", usedByCampaign("channels"), PAUSED, "campaign_paused"],
  ["the segment of an experience to come (SEG-9)", () => usedByExperience(), PAUSED, "experience_paused"],
  ["the channel of an experience to come (CHN-17)", () => usedByExperience("channels"), PAUSED, "experience_paused"],
  ["the template of a schedule (TPL-8, SCH-9)", usedBySchedule("templates"), OFF, "schedule_failed"],
  ["the channel of a schedule (CHN-17, SCH-9)", usedBySchedule("channels"), OFF, "schedule_failed"],
  [
    "the template of a paused campaign's schedule (TPL-8)",
    usedBySchedule("templates", "pause"),
    OFF,
    "schedule_failed",
  ],
  ["the channel of an archived campaign's schedule", usedBySchedule("channels", "archive"), OFF, "schedule_failed"],
];

function expectConflict({ status, body }: Answer, id: string): void {
  expect(status).toBe(409);
  expect(body).toMatchObject({ code: "CONFLICT", message: expect.stringContaining(id) });
}

it.each(dependences)("%s is not deleted, and the refusal names what uses it (AMB-119)", async (_, make) => {
  const { call, used, user, id } = await make();
  const before = (await call(`GET /api/v1/${user}`)).body;

  expectConflict(await call(`DELETE /api/v1/${used}`), id);

  expect((await call(`GET /api/v1/${used}`)).status).toBe(200);
  expect((await call(`GET /api/v1/${user}`)).body).toEqual(before);
});

it.each(dependences)("%s is deleted with force, which stops its user (AMB-119)", async (_, make, left, kind) => {
  const { call, used, user, id } = await make();

  expect((await call(`DELETE /api/v1/${used}?force=true`)).status).toBe(204);

  expect((await call(`GET /api/v1/${used}`)).status).toBe(404);
  expect((await call(`GET /api/v1/${user}`)).body).toMatchObject(left);
  const { annotations } = (await call(`GET /api/v1/annotations?from=${at(-DAY)}&to=${at(DAY)}`)).body;
  const text = expect.stringContaining("was deleted");
  expect(annotations).toContainEqual(expect.objectContaining({ kind, ref_id: id, text }));
});

it("a schedule that a forced deletion met while its campaign was paused stays off after the resume (AMB-119, AMB-67)", async () => {
  const { call, used, user, comeBack } = await usedBySchedule("templates", "pause")();
  await call(`DELETE /api/v1/${used}?force=true`);
  await comeBack();

  expect((await call(`GET /api/v1/${user}`)).body).toMatchObject(OFF);
});

it("a template says which schedule and which journey would send it (AMB-119)", async () => {
  for (const [make, kind] of [
    [usedBySchedule("templates"), "schedules"],
    [usedByJourney("templates"), "journeys"],
  ] as const) {
    const { call, used, id } = await make();
    const { used_by } = (await call(`GET /api/v1/${used}/usage`)).body;
    expect(used_by).toMatchObject({ campaigns: [], schedules: [], journeys: [], [kind]: [{ id }] });
  }
});

it("a channel says which experience is still to go out by it (RDA-15, CHN-17)", async () => {
  const { call, used, user } = await usedByExperience("channels");
  const { used_by } = (await call(`GET /api/v1/${used}/health`)).body;
  const { id, name } = (await call(`GET /api/v1/${user}`)).body;
  expect(used_by.experiences).toEqual([{ id, name }]);
});

it("a segment that triggers a paused journey and a draft is deleted without force (AMB-119, SEG-9)", async () => {
  const { call, create, active } = await journeySetting(await fresh());
  const segment_id = await segmentOf({ call });
  const trigger = { type: "segment_exited", segment_id };
  const draft = await create(graphOf({ end: "exit" }), { trigger });
  const journey = await active(graphOf({ end: "exit" }), { trigger });
  await call(`POST /api/v1/journeys/${journey}/pause`);

  expect((await call(`DELETE /api/v1/segments/${segment_id}`)).status).toBe(204);

  expect((await call(`GET /api/v1/journeys/${draft}`)).body.status).toBe("draft");
});

it.each([
  ["segment", PAYING],
  ["list", { name: "Readers" }],
])("the %s of a scheduled send is not deleted while the send waits (AMB-119, SEG-9, D-LIST)", async (kind, made) => {
  const { call, channel_ids } = await withCampaigns(await fresh());
  const { id: used } = (await call(`POST /api/v1/${kind}s`, made)).body;
  const target = { type: kind, [`${kind}_id`]: used };
  const send = { ...content, channel_ids, target, scheduled_at: at(DAY) };
  const { id } = (await call("POST /api/v1/notifications", send)).body;

  expectConflict(await call(`DELETE /api/v1/${kind}s/${used}`), id);

  await call(`POST /api/v1/notifications/${id}/cancel`);
  expect((await call(`DELETE /api/v1/${kind}s/${used}`)).status).toBe(204);
});

it("a forced deletion of a live experience's segment leaves the experience live (AMB-119, SEG-9)", async () => {
  const { call, used, user, id } = await usedByExperience("segments", {});

  expectConflict(await call(`DELETE /api/v1/${used}`), id);
  expect((await call(`DELETE /api/v1/${used}?force=true`)).status).toBe(204);

  expect((await call(`GET /api/v1/${user}`)).body.status).toBe("live");
});

it("a forced deletion of a segment that is not there is answered 404 (AMB-119)", async () => {
  const { call } = await withCampaigns(await fresh());

  expect((await call(`DELETE /api/v1/segments/${UNKNOWN}?force=true`)).status).toBe(404);
});

it("a channel with credentials that nothing uses is not deleted because of the credentials (AMB-119, CHN-17)", async () => {
  const { call } = await withCampaigns(await fresh());
  const channel = (await call("POST /api/v1/channels", { type: "sms", name: "SMS" })).body.id;
  await call(`POST /api/v1/channels/${channel}/credentials/sms`, SMS);

  const { status, body } = await call(`DELETE /api/v1/channels/${channel}`);

  expect(status).toBe(409);
  expect(body.message).toContain("Credentials are stored");
});

it("a channel with credentials that a campaign uses is not deleted because of the campaign (AMB-119, CHN-17)", async () => {
  const { world, call, create, release } = await withCampaigns(await fresh());
  const channel = (await call("POST /api/v1/channels", { type: "sms", name: "SMS" })).body.id;
  await call(`POST /api/v1/channels/${channel}/credentials/sms`, SMS);
  await world.settle();
  const { id } = (await create({ channel_ids: [channel], scheduled_at: at(DAY) })).body;
  await release(id);

  expectConflict(await call(`DELETE /api/v1/channels/${channel}`), id);
});

it("a channel that one of a campaign's messages uses is not deleted (AMB-119, CHN-17)", async () => {
  const { world, call, release, channel_ids } = await withCampaigns(await fresh());
  const channel = (await call("POST /api/v1/channels", { type: "sms", name: "SMS" })).body.id;
  await call(`POST /api/v1/channels/${channel}/credentials/sms`, SMS);
  await world.settle();
  const message = { content, scheduled_at: at(DAY) };
  const messages = [
    { ...message, channel_ids },
    { ...message, channel_ids: [channel] },
  ];
  const { id } = (await call("POST /api/v1/campaigns", { name: "Two", messages, target: { type: "all" } })).body;
  await release(id);

  expectConflict(await call(`DELETE /api/v1/channels/${channel}`), id);
});

it("a campaign that a forced deletion paused stays paused when its time comes (AMB-119, CHN-17)", async () => {
  const { world, call, channel_ids, create, release, get } = await withCampaigns(await fresh());
  const { id } = (await create({ scheduled_at: at(DAY) })).body;
  await release(id);
  await world.settle();
  await call(`DELETE /api/v1/channels/${channel_ids[0]}?force=true`);

  await world.advance(2 * DAY);

  const last_error = { code: "PAUSED", message: expect.stringContaining("was deleted") };
  expect(await get(id)).toMatchObject({ status: "paused", last_error });
});

it.each([
  ["template", "templates" as const, "template_id"],
  ["channel", "channels" as const, "channel_ids[0]"],
])("a schedule whose %s is gone can be changed, not switched on (AMB-119, SCH-9)", async (_, kind, field) => {
  const { call, used, user } = await usedBySchedule(kind)();
  await call(`DELETE /api/v1/${used}?force=true`);

  const again = await call(`PATCH /api/v1/${user}`, { active: true });
  const moved = await call(`PATCH /api/v1/${user}`, { timezone: "Europe/Berlin" });

  expect(again.status).toBe(422);
  expect(Object.keys(again.body.fields)).toEqual([field]);
  expect(moved).toMatchObject({ status: 200, body: { active: false, timezone: "Europe/Berlin" } });
});
