// Exports of Pinpoint as SDKs, shells and spreadsheets write them, and what they hold beside what is carried over.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openedCli } from "../support/cli.ts";
import { convertedOf } from "./support/pinpoint-converted.ts";

const pro = { UserAttributes: { plan: { AttributeType: "INCLUSIVE", Values: ["pro"] } } };
const segment = { Id: "s1", Name: "Pro", SegmentType: "DIMENSIONAL", Dimensions: pro };
const endpoint = { Id: "e-1", ChannelType: "EMAIL", Address: "ada@example.com", User: { UserId: "ada" } };

it.each([
  ["metadata before it", JSON.stringify({ ResponseMetadata: { HTTPStatusCode: 200 }, SegmentResponse: segment })],
  ["a mark before it", `\uFEFF${JSON.stringify(segment)}`],
  ["two bytes a letter", Buffer.from(`\uFEFF${JSON.stringify(segment)}`, "utf16le")],
])("a segment in a file with %s is read (F26)", async (_, content) => {
  const { counts, lost } = await convertedOf({ "segments.json": content });
  expect([counts["segments written"], lost]).toEqual([1, []]);
});

it.each([
  ["endpoints.json", JSON.stringify({ EndpointsResponse: { Item: [endpoint] } }, null, 2)],
  ["endpoints.json", JSON.stringify([endpoint, segment], null, 2)],
  ["users.csv", "User.UserId;ChannelType;Address\nada;EMAIL;ada@example.com\n"],
  ["users.csv", "User.UserId\tChannelType\tAddress\nada\tEMAIL\tada@example.com\n"],
])("the endpoint in %s is read, whose text is %j (F26)", async (file, content) => {
  const { counts, get } = await convertedOf({ [file]: content }, "--people");
  expect(counts).toMatchObject({ "endpoints read": 1, "endpoints written": 1 });
  expect((await get("/api/v1/subscribers")).items).toMatchObject([{ external_id: "ada", email: "ada@example.com" }]);
});

it("a file of an export that is a link to another place is read (F26)", async () => {
  const { cli } = await openedCli();
  cli.write("elsewhere.json", segment);
  mkdirSync(join(cli.folder, "pinpoint"));
  symlinkSync(join(cli.folder, "elsewhere.json"), join(cli.folder, "pinpoint/segments.json"));

  expect(await cli.json("from-pinpoint", "pinpoint")).toMatchObject({ counts: { "segments written": 1 } });
});

it("an activity beside types that are null is its own, and its words are named (F26)", async () => {
  const condition = { segmentDimensions: pro };
  const split = { Branches: [{ Condition: condition, NextActivity: "wait" }], DefaultActivity: "end" };
  const journey = {
    ...{ Id: "j", Name: "Welcome", StartActivity: "split" },
    StartCondition: { Description: "Everybody", SegmentStartCondition: { SegmentId: "s1" } },
    Activities: {
      split: { CUSTOM: null, Description: "Who pays?", MultiCondition: split },
      wait: { Wait: { WaitTime: { WaitFor: "PT30S" } } },
      end: { Wait: { WaitTime: { WaitFor: "P1D" } } },
    },
    Limits: { EndpointReentryCap: null },
  };
  const { read, lost } = await convertedOf({ "all.json": JSON.stringify([segment, journey]) });
  expect(read("journeys/welcome").steps.steps.split).toMatchObject({ type: "branch", branch: { else: "end" } });
  expect(lost.sort()).toEqual([
    "Activities.split.Description",
    "StartCondition.Description",
    "StartCondition.SegmentStartCondition",
  ]);
});

it("dimensions of a segment that its groups do not say again are named (F26)", async () => {
  const groups = (Dimensions: object) => ({ Include: "ALL", Groups: [{ Type: "ALL", Dimensions: [Dimensions] }] });
  const lostWith = async (SegmentGroups: object) =>
    (await convertedOf({ "segments.json": JSON.stringify([{ ...segment, SegmentGroups }]) })).lost;
  expect(await lostWith(groups(pro))).toEqual([]);
  expect(await lostWith(groups({ Metrics: { age: { ComparisonOperator: "EQUAL", Value: 1 } } }))).toEqual([
    "Dimensions.UserAttributes",
  ]);
});

it("what a campaign says beside its message is named (F26)", async () => {
  const campaign = {
    ...{ Id: "c", Name: "Spring", Description: "For all", SegmentId: "s1" },
    Schedule: { StartTime: "2099-01-01T00:00:00Z", Frequency: "ONCE" },
    MessageConfiguration: { SMSMessage: { Body: "Hi", MessageType: "TRANSACTIONAL" } },
    TemplateConfiguration: { SMSTemplate: { Name: "S" } },
  };
  const { lost } = await convertedOf({ "all.json": JSON.stringify([segment, campaign]) });
  expect(lost.sort()).toEqual([
    "Description",
    "MessageConfiguration.SMSMessage.MessageType",
    "TemplateConfiguration.SMSTemplate",
  ]);
});

it("placeholders of buttons and links become Liquid, and defaults that cannot be said are named (F26)", async () => {
  const templates = [
    {
      ...{ TemplateName: "Banner", TemplateType: "INAPP" },
      Content: [
        { PrimaryBtn: { DefaultConfig: { Text: "{{Attributes.word}}", Link: "https://x.example/{{User.UserId}}" } } },
      ],
    },
    {
      TemplateName: "Push",
      TemplateType: "PUSH",
      Default: { Title: "T", Action: "URL", Url: "app://{{User.UserId}}" },
    },
    { TemplateName: "Text", TemplateType: "SMS", Body: "{{Attributes.a}}", DefaultSubstitutions: "{" },
    {
      TemplateName: "Quote",
      TemplateType: "SMS",
      Body: "{{Attributes.a}}",
      DefaultSubstitutions: '{"Attributes":{"a":"\\""}}',
    },
  ];
  const { read, lost } = await convertedOf({ "templates.json": JSON.stringify(templates) });
  expect(read("templates/banner").content.by_channel.in_app.actions).toMatchObject([
    { title: "{{ subscriber.word }}", url: "https://x.example/{{ subscriber.external_id }}" },
  ]);
  expect(read("templates/push").content.by_channel.push.url).toBe("app://{{ subscriber.external_id }}");
  expect(lost).toEqual(["DefaultSubstitutions", "DefaultSubstitutions"]);
});
