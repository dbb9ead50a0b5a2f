// An export of Pinpoint becomes people, devices and configuration that can be applied, with a report of the rest.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cliOf } from "../support/cli.ts";
import { testWorld } from "../support/world.ts";
import { pinpointExport, unmappedFields } from "./support/pinpoint-export.ts";

it("an export of Pinpoint becomes subscribers, devices, segments, templates, journeys and campaigns (F26)", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const cli = await cliOf(world, tenant);
  const get = async (route: string) => (await tenant.call(`GET ${route}`)).body;
  for (const [file, content] of Object.entries(pinpointExport)) cli.write(`pinpoint/${file}`, content);
  const { counts, unmapped } = await cli.json("from-pinpoint", "pinpoint", "--people");
  expect(counts).toMatchObject({
    "endpoints read": 8,
    "endpoints written": 7,
    "endpoints refused": 1,
    "members of lists written": 1,
    "segments written": 2,
    "lists written": 1,
    "templates written": 4,
    "journeys written": 1,
    "campaigns written": 1,
  });
  const fields = (unmapped as { kind: string; name: string; field: string }[]).map(({ kind, name, field }) =>
    [kind, kind === "endpoints" ? "" : name, field].filter(Boolean).join(" "),
  );
  expect(fields.sort()).toEqual(unmappedFields);

  expect((await cli.run("apply")).notes).toEqual([]);
  expect((await cli.run("diff", "--exit-code")).code).toBe(0);
  const { items } = await get("/api/v1/subscribers");
  const people = Object.fromEntries(items.map((one: { external_id: string }) => [one.external_id, one]));
  expect(Object.keys(people).sort()).toEqual(["ada", "bob", "e-tab", "eve"]);
  expect(people.ada.email).toBe("ada@example.com");
  expect(JSON.parse(people.ada.attributes)).toEqual({
    ...{ FirstName: "Ada", plan: "pro", Interests: ["music", "sport"], age: 36 },
    ...{ country: "GB", city: "London", locale: "en-GB", timezone: "Europe/London" },
  });
  const ada = await get(`/api/v1/subscribers/${people.ada.id}`);
  expect(ada).toMatchObject({
    devices: [{ platform: "ios", device_id: "e-ada-phone", app_version: { major: 2, minor: 4, patch: 1 } }],
    consents: [{ channel: "email", status: "opted_out", consented_at: "2025-01-16T10:00:00.000Z" }],
    lists: [{ name: "Fair 2025" }],
  });
  expect((await get(`/api/v1/subscribers/${people.bob.id}`)).consents).toMatchObject([
    { channel: "sms", status: "opted_out" },
  ]);
  await world.settle();
  const [{ id: journey }] = (await get("/api/v1/journeys")).journeys;
  const sample = { attributes: { plan: "pro" } };
  const body = { sample, events: [{ event_name: "app_opened", occurred_at: "2026-11-22T13:00:00Z" }] };
  const walked = await tenant.call(`POST /api/v1/journeys/${journey}/simulate`, body);
  expect(walked.body.steps?.map(({ step }: { step: string }) => step)).toEqual([
    "mail",
    "pause",
    "opened",
    "split",
    "split-2",
    "code",
    "end",
  ]);
  const report = readFileSync(join(cli.folder, "engagement/pinpoint-report.txt"), "utf8");
  expect(report).toContain("splits at random");
  // Repeated, it writes the same.
  expect((await cli.run("from-pinpoint", "pinpoint", "--people")).code).toBe(0);
  expect((await get("/api/v1/subscribers/count")).count).toBe(4);
  expect((await cli.run("diff", "--exit-code")).code).toBe(0);
});

