// The document client of the one table.
import { type ConsumedCapacity, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";

/** Made from a configuration, as every other client is. */
export class TableClient extends DynamoDBDocumentClient {
  constructor(configuration: object) {
    // biome-ignore lint/plugin: shared/runtime/aws.ts makes both at once
    super(new DynamoDBClient(configuration), { marshallOptions: { removeUndefinedValues: true } });
    this.middlewareStack = resolvedOnce(this.middlewareStack);
  }
}

/**
 * The cost of this process's requests in units, counted after the first call for it. An environment of a function
 * serves one request at a time, so that a difference is the cost of one.
 */
export const spent = { isCounted: false, writes: 0, reads: 0 };

/** The client's `send`, which counts what its requests cost. */
export const countingSend = (client: TableClient): Pick<TableClient, "send"> => ({
  send: async (command: Parameters<TableClient["send"]>[0]) => {
    if (!spent.isCounted) return client.send(command);
    const kind = WRITES.some((write) => command instanceof write) ? "writes" : "reads";
    Object.assign(command.input, { ReturnConsumedCapacity: "TOTAL" });
    try {
      const output = await client.send(command);
      spent[kind] += unitsOf(output as ConsumingOutput);
      return output;
    } catch (error) {
      spent[kind] += refusedUnits(error as RefusedWrite);
      throw error;
    }
  },
});

const WRITES = [PutCommand, UpdateCommand, DeleteCommand, TransactWriteCommand, BatchWriteCommand];

interface ConsumingOutput {
  ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined;
}

const unitsOf = ({ ConsumedCapacity = [] }: ConsumingOutput): number =>
  [ConsumedCapacity].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);

/** A refusal of a write or of a transaction, with the items that its conditions met. */
interface RefusedWrite extends Partial<Error> {
  Item?: object;
  CancellationReasons?: { Item?: object }[];
}

/** The table bills a refused write by the item that its condition met, in a transaction twice, and does not say so: about that. */
function refusedUnits({ name, Item, CancellationReasons }: RefusedWrite): number {
  if (name === "ConditionalCheckFailedException") return unitsOfItem(Item);
  if (name !== "TransactionCanceledException" || !CancellationReasons) return 0;
  return CancellationReasons.reduce((sum, reason) => sum + 2 * unitsOfItem(reason.Item), 0);
}

const UNIT_BYTES = 1_024;

function unitsOfItem(item: object | undefined): number {
  const sized = (_: string, value: unknown) => (value instanceof Uint8Array ? " ".repeat(value.byteLength) : value);
  return Math.ceil(Buffer.byteLength(JSON.stringify(item ?? {}, sized)) / UNIT_BYTES);
}

type Stack = TableClient["middlewareStack"];

/**
 * What `cacheMiddleware` does, which the document client refuses: middleware is resolved once for all commands of a kind,
 * because they share one endpoint. Resolved for each, it takes a fifth of a request's processor time
 * (docs/decisions/0006).
 */
function resolvedOnce(stack: Stack): Stack {
  // Of each kind, which says the types of its input and output.
  const handlers = new Map<string | undefined, never>();
  const joined = (added: Stack): Stack => ({
    ...stack,
    // A document command joins its stack to the client's, and the command inside it joins the same stack again.
    concat: (() => joined(added)) as Stack["concat"],
    resolve: (handler, context) => {
      const resolved = handlers.get(context.commandName) ?? stack.concat(added).resolve(handler, context);
      handlers.set(context.commandName, resolved as never);
      return resolved;
    },
  });
  return { ...stack, concat: joined as Stack["concat"] };
}
