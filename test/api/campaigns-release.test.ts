// The release of campaigns: their jobs and statuses (CMP).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { at, text, withCampaigns } from "../support/campaigns.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => withCampaigns(await fresh());

it("a release makes one job per message, each at its own time, its id on the message at once (CMP-18, CMP-19, ARC-11)", async () => {
  const { several, release, job } = await setting();
  const { id } = await several(undefined, at(HOUR), at(2 * HOUR));

  const { status, body } = await release(id);

  const [, second] = body.messages;
  expect(status).toBe(200);
  expect(new Set(body.messages.map(({ job_id }: { job_id: string }) => job_id)).size).toBe(3);
  const planned = { status: "scheduled", scheduled_at: at(HOUR) };
  expect(await job(second.job_id)).toMatchObject({ ...planned, name: "Several", source: { type: "campaign", id } });
});

it("a campaign is live until its last message is sent, and then completed (CMP-19, D-CMP-AUTO)", async () => {
  const { world, several, release, get, inbox } = await setting();
  const { id } = await several(undefined, at(HOUR), at(2 * HOUR));
  expect((await release(id)).body.status).toBe("live");

  await world.advance(90 * MINUTE);
  expect(await inbox()).toEqual(["M0", "M1"]);
  expect((await get(id)).status).toBe("live");
  await world.advance(HOUR);

  expect(await inbox()).toEqual(["M0", "M1", "M2"]);
  expect((await get(id)).status).toBe("completed");
});

it("a message keeps its time where the worker of its campaign comes after that (CMP-19)", async () => {
  const making = requests({ naming: "JOB#authored" });
  const { world, several, release, get, job, inbox } = await withCampaigns(await fresh({ hooks: making.hooks }));
  making.fail();
  const { id } = await several(at(5 * MINUTE));
  await release(id);
  await world.advance(8 * MINUTE);
  making.pass();
  await world.advance(20 * MINUTE);

  expect(await job((await get(id)).messages[0].job_id)).toMatchObject({
    status: "completed",
    scheduled_at: at(5 * MINUTE),
  });
  expect(await inbox()).toEqual(["M0"]);
});

it("concurrent releases make one job per message: one succeeds, the others are 409 (CMP-20)", async () => {
  const { world, several, release, call, inbox } = await setting();
  const { id } = await several(undefined, undefined);

  const answers = await Promise.all([release(id), release(id), release(id)]);
  await world.settle();

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  expect((await inbox()).sort()).toEqual(["M0", "M1"]);
  expect((await call("GET /api/v1/notifications?source_type=campaign")).body.items).toHaveLength(2);
});

it("a message whose time is past is sent at the release (D-CMP-AUTO, AMB-65)", async () => {
  const { world, create, release, inbox } = await setting();
  const { id } = (await create({ scheduled_at: at(-HOUR) })).body;

  expect((await release(id)).body.status).toBe("live");
  await world.settle();

  expect(await inbox()).toEqual(["Hello"]);
});

it("a campaign whose time is to come is scheduled by its release, and live by its first job (D-CMP-AUTO, CMP-26)", async () => {
  const { world, several, release, get } = await setting();
  const { id } = await several(at(HOUR), at(DAY));

  expect((await release(id)).body.status).toBe("scheduled");
  await world.advance(2 * HOUR);

  expect((await get(id)).status).toBe("live");
});

it("the share held out of a campaign receives nothing (CMP-8, ABH-2)", async () => {
  const { create, release, world, job } = await setting();
  const { id } = (await create({ holdout_percentage: 99 })).body;

  const [{ job_id }] = (await release(id)).body.messages;
  await world.settle();

  expect(await job(job_id)).toMatchObject({ holdout_percentage: 99, counts: { total: 1 } });
});

it("a campaign is completed when its last job has failed (D-CMP-AUTO, CMP-26)", async () => {
  const { world, create, call, template, channel_ids, release, get } = await setting();
  const template_id = await template();
  const messages = [at(HOUR), at(DAY)].map((scheduled_at) => ({ template_id, channel_ids, scheduled_at }));
  const { id } = (await create({ content: undefined, channel_ids: undefined, messages })).body;
  await release(id);
  await world.advance(2 * HOUR);

  await call(`DELETE /api/v1/templates/${template_id}`);
  await world.advance(DAY);

  expect((await get(id)).status).toBe("completed");
});

it("a campaign is completed when its last job was canceled (D-CMP-AUTO)", async () => {
  const { world, several, release, get, call } = await setting();
  const { id } = await several(undefined, at(HOUR));
  const [, last] = (await release(id)).body.messages;

  await call(`POST /api/v1/notifications/${last.job_id}/cancel`);
  await world.settle();

  expect((await get(id)).status).toBe("completed");
});

it("campaigns that are released at once are each sent and completed (CMP-19, D-CMP-AUTO)", async () => {
  const { world, create, release, get, inbox } = await setting();
  const ids: string[] = [];
  for (const title of ["A", "B", "C"]) ids.push((await create({ content: text(title) })).body.id);
  for (const id of ids) await release(id);
  await world.settle();
  await world.advance(MINUTE);

  for (const id of ids) expect(await get(id)).toMatchObject({ status: "completed" });
  expect((await inbox()).sort()).toEqual(["A", "B", "C"]);
});
