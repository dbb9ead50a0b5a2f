// DynamoDB's numbers: exact decimals of 38 significant digits between 1E-130 and 9.99…E+125.
import { reworded, validation } from "./errors.ts";

const MAX_DIGITS = 38;
const MAX_EXPONENT = 125;
const MIN_EXPONENT = -130;

/** 0.DIGITS × 10^point: digits without leading or trailing zeros, empty for zero. */
interface Decimal {
  negative: boolean;
  digits: string;
  point: number;
}

const OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range";

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const SHORT = /^(?:0|-?[1-9]\d{0,14})$/;
const ZERO: Decimal = { negative: false, digits: "", point: 0 };

function parse(text: string): Decimal | undefined {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const all = whole + fraction;
  const leading = /^0*/.exec(all)![0].length;
  const digits = all.slice(leading).replace(/0+$/, "");
  if (digits === "") return ZERO;
  return { negative: sign === "-", digits, point: whole.length - leading + Number(exponent) };
}

function checkRange({ digits, point }: Decimal): void {
  if (digits === "") return;
  if (point - 1 > MAX_EXPONENT) throw validation(OVERFLOW);
  if (point - 1 < MIN_EXPONENT)
    throw validation("Number underflow. Attempting to store a number with magnitude smaller than supported range");
  if (digits.length > MAX_DIGITS) throw validation("Attempting to store more than 38 significant digits in a Number");
}

function format({ negative, digits, point }: Decimal): string {
  if (digits === "") return "0";
  const sign = negative ? "-" : "";
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The normalized form in which a number is stored and returned. @throws what DynamoDB throws. */
export function normalizeNumber(text: string): string {
  if (SHORT.test(text)) return text;
  const decimal = parse(text);
  if (!decimal)
    throw reworded(
      `The parameter cannot be converted to a numeric value: ${text}`,
      `The parameter cannot be converted to a numeric value${text === "" ? "" : `: ${text}`}`,
    );
  checkRange(decimal);
  return format(decimal);
}

/** Bytes a (normalised) number takes in an item. */
export function numberSize(text: string): number {
  const { negative, digits, point } = parse(text) ?? ZERO;
  const whole = Math.min(Math.max(point, 0), digits.length);
  return Math.ceil(whole / 2) + Math.ceil((digits.length - whole) / 2) + 1 + (negative ? 1 : 0);
}

/** The exact sum (or difference) of two normalised numbers. */
export function addNumbers(left: string, right: string, sign: 1 | -1 = 1): string {
  if (SHORT.test(left) && SHORT.test(right)) return String(Number(left) + sign * Number(right));
  const a = parse(left) ?? ZERO;
  const b = parse(right) ?? ZERO;
  const unit = Math.min(a.point - a.digits.length, b.point - b.digits.length);
  const sum = scaled(a, unit) + BigInt(sign) * scaled(b, unit);
  const decimal = parse(`${sum}e${unit}`) ?? ZERO;
  // The service has no other message for a sum with too many digits.
  if (decimal.digits.length > MAX_DIGITS) throw validation(OVERFLOW);
  checkRange(decimal);
  return format(decimal);
}

const scaled = ({ negative, digits, point }: Decimal, unit: number): bigint => {
  const magnitude = BigInt(digits || "0") * 10n ** BigInt(Math.max(0, point - digits.length - unit));
  return negative ? -magnitude : magnitude;
};

/** Negative, zero or positive as `left` is below, equal to or above `right`; both normalised. */
export function compareNumbers(left: string, right: string): number {
  if (left === right) return 0;
  if (SHORT.test(left) && SHORT.test(right)) return Number(left) - Number(right);
  return sortableNumber(left) < sortableNumber(right) ? -1 : 1;
}

/** Text whose byte order is the numeric order. */
export function sortableNumber(text: string): string {
  const { negative, digits, point } = parse(text) ?? ZERO;
  if (digits === "") return "1";
  if (!negative) return `2${String(point + 200).padStart(3, "0")}${digits}`;
  const mirrored = Array.from(digits, (digit) => 9 - Number(digit)).join("");
  return `0${String(799 - point).padStart(3, "0")}${mirrored}:`;
}
