// What an export of Pinpoint says that a file of it may hide: opt-outs beside what is refused, addresses without a user, marks
// of shells, and steps that have the names of others.
import { expect, it } from "vitest";
import { convertedOf } from "./support/pinpoint-converted.ts";

const endpoint = (Id: string, more: object) =>
  JSON.stringify({ Id, ChannelType: "EMAIL", OptOut: "ALL", EffectiveDate: "2025-01-16T10:00:00.000Z", ...more });

it("an opt-out is kept whose endpoint is refused for its attributes, its address or its time (F26, AMB-132)", async () => {
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`a${n}`, ["x"]]));
  const lines = [
    endpoint("e1", { Address: "many@example.com", User: { UserId: "many", UserAttributes: many } }),
    endpoint("e2", { Address: "not an address", User: { UserId: "bad" } }),
    endpoint("e3", { Address: "ahead@example.com", EffectiveDate: "2099-01-01T00:00:00Z", User: { UserId: "ahead" } }),
  ];
  const { counts, get } = await convertedOf({ "endpoints.json": lines.join("\n") }, "--people");
  expect(counts).toMatchObject({
    "endpoints refused": 2,
    "opt-outs kept of endpoints refused": 2,
    "endpoints written": 1,
  });
  const { items } = await get("/api/v1/subscribers");
  const said = await Promise.all(
    items.map(async ({ id, external_id, email }: Record<string, string>) => {
      const { consents } = await get(`/api/v1/subscribers/${id}`);
      return [external_id, email, consents[0].status];
    }),
  );
  expect(said.sort()).toEqual([
    ["ahead", "ahead@example.com", "opted_out"],
    ["bad", undefined, "opted_out"],
    ["many", "many@example.com", "opted_out"],
  ]);
});

it("an opt-out of an endpoint without a channel is one of mail and of text messages (F26, AMB-132)", async () => {
  const line = endpoint("e1", { ChannelType: undefined, User: { UserId: "ada" } });
  const { get } = await convertedOf({ "endpoints.json": line }, "--people");
  const [{ id }] = (await get("/api/v1/subscribers")).items;
  const { consents } = await get(`/api/v1/subscribers/${id}`);
  expect(consents.map(({ channel, status }: Record<string, string>) => `${channel} ${status}`).sort()).toEqual([
    "email opted_out",
    "sms opted_out",
  ]);
});

it("another address of a user counts where the first is refused (F26)", async () => {
  const User = { UserId: "ada" };
  const lines = [
    endpoint("e1", { Address: "not an address", OptOut: "NONE", User }),
    endpoint("e2", { Address: "ada@example.com", OptOut: "NONE", User }),
  ];
  const { get } = await convertedOf({ "endpoints.json": lines.join("\n") }, "--people");
  expect((await get("/api/v1/subscribers?external_id=ada")).items).toMatchObject([{ email: "ada@example.com" }]);
});

