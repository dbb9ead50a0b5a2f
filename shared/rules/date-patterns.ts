// strftime patterns for templates. Those of the library use the time zone of the machine and are a hundred times slower.
import { DAY, MINUTE } from "../kernel/clock.ts";
import { elementAt } from "./element-at.ts";
import { zoneOffsetMinutes } from "./time-zones.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const DIRECTIVE = /%([-_0^]?)([A-Za-z%])/g;
const COMPOSED: Record<string, string> = { F: "%Y-%m-%d", T: "%H:%M:%S", R: "%H:%M", D: "%m/%d/%y" };

interface Moment {
  at: number;
  /** Wall clock of the zone, read through the UTC getters. */
  wall: Date;
  zone: string;
  offset: number;
}

/** The value of a directive, and the width to which it is padded with zeros (negative: with spaces). */
type Directive = [value: (moment: Moment) => string | number, width?: number];

const twelve = ({ wall }: Moment): number => wall.getUTCHours() % 12 || 12;

const DIRECTIVES: Record<string, Directive> = {
  a: [({ wall }) => elementAt(DAYS, wall.getUTCDay()).slice(0, 3)],
  A: [({ wall }) => elementAt(DAYS, wall.getUTCDay())],
  b: [({ wall }) => elementAt(MONTHS, wall.getUTCMonth()).slice(0, 3)],
  B: [({ wall }) => elementAt(MONTHS, wall.getUTCMonth())],
  d: [({ wall }) => wall.getUTCDate(), 2],
  e: [({ wall }) => wall.getUTCDate(), -2],
  H: [({ wall }) => wall.getUTCHours(), 2],
  I: [twelve, 2],
  j: [({ wall }) => Math.floor((wall.getTime() - Date.UTC(wall.getUTCFullYear(), 0, 1)) / DAY) + 1, 3],
  k: [({ wall }) => wall.getUTCHours(), -2],
  l: [twelve, -2],
  L: [({ wall }) => wall.getUTCMilliseconds(), 3],
  m: [({ wall }) => wall.getUTCMonth() + 1, 2],
  M: [({ wall }) => wall.getUTCMinutes(), 2],
  p: [({ wall }) => (wall.getUTCHours() < 12 ? "AM" : "PM")],
  P: [({ wall }) => (wall.getUTCHours() < 12 ? "am" : "pm")],
  s: [({ at }) => Math.floor(at / 1_000)],
  S: [({ wall }) => wall.getUTCSeconds(), 2],
  u: [({ wall }) => wall.getUTCDay() || 7],
  w: [({ wall }) => wall.getUTCDay()],
  y: [({ wall }) => wall.getUTCFullYear() % 100, 2],
  Y: [({ wall }) => wall.getUTCFullYear(), 4],
  z: [({ offset }) => (offset < 0 ? "-" : "+") + hoursAndMinutes(Math.abs(offset))],
  Z: [({ zone }) => zone],
};

/**
 * Formats an instant (milliseconds, years 0000 to 9999) by a strftime pattern in an IANA zone, in English. The flag `-`
 * removes the padding, `_` pads with spaces, `0` with zeros, `^` writes capitals. Unknown directives are kept.
 */
export function formatDate(at: number, pattern: string, zone: string): string {
  const offset = zone === "UTC" ? 0 : zoneOffsetMinutes(zone, at);
  const moment: Moment = { at, offset, zone, wall: new Date(at + offset * MINUTE) };
  return pattern
    .replace(/%([FTRD])/g, (text, name: string) => COMPOSED[name] ?? text)
    .replace(DIRECTIVE, (text, flag: string, name: string) => (name === "%" ? "%" : written(moment, text, flag, name)));
}

function written(moment: Moment, text: string, flag: string, name: string): string {
  const directive = Object.hasOwn(DIRECTIVES, name) ? DIRECTIVES[name] : undefined;
  if (!directive) return text;
  const [value, width = 0] = directive;
  const plain = String(value(moment));
  if (flag === "^") return plain.toUpperCase();
  if (flag === "-") return plain;
  const isSpaced = flag === "_" || (flag === "" && width < 0);
  return plain.padStart(Math.abs(width), isSpaced ? " " : "0");
}

const hoursAndMinutes = (minutes: number): string =>
  String(Math.floor(minutes / 60)).padStart(2, "0") + String(minutes % 60).padStart(2, "0");
