// Reads the phone numbers of files (AMB-133, docs/decisions/0142).
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from "libphonenumber-js/min";
import { parsePhoneNumberFromString as parseMobile } from "libphonenumber-js/mobile";
import { isPhoneNumber } from "./contacts.ts";
import { compactPhone, INVISIBLE } from "./import-addresses.ts";
import type { PluslessNumbers } from "./import-names.ts";

/** `isDoubtful`: without its country code, it may be a number of two countries. */
type ReadPhone = { kind: "kept" | "converted"; phone: string } | { kind: "unreadable"; isDoubtful?: true };
const UNREADABLE: ReadPhone = { kind: "unreadable" };
const DOUBTFUL: ReadPhone = { kind: "unreadable", isDoubtful: true };

/** How the numbers of a cell are read. */
export interface PhoneForm {
  /** The region of a number without a country code. */
  region?: string | undefined;
  /** The row or the caller names the region: it is not only the workspace's. */
  isRegionSaid?: boolean | undefined;
  /** Which numbers of the column are international ones without their plus. */
  lacksPlus?: PluslessNumbers | undefined;
}

/** The exponent form of a long number in a spreadsheet: its last digits are lost. */
const EXPONENT = /\d[.,]?e[+-]?\d/i;
/** Such a number with all of its digits: `4.91511234567E+11`. */
const WHOLE_EXPONENT = /^(\d)[.,](\d+)e\+?(\d{1,2})$/i;

/** The text of a number, without what cannot be seen or a spreadsheet made of it. */
function writtenOut(written: string): string {
  const text = written.normalize("NFKC").replaceAll(INVISIBLE, "");
  const [whole = text, first = "", others = "", exponent] = WHOLE_EXPONENT.exec(text.trim()) ?? [];
  return others.length === Number(exponent) ? `${first}${others}` : whole;
}

/** The most numbers of one cell: a longer list is not a person's. */
const MAX_NUMBERS = 100;
/** More digits than national numbers have in most countries. */
const MIN_ABROAD = 11;

/**
 * Reads a number, or the first of several in one cell. A number in E.164 form is kept, whatever the metadata say. A
 * number that may be of two countries is not read: its consent could apply to another person.
 */
export function readPhone(written: string, form: PhoneForm): ReadPhone {
  const text = writtenOut(written);
  if (EXPONENT.test(text)) return UNREADABLE;
  const whole = readNumber(text, form);
  if (whole.kind !== "unreadable") return whole;
  for (const part of partsOf(text)) {
    const read = readNumber(part, form);
    if (read.kind !== "unreadable") return { ...read, kind: "converted" };
  }
  return whole;
}

/** Every number of a cell, in E.164 form: the refusals of a row apply to all of them. */
export function numbersIn(written: string, form: PhoneForm): string[] {
  const text = writtenOut(written);
  const phonesOf = (text: string) => {
    const read = EXPONENT.test(text) ? UNREADABLE : readNumber(text, form);
    return read.kind === "unreadable" ? [] : [read.phone];
  };
  const whole = phonesOf(text);
  return whole.length > 0 ? whole : [...new Set(partsOf(text).flatMap(phonesOf))];
}

/** The number of last digits that every form of a number shares. */
const SAME_DIGITS = 6;

/**
 * Whether a number in E.164 form is in a cell, in international or national form, even if the cell may mean another
 * one.
 */
export function hasPhone(written: string, number: string): boolean {
  if (!isPhoneNumber(number) || !written.replaceAll(/\D/g, "").includes(number.slice(-SAME_DIGITS))) return false;
  const country = parsePhoneNumberFromString(number)?.country;
  return [written, ...written.split(BETWEEN_NUMBERS)].some((part) => {
    const read = readPhone(part, { region: country });
    if (read.kind !== "unreadable") return read.phone === number;
    const digits = compactPhone(part);
    return `+${digits}` === number || (country !== undefined && validNumber(digits, country)?.number === number);
  });
}

