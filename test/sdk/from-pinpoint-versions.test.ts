// A folder that has a thing of Pinpoint several times: versions of it, or the answers of two calls.
import { expect, it } from "vitest";
import { convertedOf } from "./support/pinpoint-converted.ts";

const segment = (Version: number, plan: string, more: object = {}) => ({
  ...{ Id: "s1", Name: "Paying", SegmentType: "DIMENSIONAL", Version },
  Dimensions: { UserAttributes: { plan: { AttributeType: "INCLUSIVE", Values: [plan] } } },
  ...more,
});
const versions = {
  SegmentsResponse: { Item: [segment(3, "pro"), segment(2, "team"), segment(1, "free", { Name: "Old" })] },
};
const campaign = (SegmentVersion: number) => ({
  ...{ Id: "c", Name: "Spring", SegmentId: "s1", SegmentVersion },
  MessageConfiguration: { SMSMessage: { Body: "Hi", MessageType: "PROMOTIONAL" } },
});

it("of the versions of a segment the newest is converted, and the others are named (F26)", async () => {
  const { counts, read, lost } = await convertedOf({
    "segments.json": JSON.stringify({ SegmentsResponse: { Item: [segment(3, "pro")] } }),
    "versions.json": JSON.stringify(versions),
    "campaign.json": JSON.stringify(campaign(3)),
  });

  expect(counts["segments written"]).toBe(1);
  expect(read("segments/paying").rule).toEqual({ attribute: { plan: { $in: ["pro"] } } });
  expect(read("campaigns/spring").target).toEqual({ type: "segment", segment: "Paying" });
  expect(lost).toEqual(["Version", "Version"]);
});

it("another version of a segment than that of the folder is named, of a campaign and of a group (F26)", async () => {
  const group = { Type: "ALL", SourceType: "ALL", SourceSegments: [{ Id: "s1", Version: 2 }], Dimensions: [] };
  const made = segment(1, "x", { Id: "s2", Name: "Both", SegmentGroups: { Include: "ALL", Groups: [group] } });
  const documents = [segment(3, "pro"), { ...made, Dimensions: {} }, campaign(2)];

  expect((await convertedOf({ "all.json": JSON.stringify(documents) })).lost).toEqual([
    "SourceSegments.Version",
    "SegmentVersion",
  ]);
});

it("a journey that two answers hold is one, the one that was changed last (F26)", async () => {
  const journey = (LastModifiedDate: string, Activities: object) => ({
    ...{ Id: "j", Name: "Onboarding", LastModifiedDate, StartActivity: "a", Activities },
    StartCondition: { EventStartCondition: { EventFilter: { Dimensions: { EventType: { Values: ["signup"] } } } } },
  });
  const older = journey("2024-01-01T00:00:00.000Z", { a: { Wait: { WaitTime: { WaitFor: "P1D" } } } });
  const newer = journey("2024-02-01T00:00:00.000Z", { a: { Wait: { WaitTime: { WaitFor: "P2D" } } } });

  const { counts, read, lost } = await convertedOf({
    "journeys.json": JSON.stringify({ JourneysResponse: { Item: [newer] } }),
    "older.json": JSON.stringify({ JourneyResponse: older }),
    "same.json": JSON.stringify({ JourneyResponse: newer }),
  });

  expect(counts["journeys written"]).toBe(1);
  expect(read("journeys/onboarding").steps.steps.a.delay.duration).toBe("2d");
  expect(lost).toEqual(["Version"]);
});

it("what a list of templates names is not missed where the template itself is in the folder (F26)", async () => {
  const listed = (TemplateName: string) => ({ TemplateName, TemplateType: "SMS", Version: "1" });
  const { counts, lost } = await convertedOf({
    "list.json": JSON.stringify({ TemplatesResponse: { Item: [listed("Hello"), listed("Lost")] } }),
    "hello.json": JSON.stringify({ SMSTemplateResponse: { ...listed("Hello"), Body: "Hi" } }),
  });

  expect([counts["templates written"], lost]).toEqual([1, [""]]);
});
