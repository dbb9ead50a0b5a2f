// Reads the phone numbers of files (AMB-133).
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from "libphonenumber-js/min";
import { isPhoneNumber } from "./contacts.ts";
import { compactPhone } from "./import-columns.ts";
import { columnKey } from "./import-names.ts";

/** Signs that nobody sees. */
export const INVISIBLE = /\p{Cf}/gu;

type ReadPhone = { kind: "kept" | "converted"; phone: string } | { kind: "unreadable" };

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
  if (isSupportedCountry(code)) return code;
  names ??= namesOfRegions();
  return names.get(columnKey(text));
}

function namesOfRegions(): Map<string, string> {
  const found = new Map([
    ["usa", "US"],
    ["uk", "GB"],
    ["england", "GB"],
    ["scotland", "GB"],
    ["greatbritain", "GB"],
    ["holland", "NL"],
    ["uae", "AE"],
  ]);
  const codes = LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter((code) => isSupportedCountry(code));
  for (const language of LANGUAGES) {
    const display = new Intl.DisplayNames(language, { type: "region" });
    for (const code of codes) found.set(columnKey(display.of(code) ?? code), code);
  }
  return found;
}

/** More digits than a number within its country has in most of them. */
const MIN_ABROAD = 11;

/** Whether digits are a number with the code of its own country, but without the plus: `491511234567` in Germany. */
const beginsAsAbroad = (digits: string, country: CountryCode): boolean =>
  /^\d+$/.test(digits) &&
  digits.length >= MIN_ABROAD &&
  digits.startsWith(getCountryCallingCode(country)) &&
  parsePhoneNumberFromString(`+${digits}`)?.isValid() === true;

/**
 * Reads a number, or the first of several in one cell. One in E.164 form is kept, whatever the metadata say of it.
 * @param region where a number without a country code is from
 * @param isPlusless the column holds international numbers without their plus
 */
export function readPhone(written: string, region: string | undefined, isPlusless = false): ReadPhone {
  const text = written.normalize("NFKC").replaceAll(INVISIBLE, "");
  if (EXPONENT.test(text)) return { kind: "unreadable" };
  const country = region !== undefined && isSupportedCountry(region) ? region : undefined;
  const whole = readNumber(text, country, isPlusless);
  if (whole.kind !== "unreadable") return whole;
  for (const part of text.split(BETWEEN_NUMBERS)) {
    const read = readNumber(part.replaceAll(REMARK, "").trim(), country, isPlusless);
    if (read.kind !== "unreadable") return { ...read, kind: "converted" };
  }
  return whole;
}

/** `0151/1234567` is one number, `0151 1234567 / 030 123456` are two. */
const BETWEEN_NUMBERS = /[;,|\n]|\s\/\s|\s(?:or|oder|ou|o|lub|of|and|und)\s/i;
/** Words before and behind a number: `p:+49…`, `+49… (mobile)`. */
const REMARK = /^\s*\p{L}[\p{L}\s.-]*:\s*|\([^\d()]*\)/gu;
/** `+49 (0)151` has the digit of calls within a country beside its code. */
const DIGIT_WITHIN = /^(\s*\(?\s*(?:\+|00)[\d\s.()/-]*?)\(0\)/;

function readNumber(text: string, country: CountryCode | undefined, isPlusless: boolean): ReadPhone {
  // A data frame writes a column of numbers with a decimal.
  const bare = text.replace(/^(?:'|tel:)/i, "").replace(/^(\+?\d{7,15})\.0+$/, "$1");
  const clear = bare.replace(DIGIT_WITHIN, "$1");
  const compact = compactPhone(clear);
  const international = compact.replace(/^00/, "+");
  const lacksPlus = isPlusless ? /^[1-9]\d+$/.test(international) : country && beginsAsAbroad(international, country);
  const written = lacksPlus ? `+${international}` : international;
  if (isPhoneNumber(written)) return { kind: written === compactPhone(bare) ? "kept" : "converted", phone: written };
  const parsed = parsePhoneNumberFromString(clear, {
    extract: false,
    ...(country && { defaultCountry: country }),
  });
  if (!parsed?.isValid() || !isPhoneNumber(parsed.number)) return { kind: "unreadable" };
  return { kind: "converted", phone: parsed.number };
}
