// A dry run tells what the import would do: its counts are those of the import after it (F13).
import { expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { countSubscribers } from "../../shared/store/subscribers/subscribers.ts";
import { type Random, randomFrom } from "../simulator/random.ts";
import { importing, people } from "../support/imports.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

type Job = Awaited<ReturnType<Awaited<ReturnType<typeof setting>>["run"]>>;

const ADA = "+14155550123";
const HEADER = "external_id,email,phone,consent_status,consent_at,SMS consent,SMS consent timestamp,bounced,topic:news";
const BEFORE = [
  HEADER,
  "out,out@x.example,,no,2025-01-01,,,,",
  "in,in@x.example,,yes,2025-01-01,,,,yes",
  ",link@x.example,,no,,,,,",
  "dead,dead@x.example,,,,,,2025-01-01,",
  `texts,,${ADA},,,yes,2025-01-01,,`,
  ",stop@x.example,+14155550124,,,no,,,no",
  "owner,link@x.example,+14155550124,,,,,,",
  "known,known@x.example,+14155550125,,,,,,",
].join("\n");

/** Each line shows one thing that a file may meet. */
const FILES: [what: string, lines: string[]][] = [
  ["who opted out agrees", ["out,,,yes,2025-06-01,,,,"]],
  ["who agreed before agrees again, earlier and later", ["in,,,yes,2024-06-01,,,,yes", "in,,,yes,2025-06-01,,,,"]],
  ["the same once more", ["in,in@x.example,,yes,2025-01-01,,,,yes"]],
  ["an opt-out and a later yes of one person", ["new,n@x.example,,no,,,,,", "new,n@x.example,,yes,2025-06-01,,,,no"]],
  ["an address that opted out, with another person", ["other,link@x.example,,yes,2025-06-01,,,,"]],
  [
    "an address that bounced here, again, and of another one",
    ["dead,,,yes,2025-06-01,,,,", "d2,dead@x.example,,,,,,2025-01-01,", "d3,dead@x.example,,,,,,2024-01-01,"],
  ],
  ["two persons of one address that bounces", ["d4,two@x.example,,,,,,yes,", "d5,two@x.example,,yes,2025-06-01,,,,"]],
  [
    "messages: the same, a later yes, a number that opted out",
    [`texts,,${ADA},,,yes,2025-01-01,,`, `texts,,${ADA},,,yes,2025-06-01,,`, "t2,,+14155550124,,,yes,2025-06-01,,"],
  ],
  [
    "rows that are rejected and refuse",
    ["x,not an address,,no,,,,,", "in,in@x.example,,no,,,,,,,", "in,,,yes,2026-01-01,,,,"],
  ],
  [
    "rejected rows that refuse messages, and mail of their own person alone",
    [
      ...["x,a@x.example,+14155550129,,,no,,,,too many", "a,a@x.example,,yes,2025-06-01,,,,"],
      ...["in,b@x.example,,no,,,,,,too many", "b,b@x.example,,yes,2025-06-01,,,,"],
    ],
  ],
  [
    "one person with two addresses, of which one opted out",
    ["firm,ada@x.example,,no,,,,,", "firm,bob@x.example,,,,,,,", "z,ada@x.example,,yes,2025-06-01,,,,"],
  ],
  [
    "proofs of one person for two addresses",
    ["two,1@x.example,,yes,2025-01-01,,,,", "two,2@x.example,,yes,2025-01-01,,,,", "two,,,yes,2024-01-01,,,,"],
  ],
  [
    "somebody of whose address and number it says nothing, and who opted out",
    ["owner,,,yes,2025-06-01,yes,2025-06-01,,"],
  ],
  [
    "the same where earlier rows opt them out",
    [
      ...[",known@x.example,,no,2024-06-01,,,,", ",n@x.example,+14155550125,,,no,2024-06-01,,"],
      "known,,,yes,2025-06-01,yes,2025-06-01,,",
    ],
  ],
  ["proofs of nothing", ["p,p@x.example,,yes,,yes,,,maybe", "q,q@x.example,,yes,2999-01-01,,,,yes"]],
];

it.each(FILES)("a dry run counts what the import does with %s (F13)", async (_, lines) => {
  const { run, tenant } = await setting();
  await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "out" });
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  await run(BEFORE);
  const content = [HEADER, ...lines].join("\n");

  const told = await run(content, { dry_run: "true" });
  const done = await run(content);

  expect(countsOf(told)).toEqual(countsOf(done));
});

const countsOf = ({ consent_summary, topic_summary, channel_summary, phone_summary, failed_rows }: Job) => ({
  ...{ consent_summary, topic_summary, channel_summary, phone_summary, failed_rows },
});

/** A file of few people who share addresses and numbers, of which some rows are rejected. */
function drawnFile(draw: Random, rows: number): string {
  const maybe = (odds: number, some: readonly string[]) => (draw.chance(odds) ? draw.pick(some) : "");
  const word = ["yes", "no", "pending", "yes", "subscribed", "maybe"];
  const time = ["2024-01-01", "2025-01-01", "2025-06-01", "2999-01-01"];
  const mail = ["a@x.example", "b@x.example", "A@x.example", "not an address", "d@x.example; b@x.example"];
  const lines = Array.from({ length: rows }, () => [
    maybe(0.6, ["u1", "u2", "u3", "a@x.example"]),
    maybe(0.6, mail),
    maybe(0.4, [ADA, "+14155550124", "0151 1234567", "4.9E+11"]),
    ...[maybe(0.5, word), maybe(0.5, time), maybe(0.3, word), maybe(0.3, time)],
    maybe(0.2, ["yes", "2025-01-01", "no"]),
    maybe(0.3, word),
    ...(draw.chance(0.1) ? ["one too many"] : []),
  ]);
  return [HEADER, ...lines.map((cells) => cells.join(","))].join("\n");
}