it("the report names what is cut off, and what a step, a trigger, a button or a template loses (F26)", async () => {
  const world = await testWorld();
  const cli = await cliOf(world, await world.tenant());
  const send = (more: object) => ({ EMAIL: { TemplateName: "Hello", ...more } });
  const plan = { UserAttributes: { plan: { AttributeType: "INCLUSIVE", Values: ["pro"] } } };
  const Condition = { Conditions: [{ SegmentDimensions: plan }] };
  const split = { Condition, EvaluationWaitTime: { WaitUntil: "2024-02-01T00:00:00Z" }, TrueActivity: "mail" };
  const Metrics = { total: { ComparisonOperator: "GREATER_THAN", Value: 10 } };
  const Dimensions = { EventType: { Values: ["order_placed"] }, Metrics };
  const journey = {
    Name: "Orders",
    StartActivity: "split",
    StartCondition: { EventStartCondition: { EventFilter: { Dimensions } } },
    Activities: { split: { ConditionalSplit: split }, mail: send({ NextActivity: "gone", TemplateVersion: "2" }) },
  };
  const primary = {
    DefaultConfig: { Text: "Go", ButtonAction: "CLOSE" },
    Android: { ButtonAction: "LINK", Link: "app://y" },
  };
  const documents = {
    segments: {
      SegmentsResponse: {
        Item: [{ Id: "s", Name: "Pro", SegmentType: "DIMENSIONAL", Dimensions: plan }],
        NextToken: "t",
      },
    },
    journey: { JourneyResponse: journey },
    names: { TemplatesResponse: { Item: [{ TemplateName: "Hello", TemplateType: "EMAIL" }] } },
    hello: { EmailTemplateResponse: { TemplateName: "Hello", TemplateType: "EMAIL", Subject: "Hello" } },
    push: {
      PushNotificationTemplateResponse: {
        ...{ TemplateName: "Push", TemplateType: "PUSH" },
        Default: { Title: "Hi", Body: "There", Action: "DEEP_LINK", Url: "app://x" },
      },
    },
    banner: {
      InAppTemplateResponse: {
        ...{ TemplateName: "Banner", TemplateType: "INAPP" },
        Content: [{ HeaderConfig: { Header: "Hi" }, PrimaryBtn: primary }],
      },
    },
  };
  for (const [name, document] of Object.entries(documents))
    cli.write(`pinpoint/${name}.json`, JSON.stringify(document));
  const { counts, unmapped } = await cli.json("from-pinpoint", "pinpoint");
  expect(counts).toMatchObject({ "segments written": 1, "journeys written": 1, "templates written": 3 });
  const fields = (unmapped as { name: string; field: string }[]).map(({ name, field }) => `${name} ${field}`);
  expect(fields.sort()).toEqual([
    "Banner Content.PrimaryBtn.Android",
    "Hello ",
    "Orders Activities",
    "Orders Activities.mail.EMAIL.TemplateVersion",
    "Orders Activities.split.ConditionalSplit.EvaluationWaitTime",
    "Orders StartCondition.EventStartCondition.EventFilter",
    "segments.json NextToken",
  ]);
  const push = JSON.parse(readFileSync(join(cli.folder, "engagement/templates/push.json"), "utf8"));
  expect(push.content.by_channel.push).toEqual({ url: "app://x" });
});

/** What is written for these documents. */
async function convertedOf(documents: Record<string, string>, ...options: string[]) {
  const world = await testWorld();
  const tenant = await world.tenant();
  const cli = await cliOf(world, tenant);
  for (const [name, content] of Object.entries(documents)) cli.write(`pinpoint/${name}`, content);
  const { counts, unmapped } = await cli.json("from-pinpoint", "pinpoint", ...options);
  const read = (file: string) => JSON.parse(readFileSync(join(cli.folder, `engagement/${file}.json`), "utf8"));
  const get = async (route: string) => (await tenant.call(`GET ${route}`)).body;
  return {
    counts: counts as Record<string, number>,
    lost: (unmapped as { field: string }[]).map(({ field }) => field),
    read,
    get,
  };
}

const journeyOf = (more: object) => {
  const start = { EventStartCondition: { EventFilter: { Dimensions: { EventType: { Values: ["signed_up"] } } } } };
  return JSON.stringify({ JourneyResponse: { Name: "One", StartCondition: start, ...more } });
};