/** `0151/1234567` is one number, `0151 1234567 / 030 123456` are two. */
const BETWEEN_NUMBERS = /[;,|\n]|:::|\s\/\s|\s(?:or|oder|ou|o|lub|of|and|und)\s/i;
/** Words before and after a number: `p:+49…`, `+49… (mobile)`. */
const REMARK = /^\s*\p{L}[\p{L}\s.-]*:\s*|\([^\d()]*\)/gu;
/** `+49 (0)151` has the national prefix after its country code. */
const DIGIT_WITHIN = /^(\s*\(?\s*(?:\+|00)[\d\s.()/-]*?)\(0\)/;
/** The suffix of WhatsApp after a number. */
const OF_CHATS = /(?<=^\d{7,15})@(?:c\.us|s\.whatsapp\.net)$/;

const partsOf = (text: string): string[] =>
  text
    .split(BETWEEN_NUMBERS)
    .filter((part) => /\p{Nd}/u.test(part))
    .slice(0, MAX_NUMBERS)
    .map((part) => part.replaceAll(REMARK, "").trim());

function readNumber(text: string, form: PhoneForm): ReadPhone {
  // A data frame writes a column of numbers with a decimal.
  const bare = text
    .replace(/^=?(?:'|tel[.:]?(?=[\s+\d]))?\s*/i, "")
    .replace(/^(\+?\d{7,15})[.,]0+$/, "$1")
    .replace(OF_CHATS, "");
  const clear = bare.replace(DIGIT_WITHIN, "$1").replace(/^\++(?:00)?(?=\d)/, "+");
  const international = compactPhone(clear).replace(/^00/, "+");
  if (isPhoneNumber(international))
    return { kind: international === compactPhone(bare) ? "kept" : "converted", phone: international };
  const country = countryOf(form.region);
  if (PLUSLESS.test(international)) {
    const read = readPlusless(international, country, { ...form, isNorthAmerican: NORTH_AMERICAN.test(bare.trim()) });
    if (read.kind === "none") return UNREADABLE;
    return read.kind === "doubtful" ? DOUBTFUL : { kind: "converted", phone: read.phone };
  }
  const within = validNumber(clear, country);
  return within ? { kind: "converted", phone: within.number } : UNREADABLE;
}

const countryOf = (region: string | undefined): CountryCode | undefined =>
  region !== undefined && isSupportedCountry(region) ? region : undefined;

function validNumber(text: string, country?: CountryCode): PhoneNumber | undefined {
  const parsed = parsePhoneNumberFromString(text, {
    extract: false,
    ...(country && { defaultCountry: country }),
  });
  return parsed?.isValid() && isPhoneNumber(parsed.number) ? parsed : undefined;
}

const isMobile = ({ number }: PhoneNumber): boolean => parseMobile(number)?.isValid() === true;

/** Digits that begin neither with a plus nor with the national prefix 0. */
const PLUSLESS = /^[1-9]\d{5,14}$/;
/** The North American form of numbers. */
const NORTH_AMERICAN = /^\(\d{3}\) ?\d{3}-\d{4}$|^\d{3}([-.])\d{3}\1\d{4}$/;

/** `isClear`: there is no other reading. */
type Plusless = { kind: "abroad" | "within"; phone: string; isClear?: true } | { kind: "doubtful" } | { kind: "none" };

/**
 * Reads digits without a plus: an international number that lacks it, or a national one. In a country with the prefix
 * 0, a number without it is a guess as well: a spreadsheet may have dropped the 0.
 */
function readPlusless(
  digits: string,
  country: CountryCode | undefined,
  {
    lacksPlus = "none",
    isRegionSaid = false,
    isNorthAmerican = false,
  }: Omit<PhoneForm, "region"> & { isNorthAmerican?: boolean },
): Plusless {
  const isLong = digits.length >= MIN_ABROAD;
  const mayBeAbroad = parsePhoneNumberFromString(`+${digits}`)?.isPossible() === true && isPhoneNumber(`+${digits}`);
  if (lacksPlus === "all") return mayBeAbroad ? { kind: "abroad", phone: `+${digits}` } : { kind: "none" };
  const isAbroad = lacksPlus === "most" || (lacksPlus === "long" && isLong);
  const abroad = validNumber(`+${digits}`);
  const within = country && validNumber(digits, country);
  if (!within || !country) {
    if (abroad && (isLong || isAbroad)) return { kind: "abroad", phone: abroad.number, isClear: true };
    return isAbroad && mayBeAbroad ? { kind: "abroad", phone: `+${digits}` } : { kind: "none" };
  }
  if (within.number === `+${digits}`) return { kind: "abroad", phone: within.number };

  const formatted = within.formatNational();
  // A number of a country without a format of its own stays as it is.
  const isWhole = formatted !== digits && formatted.replaceAll(/\D/g, "") === digits;
  if (isNorthAmerican && !isWhole) return { kind: "doubtful" };
  const inside = { kind: "within", phone: within.number } as const;
  if (!abroad) {
    const isDoubtful = !isWhole && (lacksPlus === "most" || (isLong && mayBeAbroad && !isMobile(within)));
    return isDoubtful ? { kind: "doubtful" } : { ...inside, isClear: true };
  }
  const outside = { kind: "abroad", phone: abroad.number } as const;
  const isOwn = isLong && digits.startsWith(getCountryCallingCode(country));
  if (isOwn && !isWhole) return outside;
  const [isMobileAbroad, isMobileWithin] = [isMobile(abroad), isMobile(within)];
  if (isAbroad && (isMobileAbroad || !isMobileWithin)) return outside;
  const isMobileOnce = isLong && isMobileAbroad !== isMobileWithin;
  if (isWhole) return { ...inside, ...(isMobileOnce && isMobileWithin && { isClear: true }) };
  if (isAbroad) return { kind: "doubtful" };
  if (isMobileOnce) return { ...(isMobileAbroad ? outside : inside), isClear: true };
  if (lacksPlus === "within") return inside;
  if (isMobileWithin && (isRegionSaid || !isLong)) return inside;
  return isLong || isMobileAbroad ? { kind: "doubtful" } : inside;
}

/** Which of the two a number without a plus must be: evidence for the others in its column. */
export function shownBy(written: string, region: string | undefined): "abroad" | "within" | undefined {
  const digits = compactPhone(written.replace(/^'/, "").replace(/^(\d{7,15})[.,]0+$/, "$1"));
  if (!PLUSLESS.test(digits)) return undefined;
  const read = readPlusless(digits, countryOf(region), {});
  return (read.kind === "abroad" || read.kind === "within") && read.isClear ? read.kind : undefined;
}
