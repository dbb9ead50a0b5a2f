// What an answer to "why" says of a journey: its runs, and why there is none.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { attribute, branch, graphOf } from "../support/journeys.ts";
import { DAWN, whySetting } from "../support/why.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => whySetting(await fresh());

it("the steps of a run are told in the order of the journey, with the time of what began and ended it (AMB-147)", async () => {
  const { world, email, active, track, upsert, words } = await setting();
  await active(
    graphOf({
      wait: { wait_for_event: { event_name: "paid", within: "1h", on_event: "end", on_timeout: "mail" } },
      mail: { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } },
      end: "exit",
    }),
  );
  await upsert("ada", { consent: { status: "opted_out" } });
  await world.advance(3 * HOUR);
  await track("ada", "signed_up", { occurred_at: timestamp(world.clock.now() - 2 * HOUR) });

  expect(await words("ada", { journey: "Welcome" })).toBe(
    "Entered on 2026-11-20 15:00 UTC, by what occurred on 2026-11-20 13:00 UTC; it was completed on 2026-11-20 14:00 UTC. " +
      "The wait for paid: it was not received in time. " +
      `The message “Hi”: skipped, no consent for this channel (opted out, since ${DAWN}). To change: Channels on the page of the person.`,
  );
});

it("a message of a template is called by the name of the template (AMB-147)", async () => {
  const { call, channel, active, track, upsert, words } = await setting();
  const { id: template_id } = (
    await call("POST /api/v1/templates", { name: "Greeting", content: { title: "Hi", body: "b" } })
  ).body;
  await active(graphOf({ first: { send: { channel_ids: [channel], template_id, next: "end" } }, end: "exit" }));
  await upsert("ada");
  await track("ada", "signed_up");

  expect(await words("ada", { journey: "Welcome" })).toContain("\nThe message “Greeting”: Delivered by");
});

it("of more than ten messages of a run the newest ten are explained (AMB-147)", async () => {
  const { call, channel, active, track, upsert } = await setting();
  const ids = Array.from({ length: 11 }, (_, n) => `m${n}`);
  const steps = ids.map((id, n) => {
    const send = { channel_ids: [channel], content: { title: id, body: "b" }, next: ids[n + 1] ?? "end" };
    return [id, { send }] as const;
  });
  await active(graphOf({ ...Object.fromEntries(steps), end: "exit" }));
  await upsert("ada");
  await track("ada", "signed_up");

  const why = (await call("GET /api/v1/why?person=ada&journey=Welcome")).body;

  expect(why.in_words.match(/^The message “m\d+”: Delivered/gm)).toEqual(
    ids.slice(1).map((id) => `The message “${id}”: Delivered`),
  );
  expect(why.sends).toHaveLength(10);
});

it("who was never in a journey is told what begins it, and which rule is not met (AMB-147)", async () => {
  const { world, call, active, upsert, words } = await setting();
  const rule = attribute("plan", "pro");
  const { id } = (await call("POST /api/v1/segments", { name: "Pros", is_dynamic: true, rule })).body;
  await world.settle();
  const end = graphOf({ end: "exit" });
  await active(end, { name: "Event", entry_rules: { eligibility: rule } });
  await active(end, { name: "Segment", trigger: { type: "segment_entered", segment_id: id } });
  await upsert("ada", { attributes: { plan: "free" } });
  await world.settle();

  expect(await words("ada", { journey: "Event" })).toBe(
    "No run: in 90 days nothing happened that starts this journey (the event signed_up). A trigger would start none now: " +
      "not eligible by the rules of entry (not met: plan is pro). To change: the rules of entry of the journey.",
  );
  expect(await words("ada", { journey: "Segment" })).toContain(
    "(entering the segment Pros, whose rule is not met now: plan is pro).",
  );
});