it.each([
  [{ EndpointReentryCap: 0, EndpointReentryInterval: "PT24H" }, { allow_reentry: true, reentry_window: "1d" }, []],
  [{ EndpointReentryCap: 0 }, { allow_reentry: true }, []],
  [{ EndpointReentryCap: 1 }, undefined, []],
  [{ EndpointReentryCap: 3, DailyCap: 1 }, { allow_reentry: true }, ["Limits.DailyCap", "Limits.EndpointReentryCap"]],
])("the limits %j of a journey become the entry rules %j (F26)", async (Limits, entry_rules, expected) => {
  const { read, lost } = await convertedOf({ "journey.json": journeyOf({ Limits, Activities: {} }) });
  expect([read("journeys/one").entry_rules, lost]).toEqual([entry_rules, expected]);
});

it("an event of a multivariate split counts in the time for which the split waited (F26)", async () => {
  const opened = { EventCondition: { Dimensions: { EventType: { Values: ["opened"] } } } };
  const MultiCondition = { EvaluationWaitTime: { WaitFor: "PT2H" }, Branches: [{ Condition: opened }] };
  const { read } = await convertedOf({
    "journey.json": journeyOf({ StartActivity: "split", Activities: { split: { MultiCondition } } }),
  });
  const { steps } = read("journeys/one").steps;
  expect(steps.split.delay).toEqual({ duration: "2h", next: "split-1" });
  expect(steps["split-1"].branch.condition).toEqual({ event: { name: "opened", within: "2h" } });
});

it("endpoints of a CSV become people, and those of an imported segment its members (F26)", async () => {
  const csv =
    "ChannelType,Address,Id,OptOut,User.UserId,User.UserAttributes.plan,Attributes.likes,Attributes.likes,Metrics.age\n" +
    'EMAIL,ada@example.com,e-1,ALL,ada,"pro, yearly","[""music"",""film""]",sport,36\nSMS,+447700900123,e-2,NONE,bob,,,,\n';
  const segment = { Id: "seg-1", Name: "Fair", SegmentType: "IMPORT" };
  const { counts, get } = await convertedOf(
    { "segments.json": JSON.stringify({ Item: [segment] }), "seg-1/part-0.csv": csv },
    "--people",
  );
  expect(counts).toMatchObject({ "endpoints written": 2, "members of lists written": 2, "lists written": 1 });
  const { items } = await get("/api/v1/subscribers");
  const ada = items.find((one: { external_id: string }) => one.external_id === "ada");
  expect([ada.email, JSON.parse(ada.attributes)]).toEqual([
    "ada@example.com",
    { plan: "pro, yearly", likes: ["music", "film", "sport"], age: 36 },
  ]);
  expect((await get(`/api/v1/subscribers/${ada.id}`)).consents).toMatchObject([{ status: "opted_out" }]);
});

it("an opt-out of calls is one of texts, an inactive address is not written, and both are kept or named (F26)", async () => {
  const endpoint = (more: object) => JSON.stringify({ OptOut: "NONE", ...more });
  const lines = [
    endpoint({
      ...{ Id: "v", ChannelType: "VOICE", Address: "+447700900123" },
      OptOut: "ALL",
      User: { UserId: "bob" },
    }),
    endpoint({
      ...{ Id: "m", ChannelType: "EMAIL", Address: "eve@example.com" },
      EndpointStatus: "INACTIVE",
      OptOut: "ALL",
      User: { UserId: "eve" },
    }),
    endpoint({
      ...{ Id: "a", ChannelType: "EMAIL", Address: "ada@example.com" },
      Attributes: { plan: ["free"] },
      User: { UserId: "ada", UserAttributes: { plan: ["pro"] } },
    }),
  ];
  const { counts, lost, get } = await convertedOf({ "endpoints.json": lines.join("\n") }, "--people");
  expect([counts["endpoints written"], lost.sort()]).toEqual([3, ["Attributes.plan", "EndpointStatus"]]);
  const people = (await get("/api/v1/subscribers")).items as { id: string; external_id: string; email?: string }[];
  const of = (name: string) => people.find(({ external_id }) => external_id === name)!;
  const consents = async (name: string) => (await get(`/api/v1/subscribers/${of(name).id}`)).consents;
  expect(await consents("bob")).toMatchObject([{ channel: "sms", status: "opted_out" }]);
  expect([of("eve").email, await consents("eve")]).toMatchObject([
    undefined,
    [{ channel: "email", status: "opted_out" }],
  ]);
});

