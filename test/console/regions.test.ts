// Every region that the settings offer is one whose phone numbers the service reads.
import { isSupportedCountry } from "libphonenumber-js/min";
import { expect, it } from "vitest";
import { regions } from "../../console/app/regions.ts";

it("the regions to choose from are those whose numbers can be read (CON-3)", () => {
  expect(regions.filter(({ value }) => !isSupportedCountry(value))).toEqual([]);
  expect(regions.find(({ value }) => value === "DE")).toEqual({ value: "DE", label: "Germany" });
  expect(regions.length).toBeGreaterThan(230);
});