it.each([
  ["UTF-8 with a mark", (text: string) => Buffer.from(`\uFEFF${text}`)],
  ["UTF-16", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le")],
])("the first endpoint of a file in %s is read, and one that names nobody is its address (F26)", async (_, encoded) => {
  const csv = encoded("ChannelType,Address,OptOut\nEMAIL,Ada@example.com,ALL\nSMS,+447700900123,ALL\n");
  const lines = encoded(`${endpoint("e1", { Address: "bob@example.com" })}\n`);
  const { counts, lost, get } = await convertedOf({ "a.csv": csv, "b.jsonl": lines }, "--people");
  expect([counts["endpoints written"], lost]).toEqual([3, []]);
  const people: { external_id: string }[] = (await get("/api/v1/subscribers")).items;
  expect(people.map(({ external_id }) => external_id).sort()).toEqual(["+447700900123", "ada@example.com", "e1"]);
});

it("a number among the attributes of a user is none to write to, and rules and texts find it (F26)", async () => {
  const User = { UserId: "ada", UserAttributes: { phone: ["+447700900123"] } };
  const phone = { AttributeType: "INCLUSIVE", Values: ["+447700900123"] };
  const segment = { Id: "s", Name: "S", SegmentType: "DIMENSIONAL", Dimensions: { UserAttributes: { phone } } };
  const template = { TemplateName: "T", TemplateType: "SMS", Body: "{{User.UserAttributes.phone}}" };
  const { lost, read, get } = await convertedOf(
    {
      "e.jsonl": endpoint("e1", { Address: "ada@example.com", User }),
      "all.json": JSON.stringify([segment, template]),
    },
    "--people",
  );
  const [ada] = (await get("/api/v1/subscribers?external_id=ada")).items;
  expect(JSON.parse(ada.attributes)).toEqual({ pinpoint_phone: "+447700900123" });
  expect(read("segments/s").rule.attribute).toEqual({ pinpoint_phone: { $in: ["+447700900123"] } });
  expect(read("templates/t").content.body).toBe("{{ subscriber.pinpoint_phone }}");
  expect(lost).toEqual(["phone"]);
});

it("a place that an attribute of the user hides is named (F26)", async () => {
  const User = { UserId: "ada", UserAttributes: { country: ["Germany"] } };
  const { lost } = await convertedOf({
    "e.jsonl": endpoint("e1", { Address: "ada@example.com", Location: { Country: "DE" }, User }),
  });
  expect(lost).toEqual(["Location.country"]);
});

const send = (TemplateName: string) => ({ EMAIL: { TemplateName } });
const journeyOf = (more: object) => {
  const start = { EventStartCondition: { EventFilter: { Dimensions: { EventType: { Values: ["signed_up"] } } } } };
  const templates = ["One", "Two"].map((TemplateName) => ({
    TemplateName,
    TemplateType: "EMAIL",
    Subject: TemplateName,
  }));
  return JSON.stringify([...templates, { JourneyResponse: { Name: "J", StartCondition: start, ...more } }]);
};

it("activities keep their ids beside steps that are made: an end, and the branches of a split (F26)", async () => {
  const of = (plan: string) => ({
    SegmentDimensions: { UserAttributes: { plan: { AttributeType: "INCLUSIVE", Values: [plan] } } },
  });
  const Branches = [
    { Condition: of("pro"), NextActivity: "x-2" },
    { Condition: of("team"), NextActivity: "end" },
  ];
  const Activities = { x: { MultiCondition: { Branches, DefaultActivity: "" } }, "x-2": send("One"), end: send("Two") };
  const { read, lost } = await convertedOf({ "all.json": journeyOf({ StartActivity: "x", Activities }) });
  const { steps } = read("journeys/j").steps;
  expect(lost).toEqual([]);
  expect([steps.x.branch.then, steps.x.branch.else]).toEqual(["x-2", "x-2_"]);
  expect([steps["x-2_"].branch.then, steps["x-2_"].branch.else]).toEqual(["end", "end_"]);
  expect([steps["x-2"].send.template, steps.end.send.template, steps.end_.type]).toEqual(["One", "Two", "exit"]);
});

it("a wait of seconds lasts to the next minute (F26)", async () => {
  const Activities = { w: { Wait: { WaitTime: { WaitFor: "PT1M30S" } } } };
  const { read } = await convertedOf({ "all.json": journeyOf({ StartActivity: "w", Activities }) });
  expect(read("journeys/j").steps.steps.w.delay.duration).toBe("2m");
});

it.each([
  ["yes and no", "ConditionalSplit", (Condition: object) => ({ Condition, FalseActivity: "m" })],
  ["several", "MultiCondition", (Condition: object) => ({ Branches: [{ Condition }], DefaultActivity: "m" })],
])("a split between %s of which no condition is left lasts as long as before (F26)", async (_, type, of) => {
  const EventCondition = { Dimensions: { EventType: { Values: ["_email.open"] } }, MessageActivity: "m" };
  const condition = type === "MultiCondition" ? { EventCondition } : { Conditions: [{ EventCondition }] };
  const split = { ...of(condition), EvaluationWaitTime: { WaitFor: "P2D" } };
  const { read } = await convertedOf({
    "all.json": journeyOf({ StartActivity: "s", Activities: { s: { [type]: split }, m: send("One") } }),
  });
  expect(read("journeys/j").steps.steps.s.delay).toEqual({ duration: "2d", next: "m" });
});

it("conditions of a start are named, also where it has several events (F26)", async () => {
  const Dimensions = {
    EventType: { Values: ["signed_up", "registered"] },
    Attributes: { from: { AttributeType: "INCLUSIVE", Values: ["web"] } },
    Metrics: { amount: { ComparisonOperator: "EQUAL", Value: 5 } },
  };
  const StartCondition = { EventStartCondition: { EventFilter: { Dimensions } } };
  const Activities = { m: send("One") };
  const { lost } = await convertedOf({ "all.json": journeyOf({ StartActivity: "m", Activities, StartCondition }) });
  expect(lost).toEqual([
    "StartCondition.EventStartCondition.EventType",
    "StartCondition.EventStartCondition.EventFilter",
  ]);
});

const segmentOf = (Dimensions: object) =>
  JSON.stringify({ Item: [{ Id: "s", Name: "S", SegmentType: "DIMENSIONAL", Dimensions }] });

it("a segment by language has the tags that its people have (F26)", async () => {
  const Locale = { DimensionType: "INCLUSIVE", Values: ["de_DE"] };
  const { read } = await convertedOf({ "s.json": segmentOf({ Demographic: { Locale } }) });
  expect(read("segments/s").rule).toEqual({ attribute: { locale: { $in: ["de-DE"] } } });
});

it("of a segment by recency is named that it counts from the move on (F26)", async () => {
  const Recency = { Duration: "DAY_30", RecencyType: "INACTIVE" };
  const { lost } = await convertedOf({ "s.json": segmentOf({ Behavior: { Recency } }) });
  expect(lost).toEqual(["Behavior.Recency"]);
});

it("a text of which nothing is left has the name of its template, which the service takes (F26)", async () => {
  const template = {
    TemplateName: "Hello",
    TemplateType: "EMAIL",
    Subject: "{{dateFormat Attributes.d}} ",
    HtmlPart: "<p>a</p>",
  };
  const { read, lost } = await convertedOf({ "t.json": JSON.stringify({ EmailTemplateResponse: template }) });
  expect([read("templates/hello").content.title, lost]).toEqual(["Hello", ["Subject"]]);
});
