// An export of Pinpoint becomes people, devices and configuration that can be applied, with a report of the rest.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cliOf } from "../support/cli.ts";
import { testWorld } from "../support/world.ts";
import { pinpointExport, unmappedFields } from "./support/pinpoint-export.ts";

it("F26 an export of Pinpoint becomes subscribers, devices, segments, templates, journeys and campaigns", async () => {
  const world = await testWorld();
  const tenant = await world.tenant();
  const cli = await cliOf(world, tenant);
  const as = await tenant.dashboard();
  const get = async (route: string) => (await world.call(`GET ${route}`, { as })).body;
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
  const walked = await world.call(`POST /api/v1/journeys/${journey}/simulate`, { as, body });
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

it("F26 the report names what is cut off, and what a step, a trigger, a button or a template loses", async () => {
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
    Activities: { split: { ConditionalSplit: split }, mail: send({ NextActivity: "gone" }) },
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
    "Orders Activities.split.ConditionalSplit.EvaluationWaitTime",
    "Orders StartCondition.EventStartCondition.EventFilter",
    "segments.json NextToken",
  ]);
  const push = JSON.parse(readFileSync(join(cli.folder, "engagement/templates/push.json"), "utf8"));
  expect(push.content.by_channel.push).toEqual({ url: "app://x" });
});
