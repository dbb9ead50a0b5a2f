// A journey walked through for a subscriber or a sample (RDA-13): the engine's own steps, on a clock of their own.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { wholeTable } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { type TakenStep, takenBy } from "../support/simulations.ts";
import { START, type TestWorld, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const at = (ms: number) => timestamp(START + ms);

/** A draft that greets, waits for three days, and for the event that its trigger names, unless the plan is "pro". */
async function drafted(world: TestWorld) {
  const { send, ...rest } = await journeySetting(world);
  const steps = graphOf(
    {
      welcome: send("Hi {{ subscriber.attributes.first_name }}, {{ event.code }}{{ data.x }}", "pause"),
      pause: { delay: { duration: "3d", next: "paying" } },
      paying: branch({ attribute: { plan: { $eq: "pro" } } }, "thanks", "wait"),
      thanks: send("Thanks"),
      wait: {
        wait_for_event: {
          event_name: "bought",
          where: { code: { $eq: "{{trigger.code}}" } },
          within: "7d",
          on_event: "congratulate",
          on_timeout: "end",
        },
      },
      congratulate: send("Bought", "end"),
      end: "exit",
    },
    [{ event: { name: "left" } }],
  );
  const id = await rest.create(steps);
  const simulate = (body: object) => rest.call(`POST /api/v1/journeys/${id}/simulate`, body);
  return { id, steps, simulate, ...rest };
}

const signedUp = { event_name: "signed_up", occurred_at: at(HOUR), properties: { code: "A1" } };
const bought = (ms: number, code: string) => ({ event_name: "bought", occurred_at: at(ms), properties: { code } });

describe("the walk of an invented person", () => {
  const walked = shared(async ({ fresh }) => {
    const { world, simulate } = await drafted(await fresh());
    const rowsBefore = (await wholeTable(world)).length;
    const sample = { attributes: { plan: "free", first_name: "Ada" } };
    const events = [signedUp, bought(2 * HOUR, "A1"), bought(4 * DAY, "B2"), bought(5 * DAY, "A1")];
    const { body } = await simulate({ sample, events });
    return { world, rowsBefore, body };
  });

  it("a walk has each step with its time and its outcome, and how it ended (RDA-13)", async () => {
    const { body } = await walked();

    expect(body.steps).toMatchObject([
      { step: "welcome", type: "send", at: at(HOUR), outcome: "sent" },
      { step: "pause", at: at(HOUR + 3 * DAY), outcome: "delayed" },
      { step: "paying", outcome: "branch:else" },
      { step: "wait", at: at(5 * DAY), outcome: "wait:event" },
      { step: "congratulate", outcome: "sent" },
      { step: "end", outcome: "exit" },
    ]);
    expect(body.ended).toEqual({ status: "completed", step: "end", at: at(5 * DAY), reason: "exit" });
  });

  it("a walk shows each message as it would be rendered, and the variables that have no value (RDA-13)", async () => {
    const [welcome, , paying] = (await walked()).body.steps;

    expect(welcome.rendering).toEqual({ title: "Hi Ada, A1", body: "b", unknown_variables: ["data.x"] });
    expect(paying.rendering).toBeNull();
  });

  it("a walk explains a branch by the clauses of its condition (RDA-13)", async () => {
    const [, , paying] = (await walked()).body.steps;

    expect(paying.clauses).toMatchObject([{ path: "attribute.plan", matched: false, actual: "free" }]);
  });

  it("a walk writes nothing (RDA-13)", async () => {
    const { world, rowsBefore } = await walked();

    expect(await wholeTable(world)).toHaveLength(rowsBefore);
  });

  it.each([
    ["takes the branch of a condition that is met", "pro", [], "sent delayed branch:then sent", "completed", 73 * HOUR],
    [
      "times out where no event comes",
      "free",
      [],
      "sent delayed branch:else wait:timeout exit",
      "completed",
      HOUR + 10 * DAY,
    ],
    [
      "is ended by an exit condition",
      "free",
      [{ event_name: "left", occurred_at: at(DAY), properties: {} }],
      "sent",
      "exited",
      DAY,
    ],
  ])("a walk %s (RDA-13)", async (_, plan, more, outcomes, status, endedAt) => {
    const { simulate } = await drafted(await fresh());

    const { body } = await simulate({ sample: { attributes: { plan } }, events: [signedUp, ...more] });

    expect(body.steps.map(({ outcome }: TakenStep) => outcome).join(" ")).toBe(outcomes);
    expect(body.ended).toMatchObject({ status, at: at(endedAt) });
  });
});

it("a subscriber is walked as the journey then does (RDA-13)", async () => {
  const { world, id, simulate, activate, person, track, runs, inbox } = await drafted(await fresh());
  const ada = await person("ada", { plan: "pro", first_name: "Ada" });
  const { body } = await simulate({ subscriber_id: ada, events: [{ ...signedUp, occurred_at: at(0) }] });

  await activate(id);
  await track("ada", "signed_up", { properties: { code: "A1" } });
  await world.advance(3 * DAY);

  expect(await runs(id)).toMatchObject([{ status: body.ended.status, current_step: body.ended.step }]);
  const titles = body.steps.flatMap(({ rendering }: { rendering: { title: string } | null }) => rendering?.title ?? []);
  expect(await inbox(ada)).toEqual(titles);
});

describe("refusals of a walk", () => {
  const refusing = shared(async ({ fresh }) => {
    const found = await drafted(await fresh());
    return { ...found, ada: await found.person("ada") };
  });

  it.each<[what: string, subject: (ada: string) => object]>([
    ["of nobody", () => ({})],
    ["of a subscriber and an invented person", (ada) => ({ sample: {}, subscriber_id: ada })],
    ["of a subscriber that there is not", () => ({ subscriber_id: UNKNOWN })],
  ])("a walk %s is refused with 422, naming subscriber_id (RDA-13, GEN-8)", async (_, subject) => {
    const { simulate, ada } = await refusing();

    const { status, body } = await simulate(subject(ada));

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["subscriber_id"]);
  });

  it("a draft whose steps are incomplete is refused a walk with 422 (RDA-13)", async () => {
    const { create, call } = await refusing();
    const draft = await create({ start: "first", steps: {} });

    expect((await call(`POST /api/v1/journeys/${draft}/simulate`, { sample: {} })).status).toBe(422);
  });
});