it("of a journey that is a draft or archived it is said where that is changed (AMB-147)", async () => {
  const { call, create, track, upsert, words } = await setting();
  const id = await create(graphOf({ end: "exit" }), { name: "New" });
  await upsert("ada");
  const none = "No run: in 90 days nothing happened that starts this journey (the event signed_up).";
  const place = "To change: Activate, on the page of the journey.";
  const isDraft = `A trigger would start none now: the journey was not active (draft). ${place}`;

  expect(await words("ada", { journey: "New" })).toBe(`${none} ${isDraft}`);
  await track("ada", "signed_up");
  expect(await words("ada", { journey: "New" })).toBe(
    `signed_up came on 2026-11-20 12:00 UTC and started no run: the journey was not active. ${isDraft}`,
  );
  await call(`POST /api/v1/journeys/${id}/archive`);
  expect(await words("ada", { journey: "New" })).toBe(
    "signed_up came on 2026-11-20 12:00 UTC and started no run: the journey was not active. " +
      "A trigger would start none now: the journey was not active (archived).",
  );
});

it("what came while a journey was paused is told so once it is archived, and what comes afterwards that it was not active (AMB-147)", async () => {
  const { world, call, upsert, words, id, track } = await resting();
  await upsert("ada");
  await call(`POST /api/v1/journeys/${id}/pause`);
  await track("ada", "signed_up");
  await world.advance(HOUR);
  await call(`POST /api/v1/journeys/${id}/archive`);
  expect(await words("ada", { journey: "Welcome" })).toContain("started no run: the journey was paused. A trigger");

  await world.advance(HOUR);
  await track("ada", "signed_up");

  expect(await words("ada", { journey: "Welcome" })).toContain("started no run: the journey was not active. A trigger");
});

it("an event that was too old is told when it occurred (AMB-134, AMB-147)", async () => {
  const { world, active, track, upsert, words } = await setting();
  await active(graphOf({ check: branch(attribute("plan", "pro"), "end"), end: "exit" }));
  await upsert("ada");
  await track("ada", "signed_up", { occurred_at: timestamp(world.clock.now() - 4 * DAY) });

  expect(await words("ada", { journey: "Welcome" })).toContain(
    "the event was too old at its receipt (it occurred on 2026-11-16 12:00 UTC).",
  );
});

it("a run of a paused journey is said to wait for that (AMB-147)", async () => {
  const { world, call, upsert, words, id, track } = await resting();
  await upsert("ada");
  await track("ada", "signed_up");
  await call(`POST /api/v1/journeys/${id}/pause`);
  await world.advance(3 * HOUR);

  expect(await words("ada", { journey: "Welcome" })).toContain(
    "The journey is paused: the run goes on once it is resumed. To change: Activate, on the page of the journey. Next: the message “Hi”.",
  );
});

it("what refused a trigger is said with what changes it only while it lasts (AMB-147)", async () => {
  const { world, call, upsert, words, id, track } = await resting();
  await upsert("ada");
  await call(`POST /api/v1/journeys/${id}/pause`);
  await track("ada", "signed_up");
  expect(await words("ada", { journey: "Welcome" })).toMatch(/: the journey was paused\..* To change: Activate/);

  await world.advance(HOUR);
  await call(`POST /api/v1/journeys/${id}/activate`);

  expect(await words("ada", { journey: "Welcome" })).toMatch(
    /: the journey was paused\. A trigger would start a run now\.$/,
  );
});

it("a failed step names the channel that is off (AMB-147)", async () => {
  const { world, call, email, upsert, words, track } = await resting();
  await upsert("ada");
  await track("ada", "signed_up");
  await call(`PATCH /api/v1/channels/${email}`, { active: false });
  await world.advance(3 * HOUR);

  expect(await words("ada", { journey: "Welcome" })).toMatch(
    /The message “Hi”: failed, its template is gone, or none of its channels can be used \(now .* is switched off\)\./,
  );
});

/** A journey that waits an hour and then mails. */
async function resting() {
  const { email, active, ...rest } = await setting();
  const mail = { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } };
  const id = await active(graphOf({ rest: { delay: { duration: "1h", next: "mail" } }, mail, end: "exit" }));
  return { ...rest, email, id };
}
