// What compares with a time or an address, and what does not (AMB-52, AMB-137).
import { describe, expect, it } from "vitest";
import { compilePredicate, validatePredicate } from "../../shared/rules/predicates.ts";
import { comparisonIn } from "../../shared/rules/values.ts";

const NEW_YORK = "America/New_York";

const selected = (values: unknown[], operators: object) => {
  const satisfies = compilePredicate({ at: operators }, comparisonIn(NEW_YORK));
  return values.filter((at) => satisfies({ at }));
};

describe("times", () => {
  // 19 April 2024, 10:00 in New York is 14:00 UTC.
  const written = ["2024-04-19 10:00:00", "2024-04-19T10:00", "2024-04-19 14:00:00 UTC", "2024-04-19 16:00:00+0200"];

  it.each(written)("%s is an instant by the clock of the workspace (AMB-137)", (text) => {
    expect(selected([text], { $eq: "2024-04-19T14:00:00Z" })).toEqual([text]);
    expect(selected(["2024-04-19T13:59:59Z", "2024-04-19T14:00:01Z"], { $gt: text })).toEqual(["2024-04-19T14:00:01Z"]);
  });

  it("a time without a zone is within its day (AMB-137)", () => {
    const late = "2024-04-19 23:30:00";
    expect([selected([late], { $lte: "2024-04-19" }), selected([late], { $eq: "2024-04-19" })]).toEqual([
      [late],
      [late],
    ]);
  });

  it("a time that the clocks skip is the first one after it (AMB-137)", () => {
    expect(selected(["2024-03-10T07:00:00Z"], { $eq: "2024-03-10 02:30:00" })).toEqual(["2024-03-10T07:00:00Z"]);
  });

  it.each(["$gt", "$gte", "$lt", "$lte"])("what is no time is not %s a time (AMB-137)", (operator) => {
    const others = ["never", "", "03/04/2024", "2024-02-30", "9999", "2016-12-31T23:59:60Z", 20240419, null, true];
    expect(selected(others, { [operator]: "2024-04-19" })).toEqual([]);
    expect(selected(others, { [operator]: "2024-04-19T00:00:00Z" })).toEqual([]);
  });

  it.each([
    "2024-02-30",
    "2024-13-01T00:00:00Z",
    "2024-1-5",
    "03/04/2024",
    "3.4.2024",
    "today",
    "Yesterday",
    "-3d",
    "3 days ago",
    "now-3d",
  ])("%s is refused as what a value is before or after (AMB-137)", (operand) => {
    const problem = (operator: string) => validatePredicate({ at: { [operator]: operand } })?.path;
    expect(["$gt", "$gte", "$lt", "$lte"].map(problem)).toEqual(["at.$gt", "at.$gte", "at.$lt", "at.$lte"]);
  });

  it.each(["b", "1.10", "10", "A-3", "2024"])("%s is a text that orders texts (AMB-52)", (operand) => {
    expect(validatePredicate({ at: { $gt: operand } })).toBeUndefined();
  });
});

describe("addresses", () => {
  const ways = ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"];

  it("an e-mail address is found however it is written (AMB-128)", () => {
    expect(selected(ways, { $eq: "aDa@example.COM" })).toEqual(ways);
    expect(selected(ways, { $in: ["x@example.com", "ada@Example.com"] })).toEqual(ways);
    expect(selected(["hans@münchen.example"], { $eq: "Hans@xn--mnchen-3ya.example" })).toEqual([
      "hans@münchen.example",
    ]);
  });

  it("no other way of writing an e-mail address escapes $ne and $nin (AMB-128)", () => {
    expect([selected(ways, { $ne: "ada@example.com" }), selected(ways, { $nin: ["ADA@example.com"] })]).toEqual([
      [],
      [],
    ]);
  });

  it("texts that are no addresses keep their case (AMB-52)", () => {
    expect(
      selected(["Berlin", "berlin", "@Ada", "ada+x@example.com"], { $in: ["berlin", "@ada", "ada@example.com"] }),
    ).toEqual(["berlin"]);
  });
});
