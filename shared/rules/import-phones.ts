// Reads the phone numbers of files (AMB-133).
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from "libphonenumber-js/min";
import { isPhoneNumber } from "./contacts.ts";
import { compactPhone, INVISIBLE } from "./import-addresses.ts";
import type { PluslessNumbers } from "./import-names.ts";

type ReadPhone = { kind: "kept" | "converted"; phone: string } | { kind: "unreadable" };

/** What a spreadsheet makes of a long number: its last digits are lost. */
const EXPONENT = /\d[.,]?e[+-]?\d/i;
/** Of one cell: what has more is no list of the numbers of a person. */
const MAX_NUMBERS = 100;
/** More digits than a number within its country has in most of them. */
const MIN_ABROAD = 11;

/**
 * Whether digits are an international number without its plus: `491511234567` in Germany, `14155550123` where no number
 * within the country is so long.
 */
function beginsAsAbroad(digits: string, country: CountryCode | undefined, lacksPlus: PluslessNumbers): boolean {
  if (lacksPlus === "all") return /^[1-9]\d+$/.test(digits);
  if (!/^[1-9]\d+$/.test(digits) || digits.length < MIN_ABROAD) return false;
  if (parsePhoneNumberFromString(`+${digits}`)?.isValid() !== true) return false;
  if (lacksPlus === "long" || country === undefined) return true;
  const isOwn = digits.startsWith(getCountryCallingCode(country));
  return isOwn || parsePhoneNumberFromString(digits, country)?.isValid() !== true;
}

/**
 * Reads a number, or the first of several in one cell. One in E.164 form is kept, whatever the metadata say of it.
 * @param region where a number without a country code is from
 * @param lacksPlus which numbers of the column are international ones without their plus
 */
export function readPhone(written: string, region: string | undefined, lacksPlus: PluslessNumbers = "none"): ReadPhone {
  const text = written.normalize("NFKC").replaceAll(INVISIBLE, "");
  if (EXPONENT.test(text)) return { kind: "unreadable" };
  const country = region !== undefined && isSupportedCountry(region) ? region : undefined;
  const whole = readNumber(text, country, lacksPlus);
  if (whole.kind !== "unreadable") return whole;
  const parts = text.split(BETWEEN_NUMBERS).filter((part) => /\p{Nd}/u.test(part));
  for (const part of parts.slice(0, MAX_NUMBERS)) {
    const read = readNumber(part.replaceAll(REMARK, "").trim(), country, lacksPlus);
    if (read.kind !== "unreadable") return { ...read, kind: "converted" };
  }
  return whole;
}

/** So many last digits of a number are the same, however it is written. */
const SAME_DIGITS = 6;

/** Whether a number in E.164 form is in a cell, as people write it abroad or within its country. */
export function hasPhone(written: string, number: string): boolean {
  if (!isPhoneNumber(number) || !written.replaceAll(/\D/g, "").includes(number.slice(-SAME_DIGITS))) return false;
  const country = parsePhoneNumberFromString(number)?.country;
  return [written, ...written.split(BETWEEN_NUMBERS)].some((part) => {
    const read = readPhone(part, country);
    return read.kind !== "unreadable" && read.phone === number;
  });
}

/** `0151/1234567` is one number, `0151 1234567 / 030 123456` are two. */
const BETWEEN_NUMBERS = /[;,|\n]|:::|\s\/\s|\s(?:or|oder|ou|o|lub|of|and|und)\s/i;
/** Words before and behind a number: `p:+49…`, `+49… (mobile)`. */
const REMARK = /^\s*\p{L}[\p{L}\s.-]*:\s*|\([^\d()]*\)/gu;
/** `+49 (0)151` has the digit of calls within a country beside its code. */
const DIGIT_WITHIN = /^(\s*\(?\s*(?:\+|00)[\d\s.()/-]*?)\(0\)/;

function readNumber(text: string, country: CountryCode | undefined, lacksPlus: PluslessNumbers): ReadPhone {
  // A data frame writes a column of numbers with a decimal.
  const bare = text.replace(/^=?(?:'|tel[.:]?(?=[\s+\d]))?\s*/i, "").replace(/^(\+?\d{7,15})\.0+$/, "$1");
  const clear = bare.replace(DIGIT_WITHIN, "$1").replace(/^\++(?:00)?(?=\d)/, "+");
  const compact = compactPhone(clear);
  const international = compact.replace(/^00/, "+");
  const written = beginsAsAbroad(international, country, lacksPlus) ? `+${international}` : international;
  if (isPhoneNumber(written)) return { kind: written === compactPhone(bare) ? "kept" : "converted", phone: written };
  const parsed = parsePhoneNumberFromString(clear, {
    extract: false,
    ...(country && { defaultCountry: country }),
  });
  if (!parsed?.isValid() || !isPhoneNumber(parsed.number)) return { kind: "unreadable" };
  return { kind: "converted", phone: parsed.number };
}
