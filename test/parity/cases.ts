// A request with what two engines answered, and changes to the answers alone.
import type { Wire } from "../../local/aws/index.ts";
import type { Outcome } from "./answers.ts";
import type { Request } from "./requests.ts";

export interface Case {
  request: Request;
  ours: Outcome;
  theirs: Outcome;
}

export const isObject = (value: unknown): value is Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A copy of a JSON value with every object in it changed, the innermost first. */
function mapped(value: unknown, change: (object: Wire) => Wire): unknown {
  if (Array.isArray(value)) return value.map((member) => mapped(member, change));
  if (!isObject(value)) return value;
  return change(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapped(member, change)])));
}

export const omit = (object: unknown, ...names: string[]): unknown =>
  isObject(object) ? Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))) : object;

export const inTheirs = (found: Case, change: (object: Wire) => Wire): Case => ({
  ...found,
  theirs: { ...found.theirs, answer: mapped(found.theirs.answer, change) },
});

export const inBoth = (found: Case, change: (answer: unknown) => unknown): Case => ({
  ...found,
  ours: { ...found.ours, answer: change(found.ours.answer) },
  theirs: { ...found.theirs, answer: change(found.theirs.answer) },
});