it("endpoints of one user that say different things of it are named, those that say the same are not (F26)", async () => {
  const endpoint = (Id: string, UserId: string, plan: string) =>
    JSON.stringify({
      Id,
      ChannelType: "GCM",
      Address: `token-${Id}`,
      User: { UserId, UserAttributes: { plan: [plan] } },
    });
  const lines = [
    endpoint("e-1", "ada", "free"),
    endpoint("e-2", "ada", "pro"),
    endpoint("e-3", "bob", "pro"),
    endpoint("e-4", "bob", "pro"),
  ];

  const { counts, lost } = await convertedOf({ "endpoints.json": lines.join("\n") }, "--people");

  expect(counts["endpoints written"]).toBe(4);
  expect(lost).toEqual(["Attributes"]);
});

it("a line of a CSV may begin with an empty cell, and an opt-out may be written in any case (F26)", async () => {
  const csv =
    "Id,ChannelType,Address,OptOut,User.UserId,Metrics.age\n,EMAIL,ada@example.com,All,ada,old\n,EMAIL,bob@example.com,None,bob,36\n";
  const { counts, get } = await convertedOf({ "people.csv": csv }, "--people");
  expect(counts["endpoints written"]).toBe(2);
  const { items } = await get("/api/v1/subscribers");
  const of = (name: string) => items.find((one: { external_id: string }) => one.external_id === name);
  expect([of("ada").email, JSON.parse(of("ada").attributes), JSON.parse(of("bob").attributes)]).toEqual([
    "ada@example.com",
    { age: "old" },
    { age: 36 },
  ]);
  const consents = async (name: string) => (await get(`/api/v1/subscribers/${of(name).id}`)).consents;
  expect([await consents("ada"), await consents("bob")]).toMatchObject([[{ status: "opted_out" }], []]);
});

it("the file that was imported fills the list of its segment, and a segment without one is named (F26)", async () => {
  const found = { SegmentType: "IMPORT", ImportDefinition: { S3Url: "s3://bucket/fair/users.csv", Format: "CSV" } };
  const segments = {
    Item: [
      { Id: "seg-1", Name: "Fair", ...found },
      { Id: "seg-2", Name: "Gone", SegmentType: "IMPORT" },
    ],
  };
  const { counts, lost } = await convertedOf(
    { "segments.json": JSON.stringify(segments), "users.csv": "User.UserId\nada\n" },
    "--people",
  );
  expect([counts["members of lists written"], lost]).toEqual([1, ["ImportDefinition"]]);
});

it("members of an imported segment that are named by their users are members of its list (F26)", async () => {
  const segment = { Id: "seg-1", Name: "Fair", SegmentType: "IMPORT" };
  const csv = "User.UserId\nada\nbob\n";
  const { counts, lost } = await convertedOf(
    { "segments.json": JSON.stringify({ Item: [segment] }), "seg-1/users.csv": csv },
    "--people",
  );
  expect([counts["members of lists written"], lost]).toEqual([2, []]);
});

it("a cell whose quote is never closed is named, and the cells of a line with a lone quote are kept (F26)", async () => {
  const head = "ChannelType,Address,Id,User.UserId,Attributes.size\n";
  const row = (id: string, size: string) => `EMAIL,${id}@example.com,${id},${id},${size}\n`;
  const open = await convertedOf({ "people.csv": `${head}${row("ada", "1")}${row("bob", '"open')}${row("cyd", "2")}` });
  expect([open.counts["endpoints read"], open.lost]).toEqual([1, [""]]);
});

it("what only the smaller branch of a random split leads to is named (F26)", async () => {
  const Branches = [
    { Percentage: 60, NextActivity: "rest" },
    { Percentage: 40, NextActivity: "other" },
  ];
  const wait = { Wait: { WaitTime: { WaitFor: "P1D" } } };
  const Activities = { split: { RandomSplit: { Branches } }, rest: wait, other: wait };
  const { read, lost } = await convertedOf({ "journey.json": journeyOf({ StartActivity: "split", Activities }) });
  expect(Object.keys(read("journeys/one").steps.steps)).toEqual(["rest", "end"]);
  expect(lost.sort()).toEqual(["Activities.other", "Activities.split.RandomSplit"]);
});
