// Phone numbers as files write them, read by the region of their row (AMB-133).
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";
import { isPhoneNumber } from "./contacts.ts";
import { compactPhone } from "./import-columns.ts";
import { columnKey } from "./import-names.ts";

export type ReadPhone = { kind: "kept" | "converted"; phone: string } | { kind: "unreadable" };

/** What a spreadsheet makes of a long number: its last digits are lost. */
const EXPONENT = /\d[.,]?\d*e[+-]?\d/i;
const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"];
const FIRST = "A".charCodeAt(0);
const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(FIRST + i));

let names: Map<string, string> | undefined;

/** A region of ISO 3166 by its code, or by its name in one of the languages of the service. */
export function regionOf(country: string | undefined): string | undefined {
  const text = country?.trim() ?? "";
  const code = text.toUpperCase();
  if (/^[A-Z]{2}$/.test(code)) return isSupportedCountry(code) ? code : undefined;
  names ??= namesOfRegions();
  return names.get(columnKey(text));
}

function namesOfRegions(): Map<string, string> {
  const found = new Map([["usa", "US"]]);
  const codes = LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter((code) => isSupportedCountry(code));
  for (const language of LANGUAGES) {
    const display = new Intl.DisplayNames(language, { type: "region" });
    for (const code of codes) found.set(columnKey(display.of(code) ?? code), code);
  }
  return found;
}

/**
 * Reads a number. One in E.164 form is kept, whatever the metadata say of it.
 * @param region where a number without a country code is from
 * @param isPlusless the column holds international numbers without their plus
 */
export function readPhone(text: string, region: string | undefined, isPlusless = false): ReadPhone {
  if (EXPONENT.test(text)) return { kind: "unreadable" };
  // `+49 (0)151` has the digit of calls within a country beside its code.
  const bare = text.replace(/^'/, "");
  const clear = bare.replace(/^(\s*(?:\+|00)[\d\s]+)\(0\)/, "$1");
  const compact = compactPhone(clear);
  const international = compact.replace(/^00/, "+");
  const written = isPlusless && /^[1-9]\d+$/.test(international) ? `+${international}` : international;
  if (isPhoneNumber(written)) return { kind: written === compactPhone(bare) ? "kept" : "converted", phone: written };
  const country = region !== undefined && isSupportedCountry(region) ? region : undefined;
  const parsed = parsePhoneNumberFromString(clear, {
    extract: false,
    ...(country && { defaultCountry: country as CountryCode }),
  });
  if (!parsed?.isValid() || !isPhoneNumber(parsed.number)) return { kind: "unreadable" };
  return { kind: "converted", phone: parsed.number };
}
