// An export of Pinpoint becomes people, devices and configuration that can be applied, with a report of the rest.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cliOf } from "../support/cli.ts";
import { testWorld } from "../support/world.ts";
import { shared } from "../support/worlds.ts";
import { convertedOf } from "./support/pinpoint-converted.ts";
import { pinpointExport, unmappedFields } from "./support/pinpoint-export.ts";

/** The whole export, converted with its people and applied, and that a second time. */
const converted = shared(async ({ withTenant }) => {
  const { world, tenant } = await withTenant();
  const cli = await cliOf(world, tenant);
  for (const [file, content] of Object.entries(pinpointExport)) cli.write(`pinpoint/${file}`, content);
  const report = await cli.json("from-pinpoint", "pinpoint", "--people");
  const text = readFileSync(join(cli.folder, "engagement/pinpoint-report.txt"), "utf8");
  const applied = [await cli.run("apply"), await cli.run("diff", "--exit-code")];
  await world.settle();
  const repeated = [await cli.run("from-pinpoint", "pinpoint", "--people"), await cli.run("diff", "--exit-code")];
  const get = async (route: string) => (await tenant.call(`GET ${route}`)).body;
  const items: { id: string; external_id: string }[] = (await get("/api/v1/subscribers")).items;
  const idOf = (external_id: string) => items.find((item) => item.external_id === external_id)?.id;
  return { tenant, report, text, applied, repeated, get, items, idOf };
});

it("an export of Pinpoint becomes subscribers, devices, segments, templates, journeys and campaigns (F26)", async () => {
  const { report, applied } = await converted();

  expect(report.counts).toMatchObject({
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
  expect(applied[0]!.notes).toEqual([]);
  expect(applied.map(({ code }) => code)).toEqual([0, 0]);
});

it("the report of an export of Pinpoint names each field that is lost (F26)", async () => {
  const { report, text } = await converted();

  const fields = (report.unmapped as { kind: string; name: string; field: string }[]).map(({ kind, name, field }) =>
    [kind, kind === "endpoints" ? "" : name, field].filter(Boolean).join(" "),
  );

  expect(fields.sort()).toEqual(unmappedFields);
  expect(text).toContain("splits at random");
});

it("users of Pinpoint become subscribers with their attributes, devices, consents and lists (F26)", async () => {
  const { get, items, idOf } = await converted();

  expect(items.map(({ external_id }) => external_id).sort()).toEqual(["ada", "bob", "e-tab", "eve"]);
  const ada = await get(`/api/v1/subscribers/${idOf("ada")}`);
  expect(ada).toMatchObject({
    email: "ada@example.com",
    devices: [{ platform: "ios", device_id: "e-ada-phone", app_version: { major: 2, minor: 4, patch: 1 } }],
    consents: [{ channel: "email", status: "opted_out", consented_at: "2025-01-16T10:00:00.000Z" }],
    lists: [{ name: "Fair 2025" }],
  });
  expect(JSON.parse(ada.attributes)).toEqual({
    ...{ FirstName: "Ada", plan: "pro", Interests: ["music", "sport"], age: 36 },
    ...{ country: "GB", city: "London", locale: "en-GB", timezone: "Europe/London" },
  });
  expect((await get(`/api/v1/subscribers/${idOf("bob")}`)).consents).toMatchObject([
    { channel: "sms", status: "opted_out" },
  ]);
});

it("a journey of Pinpoint is walked as it was drawn (F26)", async () => {
  const { tenant, get } = await converted();
  const [{ id }] = (await get("/api/v1/journeys")).journeys;
  const events = [{ event_name: "app_opened", occurred_at: "2026-11-22T13:00:00Z" }];
  const sample = { attributes: { plan: "pro" } };

  const { steps } = (await tenant.call(`POST /api/v1/journeys/${id}/simulate`, { sample, events })).body;

  const walked = ["mail", "pause", "opened", "split", "split-2", "code", "end"];
  expect(steps.map(({ step }: { step: string }) => step)).toEqual(walked);
});

it("an export of Pinpoint that is read again writes the same (F26)", async () => {
  const { repeated, items } = await converted();

  expect(repeated.map(({ code }) => code)).toEqual([0, 0]);
  expect(items).toHaveLength(4);
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
    names: { TemplatesResponse: { Item: [{ TemplateName: "Lost", TemplateType: "EMAIL" }] } },
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
    "Lost ",
    "Orders Activities",
    "Orders Activities.mail.EMAIL.TemplateVersion",
    "Orders Activities.split.ConditionalSplit.EvaluationWaitTime",
    "Orders StartCondition.EventStartCondition.EventFilter",
    "segments.json NextToken",
  ]);
  const push = JSON.parse(readFileSync(join(cli.folder, "engagement/templates/push.json"), "utf8"));
  expect(push.content.by_channel.push).toEqual({ url: "app://x" });
});

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