describe("who is not sent to", () => {
  /** Six people, one of whom gets all messages, with what a walk and then the journey says of each. */
  const judged = shared(async ({ fresh }) => {
    const { world, tenant, call, create, activate, runs, track, send } = await journeySetting(await fresh());
    const { email } = await openChannels(world, tenant, "email");
    await call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
    await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 3, per: "day" }] });
    const mail = (next: string, more: object = {}) => ({
      send: { channel_ids: [email], content: { title: "t", body: "b" }, next, ...more },
    });
    const steps = graphOf({
      first: mail("news"),
      news: mail("inbox", { topic: "news" }),
      inbox: send("Inbox", "hour"),
      hour: { delay: { duration: "1h", next: "last" } },
      last: mail("end"),
      end: "exit",
    });
    const id = await create(steps, { entry_rules: { eligibility: { attribute: { plan: { $eq: "pro" } } } } });
    const pro = { attributes: { plan: "pro" } };
    const people: Record<string, object> = {
      free: { email: "free@example.com", attributes: { plan: "free" } },
      bare: pro,
      out: { ...pro, email: "out@example.com", consent: { status: "opted_out" } },
      dead: { ...pro, email: "dead@example.com" },
      topic: { ...pro, email: "topic@example.com" },
      all: { ...pro, email: "all@example.com" },
    };
    const ids: Record<string, string> = {};
    for (const [external_id, more] of Object.entries(people))
      ids[external_id] = await tenant.upsert({ external_id, ...more });
    await suppressAddress(tenant.store, { kind: "email", address: "dead@example.com", reason: "manual" });
    await call(`POST /api/v1/subscribers/${ids.topic}/consents`, { channel: "topic:news", status: "opted_out" });

    const walk = async (name: string) =>
      (await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id: ids[name] })).body;
    const walks: Record<string, Awaited<ReturnType<typeof walk>>> = {};
    for (const name of Object.keys(people)) walks[name] = await walk(name);
    await activate(id);
    for (const name of Object.keys(people)) await track(name, "signed_up");
    await world.advance(2 * HOUR);
    const real: { subscriber_id: string; steps: TakenStep[] }[] = await runs(id);
    const stepsOf = (name: string) => real.find((run) => run.subscriber_id === ids[name])?.steps ?? [];
    return { walk, walks, stepsOf };
  });

  it.each([
    ["has no address", "bare", "first skipped:no_address"],
    ["opted out", "out", "first skipped:no_consent"],
    ["has an address that is suppressed", "dead", "first skipped:suppressed"],
    ["left the topic", "topic", "news skipped:topic_opt_out"],
    ["has had as many messages as a cap allows", "all", "last skipped:capped"],
  ])("who %s is skipped in a walk as in the journey (RDA-13)", async (_, name, skipped) => {
    const { walks, stepsOf } = await judged();

    expect(takenBy(walks[name].steps)).toContain(skipped);
    expect(takenBy(walks[name].steps)).toEqual(takenBy(stepsOf(name)));
  });

  it("who is not eligible takes no step, in a walk as in the journey, and the walk says by which clause (RDA-13)", async () => {
    const { walks, stepsOf } = await judged();

    expect(walks.free.entry).toMatchObject({ reason: "not_eligible", clauses: [{ matched: false }] });
    expect(walks.free.steps).toEqual([]);
    expect(stepsOf("free")).toEqual([]);
  });

  it("who has been in the journey is refused another walk of it (RDA-13)", async () => {
    const { walk } = await judged();

    expect((await walk("all")).ended).toMatchObject({ status: "refused", reason: "reentry_window" });
  });
});
