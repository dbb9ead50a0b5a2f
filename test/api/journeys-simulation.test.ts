// A journey walked through for a subscriber or a sample (RDA-13): the engine's own steps, on a clock of their own.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { suppressAddress } from "../../shared/store/subscribers/addresses.ts";
import { randomFrom } from "../support/crash.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { wholeTable } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const at = (ms: number) => timestamp(START + ms);

async function setting() {
  const world = await fresh();
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

it("a sample waits for the event that its trigger names, with rendered texts and clauses (RDA-13)", async () => {
  const { world, simulate } = await setting();
  const before = await wholeTable(world);
  const sample = { attributes: { plan: "free", first_name: "Ada" } };
  const bought = (ms: number, code: string) => ({ event_name: "bought", occurred_at: at(ms), properties: { code } });
  const events = [signedUp, bought(2 * HOUR, "A1"), bought(4 * DAY, "B2"), bought(5 * DAY, "A1")];
  const { status, body } = await simulate({ sample, events });
  expect(status).toBe(200);
  const [welcome, pause, paying, wait, ...rest] = body.steps;
  expect(welcome).toMatchObject({ step: "welcome", type: "send", at: at(HOUR), outcome: "sent" });
  expect(welcome.rendering).toEqual({ title: "Hi Ada, A1", body: "b", unknown_variables: ["data.x"] });
  expect(pause).toMatchObject({ step: "pause", at: at(HOUR + 3 * DAY), outcome: "delayed" });
  expect(paying).toMatchObject({ step: "paying", outcome: "branch:else", rendering: null });
  expect(paying.clauses).toMatchObject([{ path: "attribute.plan", matched: false, actual: "free" }]);
  expect(wait).toMatchObject({ step: "wait", at: at(5 * DAY), outcome: "wait:event" });
  expect(rest.map(({ step, outcome }: { step: string; outcome: string }) => [step, outcome])).toEqual([
    ["congratulate", "sent"],
    ["end", "exit"],
  ]);
  expect(body.ended).toEqual({ status: "completed", step: "end", at: at(5 * DAY), reason: "exit" });
  expect(await wholeTable(world)).toHaveLength(before.length);
});

it("times out, takes the other branch, meets an exit condition, or waits for what is not given (RDA-13)", async () => {
  const { simulate } = await setting();
  const outcomes = async (plan: string, more: object[] = []) => {
    const { body } = await simulate({ sample: { attributes: { plan } }, events: [signedUp, ...more] });
    return [body.steps.map(({ outcome }: { outcome: string }) => outcome).join(" "), body.ended.status, body.ended.at];
  };
  expect(await outcomes("pro")).toEqual(["sent delayed branch:then sent", "completed", at(HOUR + 3 * DAY)]);
  expect(await outcomes("free")).toEqual([
    "sent delayed branch:else wait:timeout exit",
    "completed",
    at(HOUR + 10 * DAY),
  ]);
  const left = { event_name: "left", occurred_at: at(DAY), properties: {} };
  expect(await outcomes("free", [left])).toEqual(["sent", "exited", at(DAY)]);
});

it("walks a subscriber as the journey then does (RDA-13)", async () => {
  const { world, id, simulate, activate, person, track, runs, inbox } = await setting();
  const ada = await person("ada", { plan: "pro", first_name: "Ada" });
  const { body } = await simulate({ subscriber_id: ada, events: [{ ...signedUp, occurred_at: at(0) }] });
  await activate(id);
  await track("ada", "signed_up", { properties: { code: "A1" } });
  await world.advance(3 * DAY);
  const [run] = await runs(id);
  expect(run).toMatchObject({ status: body.ended.status, current_step: body.ended.step });
  const titles = body.steps.flatMap(({ rendering }: { rendering: { title: string } | null }) => rendering?.title ?? []);
  expect(titles).toEqual(await inbox(ada));
});

it("refuses foreign journeys and subscribers, incomplete steps, and two subjects (RDA-13, GEN-8)", async () => {
  const { world, id, simulate, create, call, person } = await setting();
  const ada = await person("ada");
  const other = await (await world.tenant()).dashboard();
  const foreign = { as: other, body: { sample: {} } };
  expect((await world.call(`POST /api/v1/journeys/${id}/simulate`, foreign)).status).toBe(404);
  const refused = [{}, { sample: {}, subscriber_id: ada }, { subscriber_id: world.ids.uuid() }];
  for (const body of refused) {
    const answer = await simulate(body);
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ["subscriber_id"]]);
  }
  const draft = await create({ start: "first", steps: {} });
  expect((await call(`POST /api/v1/journeys/${draft}/simulate`, { sample: {} })).status).toBe(422);
});

