// Why somebody got something twice, or does not see what was delivered, and what decided in a journey (F2, AMB-147).
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { draft, take } from "../support/experiences.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { explanationsOf } from "../support/why.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

async function setting() {
  const world = await fresh();
  const journeys = await journeySetting(world);
  const { call, channel } = journeys;
  const words = explanationsOf(call);
  const send = async (title: string, body: object) => {
    expect(
      await call("POST /api/v1/notifications", { title, body: "b", channel_ids: [channel], ...body }),
    ).toMatchObject({
      status: 201,
    });
    await world.settle();
  };
  return { ...journeys, words, send };
}

it("who does not see what an experience delivered is told that it is paused, or has ended (F2)", async () => {
  const { world, tenant, person, words } = await setting();
  await person("ada");
  const id = await draft(tenant);
  await take(world, tenant, id, "publish");
  expect(await words("ada", { send: "Spring sale" })).toBe("Delivered by In-app.");

  await take(world, tenant, id, "pause");
  expect(await words("ada", { send: "Spring sale" })).toBe(
    "Delivered by In-app. It is hidden while its experience is paused. To change: Resume, on the page of the experience.",
  );

  await take(world, tenant, id, "end");
  expect(await words("ada", { send: "Spring sale" })).toBe(
    "Delivered by In-app. It is not shown any more: its experience has ended.",
  );
});

it("who entered a journey several times is told when, not of the newest run alone (AMB-147)", async () => {
  const { world, person, active, track, words } = await setting();
  await person("ada");
  await active(graphOf({ end: "exit" }), { entry_rules: { allow_reentry: true } });
  for (let n = 0; n < 5; n++) {
    await track("ada", "signed_up");
    await world.advance(HOUR);
  }

  expect(await words("ada", { journey: "Welcome" })).toBe(
    "Entered on 2026-11-20 16:00 UTC; it was completed on 2026-11-20 16:00 UTC. " +
      "Entered 5 times, before that on 2026-11-20 15:00 UTC (completed), 2026-11-20 14:00 UTC (completed), 2026-11-20 13:00 UTC (completed).",
  );
});

it("a branch is told with all that it asked for (AMB-147)", async () => {
  const { person, active, track, words } = await setting();
  await person("ada", { age: 17 });
  const isGrown = { attribute: { age: { $gte: 18 } } };
  const bought = { event: { name: "bought", within: "7d", frequency: { min: 2 } } };
  const condition = { group: { op: "or", nodes: [isGrown, bought] } };
  await active(graphOf({ asked: branch(condition, "end", "end"), end: "exit" }));
  await track("ada", "signed_up");

  expect(await words("ada", { journey: "Welcome" })).toContain(
    "The branch: the condition was not met (age is at least 18 or bought at least 2 times within 7 days).",
  );
});

it("who may not enter again is told where that is changed (AMB-147)", async () => {
  const { world, person, active, track, words } = await setting();
  await person("ada");
  await active(graphOf({ end: "exit" }));
  await track("ada", "signed_up");
  await world.advance(HOUR);
  await track("ada", "signed_up");

  expect(await words("ada", { journey: "Welcome" })).toContain(
    "started no run: entered before, and may not enter again at that time. To change: the rules of entry of the journey.",
  );
});

it("the messages of a campaign are told apart, and sends of one name too (F2)", async () => {
  const { world, call, channel, person, send, words } = await setting();
  await person("ada");
  const message = { content: { title: "Hello", body: "b" }, channel_ids: [channel] };
  const { id } = (await call("POST /api/v1/campaigns", { name: "Autumn", messages: [message, message] })).body;
  await call(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();
  expect(await words("ada", { campaign: "Autumn" })).toBe(
    "Message 1: Delivered by In-app.\nMessage 2: Delivered by In-app.",
  );

  await send("News", { external_ids: ["ada"] });
  await world.advance(HOUR);
  await send("News", { external_ids: ["ada"] });
  expect(await words("ada", { send: "News" })).toBe(
    "Delivered by In-app.\nOthers of this name were made on 2026-11-20 12:00 UTC.",
  );
});

it("who meets the rule of a static segment by now is told to compute it again (F2)", async () => {
  const { world, call, person, send, words } = await setting();
  await person("ada", { plan: "free" });
  const rule = { attribute: { plan: { $eq: "pro" } } };
  const { id: segment_id } = (await call("POST /api/v1/segments", { name: "Pros", rule })).body;
  await world.settle();
  await person("ada", { plan: "pro" });
  await send("News", { target: { type: "segment", segment_id } });

  expect(await words("ada", { send: "News" })).toBe(
    "Not in the audience: not in the segment (Pros; static, so its members are those of its last computation). " +
      "To change: Recompute, on the page of the segment.",
  );
});
