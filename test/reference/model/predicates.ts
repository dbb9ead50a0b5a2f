// Comparisons (RUL-4, NTF-15, AMB-52, AMB-69): a map of keys to operator objects, all of them ANDed.
import { instantOf } from "./cron.ts";
import { type Body, DAY, instant, isRecord, same } from "./kit.ts";
import type { World } from "./world.ts";

const OPERATORS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists"];

/** NTF-16. */
const VERSION_KEYS = ["os_version", "sdk_version", "app_version"];

const BARE_DATE = /^\d{4}-\d\d-\d\d$/;

/** A bare date is a day in the workspace's zone (AMB-137). */
function dayOf(world: World, value: Body): [number, number] | undefined {
  if (typeof value !== "string" || !BARE_DATE.test(value)) return undefined;
  const wall = Date.parse(value);
  const { timezone } = world.settings;
  return Number.isNaN(wall) ? undefined : [instantOf(wall, timezone), instantOf(wall + DAY, timezone) - 1];
}

const WITHOUT_ZONE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?( ?UTC)?$/;

/** As databases write it: what names no zone is the clock of the workspace. */
function written(world: World, value: Body): number | undefined {
  const [text, day, minutes, seconds = ":00", isUtc] = WITHOUT_ZONE.exec(String(value)) ?? [];
  const wall = instant(`${day}T${minutes}${seconds}Z`);
  if (text === undefined || wall === undefined) return undefined;
  return isUtc ? wall : instantOf(wall, world.settings.timezone);
}

const spanOf = (world: World, value: Body): [number, number] | undefined => {
  const at = instant(value) ?? written(world, value);
  return dayOf(world, value) ?? (at === undefined ? undefined : [at, at]);
};

/** Below 0, 0 or above 0; undefined across types: no coercion (AMB-52). */
function compare(world: World, value: Body, operand: Body): number | undefined {
  const [a, b] = [spanOf(world, value), spanOf(world, operand)];
  // The value lies before, within or after the operand, or the other way round.
  if (a && b) return Number(a[0] > b[1]) - Number(a[1] < b[0]);
  // What is no time is neither before nor after one.
  if (b) return undefined;
  if (isRecord(value) && isRecord(operand)) return compareVersions(value, operand);
  if (typeof value !== typeof operand) return undefined;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  return Number(value > operand) - Number(value < operand);
}

function compareVersions(a: Body, b: Body): number {
  for (const part of ["major", "minor", "patch"]) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function equal(world: World, value: Body, operand: Body): boolean {
  const isComparable = spanOf(world, value) && spanOf(world, operand);
  if (isComparable) return compare(world, value, operand) === 0;
  if (isRecord(value) && isRecord(operand) && "major" in operand) return compareVersions(value, operand) === 0;
  return same(value, operand) || (isAddress(operand) && isAddress(value) && same(lower(value), lower(operand)));
}

const isAddress = (value: Body): boolean => typeof value === "string" && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);

const lower = (value: Body): string => String(value).toLowerCase();

/** AMB-52: of what is missing only `$ne`, `$nin` and `$exists: false` hold. */
function holds(world: World, value: Body, operator: string, operand: Body): boolean {
  if (operator === "$exists") return (value !== undefined) === operand;
  const isEqual = (other: Body) => value !== undefined && equal(world, value, other);
  if (operator === "$eq") return isEqual(operand);
  if (operator === "$ne") return !isEqual(operand);
  if (operator === "$in") return operand.some(isEqual);
  if (operator === "$nin") return !operand.some(isEqual);
  const order = value === undefined ? undefined : compare(world, value, operand);
  if (order === undefined) return false;
  return { $gt: order > 0, $gte: order >= 0, $lt: order < 0, $lte: order <= 0 }[operator] ?? false;
}

/** AMB-148: a path of at most four levels through objects, unless the literal key exists. */
export function valuesAt(_world: World, record: Record<string, Body>, key: string): Body[] {
  if (key in record) return [record[key]];
  let reached: Body[] = [record];
  for (const part of key.split(".").slice(0, 4))
    reached = reached
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .flatMap((value) => value?.[part] ?? []);
  return reached.length > 0 ? reached : [undefined];
}

export function matches(world: World, predicate: Record<string, Body>, record: Record<string, Body>): boolean {
  return Object.entries(predicate).every(([key, operators]) =>
    Object.entries(operators).every(([operator, operand]) => {
      const values = valuesAt(world, record, key);
      const isNegation = operator === "$ne" || operator === "$nin";
      const test = (value: Body) => holds(world, value, operator, operand);
      return isNegation ? values.every(test) : values.some(test);
    }),
  );
}

/** Empty operator objects and unknown operators are refused (RUL-4, AMB-69). */
export function isPredicate(value: Body): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(
    ([key, operators]) =>
      isRecord(operators) &&
      Object.keys(operators).length > 0 &&
      Object.entries(operators).every(([operator, operand]) => isOperand(key, operator, operand)),
  );
}

function isOperand(key: string, operator: string, operand: Body): boolean {
  if (!OPERATORS.includes(operator)) return false;
  if (operator === "$exists") return typeof operand === "boolean";
  if (operator === "$in" || operator === "$nin") return Array.isArray(operand);
  if (VERSION_KEYS.includes(key)) return isRecord(operand);
  return (
    !["$gt", "$gte", "$lt", "$lte"].includes(operator) || typeof operand === "number" || typeof operand === "string"
  );
}