it("judges the walk as the journey does: who is not eligible, has no address, opted out, left the topic or is capped (RDA-13)", async () => {
  const { world, tenant, call, create, activate, runs, track, send } = await journeySetting(await fresh());
  const { email } = await openChannels(world, tenant, "email");
  await call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
  const mail = (next: string, more: object = {}) => ({
    send: { channel_ids: [email], content: { title: "t", body: "b" }, next, ...more },
  });
  await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 3, per: "day" }] });
  const steps = graphOf({
    first: mail("news"),
    news: mail("inbox", { topic: "news" }),
    inbox: send("Inbox", "hour"),
    hour: { delay: { duration: "1h", next: "last" } },
    last: mail("end"),
    end: "exit",
  });
  const id = await create(steps, { entry_rules: { eligibility: { attribute: { plan: { $eq: "pro" } } } } });
  const upsert = async (external_id: string, more: object): Promise<string> =>
    await tenant.upsert({ external_id, ...more });
  const pro = { attributes: { plan: "pro" } };
  const people: Record<string, string> = {
    free: await upsert("free", { email: "free@example.com", attributes: { plan: "free" } }),
    bare: await upsert("bare", pro),
    out: await upsert("out", { ...pro, email: "out@example.com", consent: { status: "opted_out" } }),
    dead: await upsert("dead", { ...pro, email: "dead@example.com" }),
    topic: await upsert("topic", { ...pro, email: "topic@example.com" }),
    all: await upsert("all", { ...pro, email: "all@example.com" }),
  };
  await suppressAddress(tenant.store, { kind: "email", address: "dead@example.com", reason: "manual" });
  await call(`POST /api/v1/subscribers/${people.topic}/consents`, { channel: "topic:news", status: "opted_out" });
  const walked = new Map<string, unknown[]>();
  for (const [name, subscriber_id] of Object.entries(people)) {
    const { body } = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id });
    if (name === "free") expect(body.entry).toMatchObject({ reason: "not_eligible", clauses: [{ matched: false }] });
    walked.set(name, body.steps.map((one: { step: string; outcome: string }) => `${one.step} ${one.outcome}`).sort());
  }
  await activate(id);
  for (const name of Object.keys(people)) await track(name, "signed_up");
  await world.advance(2 * HOUR);
  const real = await runs(id);
  for (const [name, subscriber] of Object.entries(people)) {
    const run = real.find((one: { subscriber_id: string }) => one.subscriber_id === subscriber);
    const taken = (run?.steps ?? []).map((one: { step: string; outcome: string }) => `${one.step} ${one.outcome}`);
    expect([name, walked.get(name)]).toEqual([name, taken.sort()]);
  }
  expect([...walked.values()].flat()).toEqual(
    expect.arrayContaining([
      "first skipped:no_address",
      "first skipped:no_consent",
      "first skipped:suppressed",
      "news skipped:topic_opt_out",
      "last skipped:capped",
    ]),
  );
  const again = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id: people.all });
  expect(again.body.ended).toMatchObject({ status: "refused", reason: "reentry_window" });
});

