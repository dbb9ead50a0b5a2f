// Where DynamoDB Local is known to differ from ours: each difference with the reason, and which one answers as AWS does (docs/local.md).
import { normalizeNumber, type Wire } from "../../local/aws/index.ts";
import { byText, type Outcome, sameOutcome } from "./answers.ts";
import { type Case, inBoth, inTheirs, isObject, omit } from "./cases.ts";
import { faultsInOrder, inOwnWords } from "./refusals.ts";
import type { Request } from "./requests.ts";

interface Difference {
  why: string;
  /** The two outcomes with this difference taken away; the same case when it is not there. */
  without(found: Case): Case;
}

const ENVELOPE = "ValidationException: 1 validation error detected: ";

const settled = (found: Case): Case => ({ ...found, theirs: found.ours });

/** They take, or refuse in other words, what we refuse by `ours`. */
const refusedByUs =
  (ours: RegExp, applies: (found: Case) => boolean = () => true): Difference["without"] =>
  (found) =>
    found.ours.refused && ours.test(found.ours.refused) && applies(found) ? settled(found) : found;

/** Both refuse, ours by `ours` and theirs by `theirs`. */
const otherRefusal = (ours: RegExp, theirs: RegExp): Difference["without"] =>
  refusedByUs(ours, (found) => found.theirs.refused !== undefined && theirs.test(found.theirs.refused));

const reasonsOf = ({ answer }: Outcome): string[] =>
  ((answer as { CancellationReasons?: { Code: string; Message?: string }[] })?.CancellationReasons ?? []).flatMap(
    ({ Code, Message }) => (Code === "ValidationError" ? [`ValidationException: ${Message}`] : []),
  );

const isEmptyMap = (held: unknown) => isObject(held) && Object.keys(held).length === 0;

function wholeNumbers(object: Wire): Wire {
  const normal = (text: unknown) => (typeof text === "string" ? normalizeNumber(text) : text);
  if (typeof object.N === "string") return { ...object, N: normal(object.N) };
  return Array.isArray(object.NS) ? { ...object, NS: object.NS.map(normal).sort() } : object;
}

/** Answers that were put in order before their numbers had one form. */
function inOrder(found: Case): Case {
  const { request, theirs } = found;
  const { Items } = (theirs.answer ?? {}) as { Items?: unknown[] };
  if (!Items || (request.operation === "Query" && request.input.IndexName === undefined)) return found;
  return { ...found, theirs: { ...theirs, answer: { ...(theirs.answer as Wire), Items: Items.toSorted(byText) } } };
}

export const takesOnly = ({ request: { operation, input } }: Pick<Case, "request">): boolean =>
  operation === "UpdateItem" &&
  /^(REMOVE|DELETE)/.test(String(input.UpdateExpression)) &&
  !/\b(SET|ADD)\b/.test(String(input.UpdateExpression));

