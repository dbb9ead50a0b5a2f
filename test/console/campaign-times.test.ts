// When the messages of a campaign go out, as the console shows and saves it.
import { expect, it } from "vitest";
import { timesOf } from "../../console/pages/campaigns/times.ts";

const [soon, later] = ["2027-03-01T09:00:00.000Z", "2027-03-02T09:00:00.000Z"];

it("a message without a time of its own goes out with its campaign (CON-3, AMB-66)", () => {
  expect(timesOf({ scheduled_at: soon, messages: [{}, { scheduled_at: later }] })).toEqual([soon, later]);
});

it("a campaign that shows the time of its first message has none for the others (CON-3, AMB-66)", () => {
  expect(timesOf({ scheduled_at: soon, messages: [{ scheduled_at: soon }, {}] })).toEqual([soon, undefined]);
});

it("a message that a resume moved goes out at its new time, and one that it skipped at none (CON-3, AMB-138)", () => {
  const messages = [
    { scheduled_at: soon, moved_to: later },
    { scheduled_at: soon, moved_to: null },
  ];
  expect(timesOf({ scheduled_at: soon, messages })).toEqual([later, undefined]);
});