it("the walks of random people through random journeys are their replay, and what the journeys then do (RDA-13, F3)", async () => {
  const { world, tenant, call, channel, create, activate, runs } = await journeySetting(await fresh());
  const { email, ios } = await openChannels(world, tenant, "email", "ios-push");
  await call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
  const random = randomFrom(7);
  const isLucky = (share: number) => random() < share;
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const people = new Map<string, string>();
  for (let n = 0; n < 12; n++) {
    const external_id = `r${n}`;
    const consent = isLucky(0.3) ? { consent: { status: "opted_out" } } : {};
    const address = isLucky(0.8) ? { email: `${external_id}@example.com` } : {};
    const body = { external_id, ...address, ...consent, attributes: { plan: one(["pro", "free"]), n } };
    const id = await tenant.upsert(body);
    people.set(external_id, id);
    if (isLucky(0.2))
      await suppressAddress(tenant.store, { kind: "email", address: `${external_id}@example.com`, reason: "manual" });
    if (isLucky(0.3))
      await call(`POST /api/v1/subscribers/${id}/consents`, { channel: "topic:news", status: "opted_out" });
  }
  const step = (next: string) => {
    const send = {
      channel_ids: one([[email], [ios], [channel], [email, ios]]),
      content: { title: "t", body: "b" },
      ...(isLucky(0.3) && { topic: "news" }),
      next,
    };
    const isBranch = isLucky(0.2);
    if (isBranch) return branch({ attribute: { n: { $gte: Math.floor(random() * 12) } } }, next, "end");
    return isLucky(0.3) ? { delay: { duration: "1h", next } } : { send };
  };
  for (let round = 0; round < 6; round++) {
    const names = Array.from({ length: 5 }, (_, i) => `s${i}`);
    const nodes = Object.fromEntries(names.map((name, i) => [name, step(names[i + 1] ?? "end")]));
    const event_name = `start${round}`;
    const eligibility = { attribute: { plan: { $in: one([["pro"], ["pro", "free"]]) } } };
    const trigger = { type: "event", event_name };
    const id = await create(graphOf({ ...nodes, end: "exit" }), { trigger, entry_rules: { eligibility } });
    const begun = timestamp(world.clock.now());
    const events = [{ event_name, occurred_at: begun }];
    const walks = new Map<string, string[]>();
    for (const subscriber_id of people.values()) {
      const { body } = await call(`POST /api/v1/journeys/${id}/simulate`, { subscriber_id, events });
      walks.set(subscriber_id, body.steps.map((taken: Taken) => `${taken.step} ${taken.outcome}`).sort());
    }
    await activate(id);
    const batch = [...people.keys()].map((external_id) => ({ event_name, external_id, occurred_at: begun }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events: batch } });
    await world.advance(6 * HOUR);
    const real = new Map<string, string[]>();
    for (const run of await runs(id))
      real.set(run.subscriber_id, run.steps.map((taken: Taken) => `${taken.step} ${taken.outcome}`).sort());
    for (const subscriber of people.values())
      expect([round, subscriber, walks.get(subscriber)]).toEqual([round, subscriber, real.get(subscriber) ?? []]);
    const window = { from: begun, to: timestamp(world.clock.now()) };
    const { id: simulation } = (await call(`POST /api/v1/journeys/${id}/simulate`, window)).body;
    await world.settle();
    const { result } = (await call(`GET /api/v1/journeys/${id}/simulations/${simulation}`)).body;
    const replayed = Object.entries(result.steps as Record<string, { outcomes: Record<string, number> }>).flatMap(
      ([name, { outcomes }]) => Object.entries(outcomes).flatMap(([outcome, n]) => Array(n).fill(`${name} ${outcome}`)),
    );
    expect([round, replayed.sort()]).toEqual([round, [...walks.values()].flat().sort()]);
  }
});

interface Taken {
  step: string;
  outcome: string;
}
