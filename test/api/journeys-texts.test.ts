// The texts of journeys, which may refer to the event, and the category of a step (D-LIQUID, D-JNY-RUN).
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { addPhone, openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("event.x is of the event that started the run, and after a wait of the event that ended it (D-LIQUID)", async () => {
  const { world, send, active, person, track, inbox } = await journeySetting(await fresh());
  await active(
    graphOf({
      hello: send("Your {{ event.plan }} trial, {{ subscriber.name }}", "wait"),
      wait: { wait_for_event: { event_name: "bought", within: "7d", on_event: "thanks", on_timeout: "end" } },
      thanks: send("{{ event.item }} for {{ event.price }}{{ event.plan }}", "pause"),
      pause: { delay: { duration: "1h", next: "later" } },
      later: send("How is {{ event.item }}?", "end"),
      end: "exit",
    }),
  );
  const ada = await person("ada", { name: "Ada" });
  await track("ada", "signed_up", { properties: { plan: "gold" } });
  expect(await inbox(ada)).toEqual(["Your gold trial, Ada"]);
  await world.advance(HOUR);
  await track("ada", "bought", { properties: { item: "a lamp", price: 9 } });
  expect(await inbox(ada)).toEqual(["Your gold trial, Ada", "a lamp for 9"]);
  await world.advance(HOUR);
  expect(await inbox(ada)).toEqual(["Your gold trial, Ada", "a lamp for 9", "How is a lamp?"]);
});

it("event.x lasts through delays, and is in a push as in the inbox (D-LIQUID)", async () => {
  const { world, tenant, active, person, track } = await journeySetting(await fresh());
  const { ios } = await openChannels(world, tenant, "ios-push");
  const content = { title: "{{ event.plan | default: 'no plan' }}", body: "b" };
  await active(
    graphOf({
      pause: { delay: { duration: "1h", next: "push" } },
      push: { send: { channel_ids: [ios], content, next: "end" } },
      end: "exit",
    }),
  );
  const ada = await person("ada");
  await addPhone(world, tenant, ada, "ios");
  await track("ada", "signed_up", { properties: { plan: "gold" } });

  await world.advance(HOUR);

  expect((await outboxOf(world)).map(({ title }) => title)).toEqual(["gold"]);
});

it("event.x is empty where a run was started by a segment (D-LIQUID)", async () => {
  const { world, send, active, person, inbox, call } = await journeySetting(await fresh());
  const ada = await person("ada");
  const rule = { attribute: { vip: { $eq: true } } };
  const segment = (await call("POST /api/v1/segments", { name: "vips", is_dynamic: true, rule })).body;
  await world.settle();
  await active(graphOf({ hello: send("Hi {{ event.plan | default: 'you' }}", "end"), end: "exit" }), {
    name: "Vips",
    trigger: { type: "segment_entered", segment_id: segment.id },
  });

  await person("ada", { vip: true });
  await world.settle();

  expect(await inbox(ada)).toEqual(["Hi you"]);
});

it("a transactional step ignores quiet hours, in which one without a category waits as marketing (D-JNY-RUN, JND-3)", async () => {
  const { world, tenant, active, person, track, call } = await journeySetting(await fresh());
  const { ios } = await openChannels(world, tenant, "ios-push");
  await call("PATCH /api/v1/workspace", {
    quiet_hours: { start: "11:00", end: "10:00", timezone_mode: "workspace" },
  });
  const step = (title: string, more: object) => ({
    send: { channel_ids: [ios], content: { title, body: "b" }, ...more },
  });
  await active(
    graphOf({
      bill: step("bill", { category: "transactional", next: "offer" }),
      offer: step("offer", { next: "end" }),
      end: "exit",
    }),
  );
  const ada = await person("ada");
  await addPhone(world, tenant, ada, "ios");
  await track("ada", "signed_up");
  expect((await outboxOf(world)).map(({ title }) => title)).toEqual(["bill"]);
  const jobs = (await call("GET /api/v1/notifications?source_type=journey")).body.items as { category: string }[];
  expect(jobs.map(({ category }) => category).sort()).toEqual(["marketing", "transactional"]);
});

it("a step of an unknown category is refused (JND-3)", async () => {
  const { channel, create } = await journeySetting(await fresh());
  const send = { channel_ids: [channel], content: { title: "t", body: "b" }, category: "spam", next: "end" };

  await expect(create(graphOf({ odd: { send }, end: "exit" }))).rejects.toThrow("category");
});

it("a text of one channel that names the event is of each run's own event, though they send together (D-LIQUID, CHC-1)", async () => {
  const { world, tenant, active, person } = await journeySetting(await fresh());
  const { sms } = await openChannels(world, tenant, "sms");
  const content = { title: "t", body: "b", by_channel: { sms: { body: "{{ event.plan }}" } } };
  await active(graphOf({ text: { send: { channel_ids: [sms], content, next: "end" } }, end: "exit" }));
  const plans = ["gold", "silver", "none"];
  for (const [n, plan] of plans.entries()) await person(plan, { phone: `+49151123456${10 + n}` });
  const events = plans.map((plan) => ({ event_name: "signed_up", external_id: plan, properties: { plan } }));

  await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  await world.settle();

  expect((await outboxOf(world)).map(({ body }) => body).sort()).toEqual(plans.toSorted());
});
