// Fields of what the workspace knows already: known values are offered while one is typed, and another may be typed.
import { useQuery } from "../app/query.ts";
import { TextField, type TextProps } from "./field.tsx";

/** Events that were received. */
export const useEventNames = (): readonly string[] => useQuery("segments.listEventNames", []).data?.names ?? [];

/** Attributes that subscribers have. */
export const useAttributeKeys = (): readonly string[] => useQuery("segments.listAttributeKeys", []).data?.keys ?? [];

/** People whose attributes are looked at, and values that are offered. */
const LOOKED_AT = 100;
const MAX_OFFERED = 20;

/** What an attribute of an object or of the whole has: `address.city`. */
function attributeAt(attributes: unknown, key: string): unknown {
  if (typeof attributes !== "object" || attributes === null) return undefined;
  if (Object.hasOwn(attributes, key)) return (attributes as Record<string, unknown>)[key];
  const [first = "", ...rest] = key.split(".");
  const within = (attributes as Record<string, unknown>)[first];
  return rest.length > 0 ? attributeAt(within, rest.join(".")) : undefined;
}

/** Values that an attribute has among the latest people, the most frequent first. @param when false: they are not read yet */
export function useAttributeValues(key: string, when: boolean): readonly unknown[] {
  const people = useQuery("subscribers.list", [{ limit: LOOKED_AT }], { when: when && key !== "" }).data?.items ?? [];
  const counts = new Map<unknown, number>();
  for (const { attributes } of people)
    for (const value of [attributeAt(JSON.parse(attributes), key)].flat())
      if (["string", "number", "boolean"].includes(typeof value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.keys()].toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)).slice(0, MAX_OFFERED);
}

export const EventField = (props: Omit<TextProps, "known">) => <TextField {...props} known={useEventNames()} />;
