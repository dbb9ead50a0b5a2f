// What an AWS request is about: the keys it touches, which the tenant check and the trace need.
import type { ServiceName, Wire } from "../../local/aws/index.ts";

interface TouchedKey {
  pk: string;
  sk: string;
}

type WireItem = Record<string, { S?: string }>;
const keyOf = (item: WireItem): TouchedKey => ({ pk: String(item.pk?.S), sk: String(item.sk?.S ?? "") });

interface Action {
  Item?: WireItem;
  Key?: WireItem;
}
interface Batch {
  Keys?: WireItem[];
}
interface BatchWrite {
  PutRequest?: { Item: WireItem };
  DeleteRequest?: { Key: WireItem };
}

/** Every key that a request of DynamoDB names, of its items as of its queries. */
export function keysOf(operation: string, input: Wire): TouchedKey[] {
  if (operation === "TransactWriteItems")
    return (input.TransactItems as Record<string, Action>[]).flatMap((step) => Object.values(step).flatMap(ofAction));
  if (operation === "BatchGetItem")
    return Object.values(input.RequestItems as Record<string, Batch>).flatMap(({ Keys = [] }) => Keys.map(keyOf));
  if (operation === "BatchWriteItem")
    return Object.values(input.RequestItems as Record<string, BatchWrite[]>)
      .flat()
      .map(({ PutRequest, DeleteRequest }) => keyOf((PutRequest?.Item ?? DeleteRequest?.Key)!));
  if (operation === "Query") return [{ pk: queriedPartition(input), sk: "*" }];
  return ofAction(input as Action);
}

const ofAction = ({ Item, Key = Item }: Action) => (Key ? [keyOf(Key)] : []);

/** The first value of a query is its partition: `#0 = :0`. */
const queriedPartition = (input: Wire): string =>
  String((input.ExpressionAttributeValues as Record<string, { S?: string }>)[":0"]?.S);

interface Entry {
  MessageBody: string;
  DelaySeconds?: number;
}

const queueOf = (input: Wire): string => String(input.QueueUrl).split("/").at(-1)!;

/** One line of the trace. */
export function lineOf(service: ServiceName, operation: string, input: Wire): string {
  if (service === "dynamodb") {
    const keys = keysOf(operation, input).map(({ pk, sk }) => (pk === sk ? pk : `${pk} ${sk}`));
    return `${operation} ${keys.join(", ")}`;
  }
  if (operation === "SendMessageBatch") {
    const entries = (input.Entries as Entry[]).map(
      ({ MessageBody, DelaySeconds }) => MessageBody + (DelaySeconds ? ` in ${DelaySeconds} s` : ""),
    );
    return `${operation} ${queueOf(input)} ${entries.join(", ")}`;
  }
  if (service === "scheduler") return `${operation} ${input.Name} ${input.ScheduleExpression ?? ""}`;
  return operation;
}
