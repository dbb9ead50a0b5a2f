// Reading the members of a request: each has a declared name and form, and others are rejected.
import { type AwsFailure, awsFailure, type StandIn, unknownOperation, type Wire } from "./stand-in.ts";

/** The members an operation accepts, by operation. */
type Members = ReadonlyMap<string, ReadonlySet<string>>;

export const membersOf = (table: Record<string, string>): Members =>
  new Map(Object.entries(table).map(([name, members]) => [name, new Set(members.split(" ").filter(Boolean))]));

export type Operations = Record<string, (input: Wire) => Wire | Promise<Wire>>;

/** `operate` over a table of operations and the members that each accepts. */
export function operateOn(members: Members, operations: Operations): StandIn["operate"] {
  return async (operation, input) => {
    const allowed = members.get(operation);
    const run = operations[operation];
    if (!allowed || !run) throw unknownOperation(operation);
    refuseOthers(input, allowed, operation);
    return run(input);
  };
}

export function refuseOthers(input: Wire, allowed: ReadonlySet<string>, where: string): void {
  for (const name of Object.keys(input)) {
    if (input[name] !== undefined && !allowed.has(name)) {
      throw awsFailure("UnknownParameterException", `The embedded service does not know ${name} in ${where}.`);
    }
  }
}

export const isRecord = (value: unknown): value is Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Typed readers whose failures carry the error codes of one service. */
export function readers(missing: string, invalid: string) {
  const refuse = (message: string): AwsFailure => awsFailure(invalid, message);
  const wrong = (name: string, form: string) => refuse(`The value of parameter ${name} is not ${form}.`);

  const text = (input: Wire, name: string): string | undefined => {
    const value = input[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") throw wrong(name, "a string");
    return value;
  };

  const needed = (input: Wire, name: string): string => {
    const value = text(input, name);
    if (!value) throw awsFailure(missing, `The request must contain the parameter ${name}.`);
    return value;
  };

  const integer = (input: Wire, name: string, min: number, max: number): number | undefined => {
    const value = input[name];
    if (value === undefined || value === null) return undefined;
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
      throw refuse(`Value ${value} for parameter ${name} is invalid. Reason: Must be between ${min} and ${max}.`);
    }
    return Number(value);
  };

  const record = (input: Wire, name: string): Wire | undefined => {
    const value = input[name];
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) throw wrong(name, "a structure");
    return value;
  };

  const list = (input: Wire, name: string): unknown[] => {
    const value = input[name] ?? [];
    if (!Array.isArray(value)) throw wrong(name, "a list");
    return value;
  };

  const texts = (input: Wire, name: string): string[] =>
    list(input, name).map((item) => {
      if (typeof item !== "string") throw wrong(name, "a list of strings");
      return item;
    });

  const records = (input: Wire, name: string): Wire[] =>
    list(input, name).map((item) => {
      if (!isRecord(item)) throw wrong(name, "a list of structures");
      return item;
    });

  const textMap = (input: Wire, name: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(record(input, name) ?? {}).map(([key, value]) => {
        if (typeof value !== "string") throw wrong(name, "a map of strings");
        return [key, value];
      }),
    );

  /** A member that is one of a few words. */
  const word = <Word extends string>(input: Wire, name: string, words: readonly Word[]): Word | undefined => {
    const value = text(input, name);
    if (value === undefined) return undefined;
    const found = words.find((one) => one === value);
    if (!found) throw refuse(`Value '${value}' at '${name}' failed to satisfy: one of [${words.join(", ")}]`);
    return found;
  };

  return { refuse, text, needed, integer, record, list, texts, records, textMap, word };
}
