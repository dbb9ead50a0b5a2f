// Deletion of what something active depends on (AMB-119).

import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { at, withCampaigns } from "../support/campaigns.ts";
import { SMS } from "../support/channels.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("a segment that triggers an active journey is deleted only with force, which pauses the journey (AMB-119, SEG-9)", async () => {
  const { call, create, activate } = await journeySetting(await fresh());
  const rule = { attribute: { plan: { $in: ["pro"] } } };
  const segment = (await call("POST /api/v1/segments", { name: "Paying", is_dynamic: true, rule })).body.id;
  const trigger = { type: "segment_entered", segment_id: segment };
  const draft = await create(graphOf({ end: "exit" }), { trigger });
  const journey = await create(graphOf({ end: "exit" }), { trigger });
  await activate(journey);

  const refused = await call(`DELETE /api/v1/segments/${segment}`);
  expect([refused.status, refused.body.code, refused.body.message]).toEqual([
    409,
    "CONFLICT",
    expect.stringContaining(journey),
  ]);
  expect((await call(`GET /api/v1/segments/${segment}`)).status).toBe(200);
  expect((await call(`DELETE /api/v1/segments/${UNKNOWN}?force=true`)).status).toBe(404);
  expect((await call(`DELETE /api/v1/segments/${segment}?force=true`)).status).toBe(204);
  expect((await call(`GET /api/v1/journeys/${journey}`)).body.status).toBe("paused");
  expect((await call(`GET /api/v1/journeys/${draft}`)).body.status).toBe("draft");
  const { annotations } = (await call(`GET /api/v1/annotations?from=${at(-DAY)}&to=${at(DAY)}`)).body;
  expect(annotations).toContainEqual(
    expect.objectContaining({ kind: "journey_paused", text: expect.stringContaining("segment Paying was deleted") }),
  );
});

it("a segment whose journey is paused is deleted (AMB-119, SEG-9)", async () => {
  const { call, create, activate } = await journeySetting(await fresh());
  const rule = { attribute: { plan: { $in: ["pro"] } } };
  const segment = (await call("POST /api/v1/segments", { name: "Paying", rule })).body.id;
  const journey = await create(graphOf({ end: "exit" }), { trigger: { type: "segment_exited", segment_id: segment } });
  await activate(journey);
  expect((await call(`DELETE /api/v1/segments/${segment}`)).status).toBe(409);
  await call(`POST /api/v1/journeys/${journey}/pause`);
  expect((await call(`DELETE /api/v1/segments/${segment}`)).status).toBe(204);
});

it("the segment that something sends to is deleted only with force, which pauses what can be paused (AMB-119, SEG-9)", async () => {
  const { world, call, channel_ids, create, release, get } = await withCampaigns(await fresh());
  const rule = { attribute: { plan: { $in: ["pro"] } } };
  const segment_id = (await call("POST /api/v1/segments", { name: "Paying", rule })).body.id;
  const remove = (query = "") => call(`DELETE /api/v1/segments/${segment_id}${query}`);
  const target = { type: "segment", segment_id };

  const send = { title: "t", body: "b", channel_ids, target, scheduled_at: at(DAY) };
  const notification = (await call("POST /api/v1/notifications", send)).body.id;
  expect((await remove()).body).toMatchObject({ code: "CONFLICT", message: expect.stringContaining(notification) });

  const experience = async (fields: object): Promise<string> => {
    const draft = { name: "Sale", format: "banner", content: { title: "t", body: "b" } };
    const { id } = (await call("POST /api/v1/in-app/experiences", draft)).body;
    await call(`PATCH /api/v1/in-app/experiences/${id}`, { audience: target, ...fields });
    await call(`POST /api/v1/in-app/experiences/${id}/publish`);
    return id;
  };
  const shown = await experience({});
  const waiting = await experience({ start_at: at(DAY) });
  await call(`POST /api/v1/notifications/${notification}/cancel`);
  expect((await remove()).body.message).toMatch(new RegExp(`${shown}|${waiting}`));

  const { id: campaign } = (await create({ target, scheduled_at: at(DAY) })).body;
  await release(campaign);
  await world.settle();
  expect((await remove()).body.message).toContain(campaign);
  expect((await call(`GET /api/v1/segments/${segment_id}`)).status).toBe(200);

  expect((await remove("?force=true")).status).toBe(204);
  const statusOf = async (id: string) => (await call(`GET /api/v1/in-app/experiences/${id}`)).body.status;
  expect([(await get(campaign)).status, await statusOf(waiting), await statusOf(shown)]).toEqual([
    ...["paused", "paused", "live"],
  ]);
  const { annotations } = (await call(`GET /api/v1/annotations?from=${at(-DAY)}&to=${at(DAY)}`)).body;
  for (const [kind, ref_id] of Object.entries({ campaign_paused: campaign, experience_paused: waiting }))
    expect(annotations).toContainEqual(
      expect.objectContaining({ kind, ref_id, text: expect.stringContaining("segment Paying was deleted") }),
    );
});

