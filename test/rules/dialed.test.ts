// Phone numbers as they are dialed at home.
import { getCountries, getCountryCallingCode } from "libphonenumber-js/min";
import { expect, it } from "vitest";
import { numbersDialed } from "../../shared/rules/dialed.ts";

it("a number dialed in any region of the world has its calling code (RDA-6)", () => {
  const wrong = getCountries().filter(
    (region) => !numbersDialed("0123456789", region).includes(`+${getCountryCallingCode(region)}123456789`),
  );

  expect(wrong).toEqual([]);
});

it.each([
  ["0049151123456", "DE", ["+49151123456"]],
  ["0612345678", "IT", ["+39612345678", "+390612345678"]],
  ["4915112345678", null, ["+4915112345678"]],
  ["015112345678", null, []],
])("%s in %s may be %j (RDA-6)", (digits, region, numbers) => {
  expect(numbersDialed(digits, region)).toEqual(expect.arrayContaining(numbers));
});