const differences: Difference[] = [
  {
    why: "AWS puts `1 validation error detected: ` before what is wrong with the request of a single write",
    without: (found) => {
      const { ours, theirs } = found;
      const lacks = ours.refused?.startsWith(ENVELOPE) && !theirs.refused?.startsWith(ENVELOPE);
      if (!lacks || !theirs.refused?.startsWith("ValidationException: ")) return found;
      return { ...found, theirs: { ...theirs, refused: theirs.refused.replace("ValidationException: ", ENVELOPE) } };
    },
  },
  {
    why: "a failed condition in a transaction: DynamoDB Local ends the message with a full stop",
    without: (found) =>
      inTheirs(found, (object) => {
        const message = "The conditional request failed";
        return object.Message === `${message}.` ? { ...object, Message: message } : object;
      }),
  },
  {
    why: "numbers: DynamoDB Local answers some as they were written (`007`, `1e-130`, `.5`); AWS knows one form of a number",
    without: (found) => inOrder(inTheirs(found, wholeNumbers)),
  },
  {
    why: "capacity: DynamoDB Local bills otherwise than documented (reads that find nothing, batches, indexes, transactions, unasked deletes)",
    without: (found) => (found.ours.refused ? found : inBoth(found, (answer) => omit(answer, "ConsumedCapacity"))),
  },
  {
    why: "an update of a part of an attribute: DynamoDB Local answers all of it for UPDATED_OLD and UPDATED_NEW, AWS the part",
    without: (found) =>
      /^UPDATED_/.test(String(found.request.input.ReturnValues)) && !found.theirs.refused
        ? inBoth(found, (answer) => omit(answer, "Attributes"))
        : found,
  },
  {
    why: "a page that ends where the key condition ends has no last key at DynamoDB Local; AWS gives one whenever the limit was reached",
    without: (found) =>
      found.request.operation === "Query" && found.request.input.Limit !== undefined
        ? inBoth(found, (answer) => omit(answer, "LastEvaluatedKey"))
        : found,
  },
  {
    why: "order of refusals: AWS looks at the request by itself (values, then expressions), then at table and keys, then at the condition, then makes the update; DynamoDB Local mixes this",
    without: (found) => (faultsInOrder(found.ours.refused, found.theirs.refused) ? settled(found) : found),
  },
  {
    why: "other words: DynamoDB Local has its own for wrong numbers, sets, keys, start keys, `Select`, `Limit`, segments, table names",
    without: (found) => (inOwnWords(found.ours.refused, found.theirs.refused) ? settled(found) : found),
  },
  {
    why: "of several faults in the expressions of a request, another one (DynamoDB Local names paths as overlapping that do not)",
    without: otherRefusal(
      /Invalid \w+Expression|Either the KeyConditions|The Segment parameter/,
      /Invalid \w+Expression|unused in expressions|contains invalid value|when choosing to get|ALL_PROJECTED_ATTRIBUTES|Expression is null/,
    ),
  },
  {
    why: "an update that only takes away: where there is no item DynamoDB Local makes one, or refuses the path",
    without: (found) => (takesOnly(found) && !found.ours.refused ? settled(found) : found),
  },
  {
    why: "of several faults of what is read from an index, another one",
    without: otherRefusal(/Select type ALL_ATTRIBUTES|Key attributes must be scalars/, /does not project/),
  },
  {
    why: "of several faults of an update in the item, another one",
    without: otherRefusal(
      /refers to an attribute that does not exist in the item|incorrect data type|document path provided/,
      /refers to an attribute that does not exist in the item|incorrect data type|document path provided|38 digits/,
    ),
  },
  {
    why: "a batch with a duplicate and another fault: the duplicate first",
    without: otherRefusal(/./, /Provided list of item keys contains duplicates/),
  },
  {
    why: "a transaction that is wrong about one item is cancelled by AWS with a reason at its place; DynamoDB Local refuses all of it, gives one reason only, or misses the fault",
    without: (found) => (reasonsOf(found.ours).length > 0 ? settled(found) : found),
  },
  {
    why: "a transaction with two actions on one item and another fault: which is reported is not documented",
    without: otherRefusal(/multiple operations on one item/, /./),
  },
  {
    why: "DynamoDB Local wants the second operand of `if_not_exists` even when the first is there; the documentation does not",
    without: (found) =>
      JSON.stringify(found.request.input).includes("if_not_exists") &&
      !found.ours.refused &&
      /refers to an attribute that does not exist/.test(found.theirs.refused ?? "")
        ? settled(found)
        : found,
  },
  {
    why: "a scan of a global index: DynamoDB Local lets the filter see attributes the index does not hold",
    without: ({ request, ours, theirs }) =>
      request.operation === "Scan" && request.input.TableName === "things" && request.input.IndexName && !ours.refused
        ? { request, ours, theirs: ours }
        : { request, ours, theirs },
  },
  {
    why: "DynamoDB Local takes one item named by two forms of a number (1 and 1.0) for two items of a transaction",
    without: refusedByUs(/multiple operations on one item/, ({ theirs }) => !theirs.refused),
  },
  {
    why: "DynamoDB Local does not check `ReturnConsumedCapacity`",
    without: refusedByUs(/'SOME' at 'returnConsumedCapacity'/),
  },
  {
    why: "DynamoDB Local takes an empty map of names or values",
    without: refusedByUs(
      /must not be empty|can only be specified when using expressions/,
      ({ request: { input } }) =>
        isEmptyMap(input.ExpressionAttributeNames) || isEmptyMap(input.ExpressionAttributeValues),
    ),
  },
  {
    why: "DynamoDB Local takes `size` as the name of an attribute; it is in AWS's list of reserved words",
    without: refusedByUs(/reserved keyword: size$/i),
  },
  {
    why: "DynamoDB Local takes one key of a batch in two forms of a number (1 and 1.0) for two keys",
    without: refusedByUs(/Provided list of item keys contains duplicates$/),
  },
  {
    why: "DynamoDB Local lets an update delete from an index key what has another type than it; AWS refuses the type",
    without: refusedByUs(/Type mismatch for Index Key/, ({ theirs }) => !theirs.refused),
  },
];

/** The differences that together explain a case, or nothing. */
export function explain(request: Request, ours: Outcome, theirs: Outcome): string[] | undefined {
  let found: Case = { request, ours, theirs };
  const met: string[] = [];
  for (const { why, without } of differences) {
    if (sameOutcome(found.ours, found.theirs)) return met;
    const next = without(found);
    if (sameOutcome(next.theirs, found.theirs) && sameOutcome(next.ours, found.ours)) continue;
    met.push(why);
    found = next;
  }
  return sameOutcome(found.ours, found.theirs) ? met : undefined;
}
