// How many parts an SMS is sent and billed as.
import { expect, it } from "vitest";
import { smsSegments } from "../../shared/rules/sms-segments.ts";

it.each([
  ["160 characters of the GSM alphabet", "a".repeat(160), 1],
  ["161 of them", "a".repeat(161), 2],
  ["306 of them, which fill two parts", "a".repeat(306), 2],
  ["a character of two places that fits a part exactly", `${"a".repeat(151)}€${"a".repeat(153)}`, 2],
  ["a character of two places at the end of a part", `${"a".repeat(152)}€${"a".repeat(152)}`, 3],
  ["70 characters beyond the GSM alphabet", "ж".repeat(70), 1],
  ["71 of them", "ж".repeat(71), 2],
  ["an emoji at the end of a part", `${"ж".repeat(66)}😀${"ж".repeat(66)}`, 3],
])("an SMS of %s is counted as the parts that it is sent as (RDA-8, CHC-5)", (_, text, parts) => {
  expect(smsSegments(text).segments).toBe(parts);
});