it("a channel with credentials is refused with what uses it, and only then because of the credentials (AMB-119, CHN-17)", async () => {
  const { world, call, create, release } = await withCampaigns(await fresh());
  const channel = (await call("POST /api/v1/channels", { type: "sms", name: "SMS" })).body.id;
  await call(`POST /api/v1/channels/${channel}/credentials/sms`, SMS);
  await world.settle();
  expect((await call(`DELETE /api/v1/channels/${channel}`)).body.message).toContain("Credentials are stored");
  const { id } = (await create({ channel_ids: [channel], scheduled_at: at(DAY) })).body;
  await release(id);
  expect((await call(`DELETE /api/v1/channels/${channel}`)).body.message).toContain(id);
});

it("the channel of a scheduled campaign is deleted only with force, which pauses the campaign (AMB-119, CHN-17)", async () => {
  const { world, call, channel_ids, create, release, get } = await withCampaigns(await fresh());
  const [channel] = channel_ids;
  const draft = (await create()).body.id;
  const { id } = (await create({ scheduled_at: at(DAY) })).body;
  await release(id);
  await world.settle();

  const refused = await call(`DELETE /api/v1/channels/${channel}`);
  expect([refused.status, refused.body.code, refused.body.message]).toEqual([
    409,
    "CONFLICT",
    expect.stringContaining(id),
  ]);
  expect((await get(id)).status).toBe("scheduled");
  expect((await call(`DELETE /api/v1/channels/${channel}?force=true`)).status).toBe(204);
  expect([(await get(id)).status, (await get(draft)).status]).toEqual(["paused", "draft"]);
  expect((await get(id)).last_error).toMatchObject({ code: "PAUSED", message: expect.stringContaining("was deleted") });
  const { annotations } = (await call(`GET /api/v1/annotations?from=${at(-DAY)}&to=${at(DAY)}`)).body;
  expect(annotations).toContainEqual(
    expect.objectContaining({ kind: "campaign_paused", ref_id: id, text: expect.stringContaining("was deleted") }),
  );
  expect((await call(`DELETE /api/v1/channels/${channel}`)).status).toBe(404);
  await world.advance(2 * DAY);
  expect((await get(id)).status).toBe("paused");
});

it("the template and the channel of an active schedule are deleted only with force, which switches it off (AMB-119, TPL-8, SCH-9)", async () => {
  const { call, channel_ids } = await withCampaigns(await fresh());
  const template = async (name: string): Promise<string> =>
    (await call("POST /api/v1/templates", { name, content: { title: "t", body: "b" } })).body.id;
  const template_id = await template("Daily");
  const make = async (template_id: string) =>
    (
      await call("POST /api/v1/schedules", {
        ...{ cron_expression: "0 9 * * *", timezone: "UTC", target: { type: "all" } },
        ...{ template_id, channel_ids },
      })
    ).body.id;
  for (const used of [`templates/${template_id}`, `channels/${channel_ids[0]}`]) {
    const schedule = await make(used.startsWith("templates") ? template_id : await template("Weekly"));
    const refused = await call(`DELETE /api/v1/${used}`);
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(schedule)]);
    expect((await call(`GET /api/v1/schedules/${schedule}`)).body.active).toBe(true);
    expect((await call(`DELETE /api/v1/${used}?force=true`)).status).toBe(204);
    const { body } = await call(`GET /api/v1/schedules/${schedule}`);
    expect(body).toMatchObject({ active: false, next_run_at: null, last_error: { code: "SWITCHED_OFF" } });
    const { annotations } = (await call(`GET /api/v1/annotations?from=${at(-DAY)}&to=${at(DAY)}`)).body;
    expect(annotations).toContainEqual(expect.objectContaining({ kind: "schedule_failed", ref_id: schedule }));
    if (used.startsWith("templates")) expect((await call("POST /api/v1/schedules", { template_id })).status).toBe(422);
    const again = await call(`PATCH /api/v1/schedules/${schedule}`, { active: true });
    expect([again.status, Object.keys(again.body.fields)]).toEqual([
      422,
      [used.startsWith("templates") ? "template_id" : "channel_ids[0]"],
    ]);
    const renamed = await call(`PATCH /api/v1/schedules/${schedule}`, { timezone: "Europe/Berlin" });
    expect([renamed.status, renamed.body.active]).toEqual([200, false]);
  }
});

it("the template and the channel of an active journey are deleted only with force, which pauses it (AMB-119, TPL-8, CHN-17)", async () => {
  const { call, create, activate, channel } = await journeySetting(await fresh());
  const template = await call("POST /api/v1/templates", { name: "Step", content: { title: "t", body: "b" } });
  const template_id = template.body.id;
  const steps = graphOf({ hello: { send: { channel_ids: [channel], template_id, next: "end" } }, end: "exit" });
  const journey = await create(steps);
  await activate(journey);
  for (const used of [`templates/${template_id}`, `channels/${channel}`])
    expect((await call(`DELETE /api/v1/${used}`)).body).toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining(journey),
    });
  expect((await call(`DELETE /api/v1/templates/${template_id}?force=true`)).status).toBe(204);
  expect((await call(`GET /api/v1/journeys/${journey}`)).body.status).toBe("paused");
  expect((await call(`DELETE /api/v1/channels/${channel}`)).status).toBe(204);
});
