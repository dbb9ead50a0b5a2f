// The patterns by which the table's stream triggers its workers, as Lambda matches them.
import { describe, expect, test } from "vitest";
import { matchesOne } from "../../local/event-sources.ts";
import { publishedParts, streamSources } from "../../shared/contract/stream-sources.ts";

const row = (sk: string, image: Record<string, string>, eventName = "INSERT") => ({
  eventName,
  dynamodb: {
    Keys: { pk: { S: "T#x#Y" }, sk: { S: sk } },
    NewImage: Object.fromEntries(Object.entries(image).map(([name, S]) => [name, { S }])),
  },
});
const removed = { eventName: "REMOVE", dynamodb: { Keys: { pk: { S: "T#x#Y" }, sk: { S: "x" } } } };

const takes = (env: Record<string, string>, worker: string, record: object) => {
  const source = streamSources(publishedParts(env)).find((streamSource) => streamSource.worker === worker);
  return matchesOne(source!.patterns, record);
};

const BUS = { EVENT_BUS: "default" };
const ARCHIVE = { ARCHIVE_BUCKET: "archive" };

describe("what triggers a worker of the stream", () => {
  test.each<[about: string, record: object, react: boolean, bus: boolean, archive: boolean]>([
    ["a subscriber that was written", row("u1", { react: "subscriber" }, "MODIFY"), true, true, true],
    ["a timer", row("1#2", { react: "due" }), true, false, false],
    ["a block of events", row("2026#x", { react: "block" }), true, true, true],
    ["a block of events that an erasure changed", row("2026#x", { react: "block" }, "MODIFY"), true, false, false],
    ["an event that was sent alone", row("e", { event_name: "seen" }), false, true, true],
    ["the place of an event in a block", row("e", { block: "x" }), false, false, false],
    ["a row of the ledger", row("R#2026#job#email", { state: "sent" }), false, false, true],
    ["a message of an inbox", row("I#1", { job: "j" }), false, false, true],
    ["a mail that came back", row("R#2026#job#email", { react: "fate" }, "MODIFY"), true, true, true],
    ["a row that was removed", removed, false, false, false],
  ])("%s", (_, record, react, bus, archive) => {
    const triggered = [takes({}, "react", record), takes(BUS, "publish-events", record)];
    expect([...triggered, takes(ARCHIVE, "publish-events", record)]).toEqual([react, bus, archive]);
    expect(takes({}, "publish-events", record)).toBe(false);
  });
});
