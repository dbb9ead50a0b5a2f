// Untyped JSON values that the command line reads and passes on.

/** A resource as the API returns it, or a body that it checks. */
export type Resource = Record<string, unknown>;

export const isObject = (value: unknown): value is Resource =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object, or an empty one in place of anything else. */
export const objectIn = (value: unknown): Resource => (isObject(value) ? value : {});

/** The objects of a list; none of anything else. */
export const objectsIn = (list: unknown): Resource[] => (Array.isArray(list) ? list.filter(isObject) : []);

/** A text parsed as JSON; undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
