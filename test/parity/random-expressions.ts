// Random expressions of every form, with the names and values they use.
import type { Random } from "../simulator/random.ts";
import { type Item, numbers, type Value, value, words } from "./random-values.ts";

interface Expressions {
  condition(): string;
  projection(): string;
  update(): string;
  path(): string;
  use(value: Value): string;
  /** Everything used so far, as members of a request. */
  members(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Item };
}

const ATTRIBUTES = ["a", "b", "m", "l", "s", "g", "n", "h", "m", "l", "gone"];
const TARGETS = ["a", "b", "c", "m", "l", "s", "count", "fresh"];
const COMPARATORS = ["=", "<>", "<", "<=", ">", ">="];
const TYPES = ["S", "N", "B", "SS", "NS", "BS", "L", "M", "NULL", "BOOL"];
/** What an expression is turned into when it should be refused. */
const SPOILERS: ((text: string, random: Random) => string)[] = [
  (text) => text.slice(0, -1),
  (text) => `${text} )`,
  (text) => `(${text}`,
  (text) => `((${text}))`,
  (text) => text.replace(" AND ", " AND AND "),
  (text) => text.replace(/:v\d+/, ":nobody"),
  (text) => text.replace(/#n\d+/, "#nobody"),
  (text) => text.replace(/\b[abmls]\b/, "size"),
  (text) => text.replace(/\b[abmls]\b/, "status"),
  (text) => text.replace(/attribute_exists|contains|begins_with/, "nonsense"),
  (text) => text.replace(/\(/, "(a, "),
  (text) => `${text} ${text}`,
  (text, random) => text + random.pick([",", " SET a = b", " REMOVE a", "!", " = a", " AND", "."]),
  () => "",
  (text) => text.replace(/ = /, " == "),
];

export function expressions(random: Random, keys: string[]): Expressions {
  const names: Record<string, string> = {};
  const values: Item = {};
  const counts = { names: 0, values: 0 };

  const name = (wanted?: string): string => {
    const chosen = wanted ?? (random.chance(0.04) ? random.pick(keys) : random.pick(ATTRIBUTES));
    if (random.chance(0.7)) return chosen;
    const cached = Object.keys(names).find((ref) => names[ref] === chosen);
    const ref = cached ?? `#n${counts.names++}`;
    names[ref] = chosen;
    return ref;
  };
  const path = (wanted?: string): string => {
    let made = name(wanted);
    if (random.chance(wanted === undefined || "ml".includes(wanted) ? 0.35 : 0.06))
      for (let depth = random.between(1, 2); depth > 0; depth--)
        made += random.chance(0.5) ? `.${random.pick(["a", "b", "c"])}` : `[${random.between(0, 3)}]`;
    return made;
  };
  const use = (held: Value): string => {
    const ref = `:v${counts.values++}`;
    values[ref] = held;
    return ref;
  };
  const scalar = (): Value => (random.chance(0.5) ? { S: words(random) } : { N: numbers(random) });
  const size = (): string => `size(${path()})`;
  const operand = (): string => {
    const roll = random.next();
    if (roll < 0.55) return use(random.chance(0.7) ? scalar() : value(random));
    return roll < 0.9 ? path() : size();
  };

  const bound = (): string => (random.chance(0.95) ? use({ N: String(random.between(1, 9)) }) : operand());

  const simple = (): string => {
    switch (random.between(0, 9)) {
      case 0:
      case 1:
        return `${path()} ${random.pick(COMPARATORS)} ${use(scalar())}`;
      case 2:
        return `${operand()} ${random.pick(["=", "<>", "=", "<>", ...COMPARATORS])} ${operand()}`;
      case 3:
        return `attribute_exists(${path()})`;
      case 4:
        return `attribute_not_exists(${path()})`;
      case 5:
        return `attribute_type(${path()}, ${use({ S: random.chance(0.95) ? random.pick(TYPES) : "X" })})`;
      case 6:
        return `begins_with(${path()}, ${random.chance(0.8) ? use({ S: words(random) }) : operand()})`;
      case 7:
        return `contains(${path()}, ${operand()})`;
      case 8:
        return `${path()} BETWEEN ${bound()} AND ${bound()}`;
      default:
        return `${path()} IN (${Array.from({ length: random.between(1, 3) }, operand).join(", ")})`;
    }
  };
  const condition = (depth = 0): string => {
    const roll = random.next();
    if (depth > 2 || roll < 0.55) return simple();
    if (roll < 0.7) return `${condition(depth + 1)} AND ${condition(depth + 1)}`;
    if (roll < 0.83) return `${condition(depth + 1)} OR ${condition(depth + 1)}`;
    return roll < 0.92 ? `NOT ${condition(depth + 1)}` : `(${condition(depth + 1)})`;
  };

  const settable = (): string => {
    const roll = random.next();
    if (roll < 0.4) return use(random.chance(0.6) ? scalar() : value(random));
    if (roll < 0.5) return path();
    if (roll < 0.65) return `${path()} ${random.pick(["+", "-"])} ${use({ N: numbers(random) })}`;
    if (roll < 0.72) return `${use({ N: numbers(random) })} + ${path()}`;
    if (roll < 0.84) return `if_not_exists(${path()}, ${random.chance(0.7) ? use(value(random)) : path()})`;
    if (roll < 0.88) return `if_not_exists(${path()}, ${use({ N: "0" })}) + ${use({ N: "1" })}`;
    const list = () => (random.chance(0.9) ? use({ L: [value(random, 1)] }) : use(value(random)));
    return random.chance(0.5) ? `list_append(${path()}, ${list()})` : `list_append(${list()}, ${path()})`;
  };
  /** What is not used in another action yet, but for a few: those paths then overlap. */
  let unused: string[] = [];
  const target = (): string => {
    if (unused.length === 0 || random.chance(0.02)) return path();
    return path(unused.pop());
  };
  const action: Record<string, () => string> = {
    SET: () => `${target()} = ${settable()}`,
    REMOVE: target,
    ADD: () =>
      `${target()} ${use(random.pick<Value>([{ N: numbers(random) }, { SS: ["a", "z"] }, { NS: ["1", "9"] }, { BS: ["AQ=="] }, ...(random.chance(0.1) ? [value(random)] : [])]))}`,
    DELETE: () =>
      `${target()} ${use(random.pick<Value>([{ SS: ["a", "z"] }, { NS: ["1", "9"] }, { BS: ["AA=="] }, ...(random.chance(0.1) ? [value(random)] : [])]))}`,
  };
  const update = (): string => {
    unused = random.some([...TARGETS, ...(random.chance(0.15) ? ["g", "n", "h", ...keys] : [])], 9);
    return random
      .some(Object.keys(action), random.pick([1, 1, 1, 2, 2, 3]))
      .map((section) => `${section} ${Array.from({ length: random.pick([1, 1, 2, 3]) }, action[section]!).join(", ")}`)
      .join(" ");
  };

  const spoiled = (text: string): string => (random.chance(0.05) ? random.pick(SPOILERS)(text, random) : text);
  return {
    condition: () => spoiled(condition()),
    projection: () =>
      spoiled(
        random
          .some([...ATTRIBUTES.slice(0, 8), ...keys], random.between(1, 4))
          .map((root) => (random.chance(0.95) ? path(root) : path()))
          .join(", "),
      ),
    update: () => spoiled(update()),
    path,
    use,
    members: () => ({
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  };
}
