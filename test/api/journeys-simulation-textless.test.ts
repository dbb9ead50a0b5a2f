// A step whose message has no text for somebody, or waits for the morning: the walk, the simulation on history and the live
// journey say the same.
import { expect, it } from "vitest";
import { timestamp } from "../../shared/kernel/clock.ts";
import { graphOf } from "../support/journeys.ts";
import { openChannels } from "../support/reached.ts";
import { simulating, type TakenStep } from "../support/simulations.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const NAME = "{{ subscriber.first_name }}";

/** A journey of one message, with one person who has a first name and one who has none. */
async function setting(content: object) {
  const world = await fresh();
  const { tenant, create, activate, person, track, channel: in_app, call, simulate } = await simulating(world);
  const opened = await openChannels(world, tenant, "sms", "chat_app");
  const { sms = "", chat_app = "" } = opened;
  const path = `/api/v1/channels/${chat_app}/chat-app-templates`;
  const template_id: string = (await call(`POST ${path}`, { name: "hello", body: "Hello {{1}}" })).body.id;
  for (const action of ["submit", "refresh"]) await call(`POST ${path}/${template_id}/${action}`);
  const filled = JSON.parse(JSON.stringify(content).replace("TEMPLATE", template_id));
  const channels = { in_app, sms, chat_app };
  const journey = async (...types: (keyof typeof channels)[]) => {
    const channel_ids = types.map((type) => channels[type]);
    const message = { send: { channel_ids, content: filled, next: "end" } };
    const id = await create(graphOf({ message, end: "exit" }));
    await activate(id);
    return id;
  };
  const people = {
    ada: await person("ada", { phone: "+4915112345601", first_name: "Ada" }),
    bob: await person("bob", { phone: "+4915112345602" }),
  };
  const walk = async (id: string, subscriber_id: string) =>
    (await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id })).body.steps[0];
  const live = async (id: string, external_id: keyof typeof people) => {
    await track(external_id, "signed_up");
    const { runs } = (await call(`GET /api/v1/journeys/${id}/subscribers/${people[external_id]}`)).body;
    return runs[0].steps.find(({ step }: TakenStep) => step === "message").outcome;
  };
  return { world, call, server: tenant.server, journey, people, walk, live, simulate };
}

it.each([
  ["an SMS of its own", ["sms"], { title: "t", body: "b", by_channel: { sms: { body: NAME } } }],
  ["a message of the chat app", ["chat_app"], { title: NAME, body: NAME }],
  [
    "a template of the chat app",
    ["chat_app"],
    { title: "t", body: "b", by_channel: { chat_app: { template_id: "TEMPLATE", parameters: [NAME] } } },
  ],
  ["a message to an inbox", ["in_app"], { title: NAME, body: `{% if subscriber.first_name %}Hello{% endif %}` }],
] as const)(
  "%s without a text for somebody fails in a walk and on history as in the live journey (RDA-13, F3)",
  async (_, channels, content) => {
    const { world, journey, people, walk, live, simulate } = await setting(content);
    const id = await journey(...channels);

    expect(await walk(id, people.ada)).toMatchObject({ outcome: "sent", channels });
    expect(await walk(id, people.bob)).toMatchObject({ outcome: "failed", channels: [] });
    expect([await live(id, "ada"), await live(id, "bob")]).toEqual(["sent", "failed"]);

    await world.advance(60_000);
    const { result } = (await simulate(id)).body;
    expect(result.steps.message.outcomes).toEqual({ sent: 1, failed: 1 });
    expect(result.sends).toEqual([{ day: timestamp(world.clock.now()).slice(0, 10), channel: channels[0], sent: 1 }]);
  },
);

it("a walk leaves out the channel on which a message has no text (RDA-13)", async () => {
  const { journey, people, walk, live } = await setting({ title: "t", body: "b", by_channel: { sms: { body: NAME } } });
  const id = await journey("sms", "in_app");

  expect(await walk(id, people.bob)).toMatchObject({ outcome: "sent", channels: ["in_app"] });
  expect(await live(id, "bob")).toBe("sent");
});

it("a message without a text does not count against a cap, in a walk as in the live journey (RDA-13, D-CAP)", async () => {
  const { call, journey, people, walk, live } = await setting({ title: NAME, body: NAME });
  await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
  const id = await journey("sms");
  const content = { title: "t", body: "b" };
  await call("POST /api/v1/notifications", { subscriberIds: [people.bob], ...content });

  expect((await walk(id, people.bob)).outcome).toBe("failed");
  expect(await live(id, "bob")).toBe("failed");
});

/** Two messages by SMS, one after the other, and quiet hours whose end they wait for. */
async function atNight(content: object, frequency_caps: object[] = []) {
  const found = await setting(content);
  const { world, call, people } = found;
  const { channels } = (await call("GET /api/v1/channels")).body;
  const channel_ids = [channels.find(({ type }: { type: string }) => type === "sms").id];
  const quiet_hours = { start: "10:00", end: "09:00", timezone_mode: "workspace" };
  expect((await call("PATCH /api/v1/workspace", { quiet_hours, frequency_caps })).status).toBe(200);
  const one = (next: string) => ({ send: { channel_ids, content, next } });
  const steps = graphOf({ first: one("second"), second: one("end"), end: "exit" });
  const trigger = { type: "event", event_name: "signed_up" };
  const { id } = (await call("POST /api/v1/journeys", { name: "By night", trigger, steps })).body;
  await call(`POST /api/v1/journeys/${id}/activate`);
  const outcomesOf = (taken: readonly TakenStep[]) =>
    ["first", "second"].map((step) => taken.find((found) => found.step === step)?.outcome).sort();
  const walk = async (subscriber_id: string) =>
    outcomesOf((await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id })).body.steps);
  const live = async (external_id: keyof typeof people) => {
    const as = found.server;
    await world.call("POST /v1/events", { as, body: { events: [{ event_name: "signed_up", external_id }] } });
    await world.settle();
    await world.advance(24 * 3_600_000);
    const { runs } = (await call(`GET /api/v1/journeys/${id}/subscribers/${people[external_id]}`)).body;
    return outcomesOf(runs[0].steps);
  };
  return { ...found, id, walk, live };
}

it("of two messages that wait for one morning a cap of one lets the first through, in a walk and on history as live (D-CAP, D-QUIET)", async () => {
  const { id, people, walk, live, simulate } = await atNight({ title: "t", body: "b" }, [
    { category: "marketing", max: 1, per: "day" },
  ]);

  const outcomes = ["sent", "skipped:capped"];
  expect(await walk(people.ada)).toEqual(outcomes);
  expect(await live("ada")).toEqual(outcomes);
  expect((await simulate(id)).body.result).toMatchObject({
    skipped: { capped: 1 },
    sends: [{ day: "2026-11-21", channel: "sms", sent: 1 }],
  });
});