it.each(Array.from({ length: 12 }, (_, i) => i + 1))(
  "a dry run of any file counts what the import does: file %i (F13)",
  async (seed) => {
    const { run, tenant } = await setting();
    const draw = randomFrom(seed);
    await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "out" });
    await tenant.call("PATCH /api/v1/workspace", { double_opt_in: seed % 2 === 0, region: "DE" });
    await run(drawnFile(draw, 8));
    const content = drawnFile(draw, 12);

    const told = await run(content, { dry_run: "true" });
    const done = await run(content);

    expect(countsOf(told)).toEqual(countsOf(done));
  },
);

it("a dry run counts the choices of SMS and of chat apps, and the people that are new (F13)", async () => {
  const { run } = await setting();
  const columns = "external_id,consent_status:sms,consent_at:sms,consent_status:chat_app";
  const told = await run(`${columns}\nu1,opted_in,2025-01-01,opted_out\nu2,yes,,\nu1,,,\n`, { dry_run: "true" });

  expect(told).toMatchObject({
    channel_summary: {
      sms: { opted_in: 1, opted_out: 0, unknown: 1, unchanged: 0 },
      chat_app: { opted_in: 0, opted_out: 1, unknown: 0, unchanged: 0 },
    },
    new_subscribers: 2,
  });
});

it("a dry run tells of rows that the plan has no room for (F13, AMB-88)", async () => {
  const { world, tenant, run, job } = await setting({ plan: "free" });
  await fill(world, tenant, 900);
  const free = 1_000 - (await countSubscribers(tenant.store));
  const told = await run(people(free + 90), { dry_run: "true" });
  const { import_job_id } = await run(people(free + 90));
  await world.advance(MINUTE);

  expect(told).toMatchObject({ failed_rows: 90, new_subscribers: free });
  expect((await job(import_job_id)).failed_rows).toBe(90);
});

it("who was erased and came again takes no room from a new subscriber of a file (SUB-9, AMB-88)", async () => {
  const { world, tenant, run } = await setting({ plan: "free" });
  const erased = await tenant.upsert({ external_id: "ada" });
  await tenant.call(`DELETE /api/v1/subscribers/${erased}`);
  await world.advance(HOUR);
  await tenant.upsert({ external_id: "ada" });
  await fill(world, tenant, 999 - (await countSubscribers(tenant.store)));

  const told = await run("external_id\nada\nbob\n", { dry_run: "true" });
  const done = await run("external_id\nada\nbob\n");

  expect(told).toMatchObject({ failed_rows: 0, new_subscribers: 1 });
  expect(done.failed_rows).toBe(0);
});

it("who was erased comes again by a file that fills the plan (SUB-9, AMB-88)", async () => {
  const { world, tenant, run } = await setting({ plan: "free" });
  const erased = await tenant.upsert({ external_id: "ada" });
  await tenant.upsert({ external_id: "bob" });
  await tenant.call(`DELETE /api/v1/subscribers/${erased}`);
  await world.advance(HOUR);
  await fill(world, tenant, 999 - (await countSubscribers(tenant.store)));

  expect((await run("external_id\nada\nbob\n")).failed_rows).toBe(0);
});

it("a dry run counts the rows whose person would wait for a list, as its import does (F13, AMB-129)", async () => {
  const { tenant, run, list } = await setting();
  await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });
  const file = "external_id,email\nada,ada@example.com\nada,ada@example.com\nbob,bob@example.com\n";

  const told = await run(file, { dry_run: "true" });

  expect(told).toMatchObject({ status: "completed", pending_rows: 3 });
  expect((await run(file)).pending_rows).toBe(3);
});

it("people who are there take no room of the plan: a file of them is read at once (AMB-88)", async () => {
  const { run } = await setting({ plan: "free" });
  await run(people(800));

  expect(await run(people(800))).toMatchObject({ status: "completed", processed_rows: 800, failed_rows: 0 });
});

it("a dry run that another worker goes on with keeps to what the plan has room for (F13, AMB-88)", async () => {
  const reading = requests({ of: "import-rows" });
  const noting = requests({ of: "import-rows", naming: "would_create", moment: "after" });
  const hooks = (name: string) => ({ ...reading.hooks(name), ...noting.hooks(name) });
  const { world, tenant, run, job } = await setting({ plan: "free", hooks });
  await fill(world, tenant, 900);
  const free = 1_000 - (await countSubscribers(tenant.store));
  noting.next(() => reading.fail());
  const { import_job_id } = await run(people(free + 90), { dry_run: "true" });
  reading.pass();

  await world.advance(HOUR);

  expect(await job(import_job_id)).toMatchObject({ status: "completed", failed_rows: 90, new_subscribers: free });
});
