// References of a journey's condition to the event that started the run (D-JNY-RUN).
import { isJsonObject } from "../kernel/objects.ts";
import { valueAt } from "./predicates.ts";

const REFERENCE = /^\s*\{\{\s*trigger\.([^{}]+)\}\}\s*$/;
const REFERENCES = /\{\{\s*trigger\.([^{}]+)\}\}/g;
/** No property can have this value: a reference to a property that the trigger lacks matches nothing. */
const NO_VALUE = "\u0000";

/** A condition with `{{trigger.name}}` replaced by that property of the event that started the run (D-JNY-RUN). */
export function withTriggerValues<T>(condition: T, properties: Readonly<Record<string, unknown>>): T {
  const propertyOf = (name: string): string | number | boolean => {
    const value = valueAt(properties, name.trimEnd());
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : NO_VALUE;
  };
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string") {
      const whole = REFERENCE.exec(value)?.[1];
      return whole === undefined
        ? value.replaceAll(REFERENCES, (_, name: string) => String(propertyOf(name)))
        : propertyOf(whole);
    }
    if (Array.isArray(value)) return value.map(replaced);
    if (isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replaced(member)]));
    return value;
  };
  return replaced(condition) as T;
}
