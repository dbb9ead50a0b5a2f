// Asks an engine and puts its answer into the one form in which answers are compared.
import { isAwsFailure, type Wire } from "../../local/aws/index.ts";
import type { Engine } from "./engines.ts";
import type { Request } from "./requests.ts";

/** What an engine made of a request: an answer, or a refusal `Name: message` with its other members. */
export interface Outcome {
  refused: string | undefined;
  answer: unknown;
}

const MAX_PAGES = 200;

export async function outcomeOf(engine: Engine, { operation, input }: Request): Promise<Outcome> {
  try {
    const answer =
      operation === "Scan" || (operation === "Query" && input.IndexName !== undefined)
        ? await walk(engine, operation, input)
        : await engine.operate(operation, input);
    return { refused: undefined, answer: canonical(answer) };
  } catch (error) {
    if (!isAwsFailure(error)) throw error;
    const { CancellationReasons, Item } = error.fields;
    return { refused: `${error.name}: ${error.message}`, answer: canonical({ CancellationReasons, Item }) };
  }
}

/** All pages together: the order of partitions, and of equal index keys, is each engine's own. */
async function walk(engine: Engine, operation: string, input: Wire): Promise<Wire> {
  const total = { Items: [] as unknown[], Count: 0, ScannedCount: 0 };
  let start: unknown;
  let pages = 0;
  let capacity: unknown;
  do {
    const answer = await engine.operate(operation, {
      ...input,
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    total.Items.push(...((answer.Items ?? []) as unknown[]));
    total.Count += Number(answer.Count);
    total.ScannedCount += Number(answer.ScannedCount);
    capacity = answer.ConsumedCapacity;
    start = answer.LastEvaluatedKey;
    pages++;
  } while (start !== undefined && pages < MAX_PAGES);
  // How rows fall into segments is each engine's own too.
  if (input.TotalSegments !== undefined) return {};
  total.Items = total.Items.map((item) => canonical(item)).sort(byText);
  return { ...total, ...(pages === 1 && input.Limit === undefined && { ConsumedCapacity: capacity }) };
}

export const byText = (a: unknown, b: unknown): number => {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return Number(left > right) - Number(left < right);
};

/** Names in order, sets in order, the answers of a batch in order. */
function canonical(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const members = value.map((member) => canonical(member));
    return ["SS", "NS", "BS", "ConsumedCapacity"].includes(name) ? members.sort(byText) : members;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const inBatch = name === "Responses";
  return Object.fromEntries(
    entries.map(([key, member]) => {
      const inner = canonical(member, key);
      return [key, inBatch && Array.isArray(inner) ? inner.sort(byText) : inner];
    }),
  );
}

export const sameOutcome = (ours: Outcome, theirs: Outcome): boolean => JSON.stringify(ours) === JSON.stringify(theirs);
