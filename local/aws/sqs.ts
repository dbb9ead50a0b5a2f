// Embedded SQS: standard queues with delay, visibility, long poll, dead letters and redrive.
import { membersOf, type Operations, operateOn, refuseOthers } from "./members.ts";
import { administration } from "./sqs/administration.ts";
import { checkBatchSize, failedEntry, readEntries } from "./sqs/batches.ts";
import { checkBody, md5, md5OfAttributes, read, readAttributes, sizeOf } from "./sqs/contents.ts";
import { memoryMessages } from "./sqs/memory-messages.ts";
import { type Depth, type MessageRow, schema, sqlMessages } from "./sqs/message-rows.ts";
import { createMessages, type Draft, heldBy, messageOf, systemNames } from "./sqs/messages.ts";
import { createQueues, numberOf, type Queue, redriveOf } from "./sqs/queues.ts";
import { awsFailure, type Deps, isAwsFailure, type StandIn, type Wire } from "./stand-in.ts";

export interface Sqs extends StandIn {
  /** Called with a queue's name after each change that may make a message of it receivable, now or later. */
  onSend(listener: (queue: string) => void): () => void;
  /** How many messages could be received now (counted up to 1,000; none of a queue that does not exist). */
  ready(queue: string): number;
  /** The earliest instant after now at which a message of any queue becomes visible. */
  nextVisible(): number | undefined;
  depth(queue: string): Depth;
  /** When the oldest message of a queue was sent; undefined without one. */
  oldest(queue: string): number | undefined;
  meter(): SqsMeter;
  resetMeter(): void;
}

interface SqsMeter {
  requests: number;
  sent: number;
  received: number;
}

/** Behavior that a standard queue is allowed and rarely shows. */
export interface SqsFaults {
  /** Whether the message being sent is duplicated. */
  duplicate?(queue: string): boolean;
  /** Whether this receive returns the newest messages first. */
  reorder?(queue: string): boolean;
}

const members = membersOf({
  CreateQueue: "QueueName Attributes",
  GetQueueUrl: "QueueName",
  GetQueueAttributes: "QueueUrl AttributeNames",
  ListQueues: "QueueNamePrefix NextToken MaxResults",
  SendMessage: "QueueUrl MessageBody DelaySeconds MessageAttributes MessageGroupId",
  SendMessageBatch: "QueueUrl Entries",
  ReceiveMessage:
    "QueueUrl AttributeNames MessageSystemAttributeNames MessageAttributeNames MaxNumberOfMessages VisibilityTimeout WaitTimeSeconds",
  DeleteMessage: "QueueUrl ReceiptHandle",
  DeleteMessageBatch: "QueueUrl Entries",
  ChangeMessageVisibility: "QueueUrl ReceiptHandle VisibilityTimeout",
  ChangeMessageVisibilityBatch: "QueueUrl Entries",
  StartMessageMoveTask: "SourceArn DestinationArn",
});
const sendEntry = new Set("Id MessageBody DelaySeconds MessageAttributes MessageGroupId".split(" "));
const deleteEntry = new Set(["Id", "ReceiptHandle"]);
const visibilityEntry = new Set(["Id", "ReceiptHandle", "VisibilityTimeout"]);
const maxVisibility = 43_200;

interface SqsDeps extends Deps {
  faults?: SqsFaults;
  /** The trace header of the request that is handled. */
  trace?(): string | undefined;
}

export function createSqs(deps: SqsDeps): Sqs {
  const { clock, database, faults = {}, trace = () => undefined } = deps;
  const listeners = new Set<(queue: string) => void>();
  let meter: SqsMeter = { requests: 0, sent: 0, received: 0 };
  let open = false;
  const prepared = () => {
    if (!open) database.exec(schema);
    open = true;
    return database;
  };
  const queues = createQueues(prepared);
  const rows = database.undo ? memoryMessages(database.undo) : sqlMessages(prepared);
  const messages = createMessages(deps, rows);

  const tell = (queue: string) => {
    for (const listener of [...listeners]) listener(queue);
  };

  function readDraft(queue: Queue, input: Wire): Draft {
    const body = read.needed(input, "MessageBody");
    checkBody(body);
    const attributes = readAttributes(input);
    const limit = numberOf(queue, "MaximumMessageSize");
    if (sizeOf(body, attributes) > limit) {
      throw read.refuse(`One or more parameters are invalid. Reason: Message must be shorter than ${limit} bytes.`);
    }
    const group = read.text(input, "MessageGroupId");
    if (group !== undefined && !/^[A-Za-z0-9!-/:-@[-`{-~]{1,128}$/.test(group)) {
      throw read.refuse("MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length");
    }
    const delaySeconds = read.integer(input, "DelaySeconds", 0, 900);
    return { body, attributes, group, delaySeconds, trace: trace() };
  }

  function store(queue: Queue, draft: Draft): Wire {
    const id = messages.insert(queue, draft);
    if (faults.duplicate?.(queue.name)) messages.insert(queue, draft, id);
    meter.sent++;
    return {
      MessageId: id,
      MD5OfMessageBody: md5(draft.body),
      MD5OfMessageAttributes: md5OfAttributes(draft.attributes),
    };
  }

  /** Runs one operation per entry; failed entries are reported, and the others take effect. */
  function batch(input: Wire, allowed: ReadonlySet<string>, handler: (entry: Wire) => Wire): Wire {
    const entries = readEntries(input);
    for (const entry of entries) refuseOthers(entry, allowed, "a batch entry");
    const done: Wire[] = [];
    const failed: Wire[] = [];
    prepared().transaction(() => {
      for (const entry of entries) {
        try {
          done.push({ Id: entry.Id, ...handler(entry) });
        } catch (error) {
          if (!isAwsFailure(error)) throw error;
          failed.push(failedEntry(entry, error));
        }
      }
    });
    return { ...(done.length > 0 && { Successful: done }), ...(failed.length > 0 && { Failed: failed }) };
  }

  function takeMessages(queue: Queue, limit: number, seconds: number): MessageRow[] {
    const newestFirst = faults.reorder?.(queue.name) ?? false;
    const policy = redriveOf(queue);
    const redrive = policy && queues.all().has(policy.queue) ? policy : undefined;
    const { taken, moved } = prepared().transaction(() =>
      messages.receive(queue, { limit, seconds, newestFirst, redrive }),
    );
    if (moved > 0) tell(redrive!.queue);
    meter.received += taken.length;
    return taken;
  }

  /** Sleeps until the queue changes, a message becomes visible, or `until`. */
  async function change(queue: Queue, until: number): Promise<void> {
    const stop = new AbortController();
    const listener = (name: string) => name === queue.name && stop.abort();
    listeners.add(listener);
    const next = Math.min(until, messages.nextVisible(queue) ?? until);
    await clock.sleep(next - clock.now(), stop.signal);
    listeners.delete(listener);
  }

  async function receive(input: Wire): Promise<Wire> {
    const queue = queues.at(input);
    const limit = read.integer(input, "MaxNumberOfMessages", 1, 10) ?? 1;
    const seconds = read.integer(input, "VisibilityTimeout", 0, maxVisibility) ?? numberOf(queue, "VisibilityTimeout");
    const wait = read.integer(input, "WaitTimeSeconds", 0, 20) ?? numberOf(queue, "ReceiveMessageWaitTimeSeconds");
    const selection = {
      system: [...read.texts(input, "AttributeNames"), ...read.texts(input, "MessageSystemAttributeNames")],
      attributes: read.texts(input, "MessageAttributeNames"),
    };
    const unknown = selection.system.find((name) => !systemNames.has(name));
    if (unknown) throw awsFailure("InvalidAttributeName", `Unknown Attribute ${unknown}.`);
    const deadline = clock.now() + wait * 1000;
    for (;;) {
      const rows = takeMessages(queues.named(queue.name), limit, seconds);
      if (rows.length > 0) return { Messages: rows.map((row) => messageOf(row, queue.name, selection)) };
      if (clock.now() >= deadline) return {};
      await change(queue, deadline);
    }
  }

  function release(queue: Queue, input: Wire): Wire {
    messages.remove(heldBy(read.needed(input, "ReceiptHandle"), queue));
    return {};
  }

  function hideAgain(queue: Queue, input: Wire): Wire {
    const handle = read.needed(input, "ReceiptHandle");
    const seconds = read.integer(input, "VisibilityTimeout", 0, maxVisibility);
    if (seconds === undefined) throw awsFailure("MissingParameter", "The request must contain VisibilityTimeout.");
    messages.changeVisibility(heldBy(handle, queue), handle, seconds);
    return {};
  }

  const operations: Operations = {
    ...administration({ clock, queues, messages, prepared, tell }),
    ReceiveMessage: receive,
    SendMessage: (input) => {
      const queue = queues.at(input);
      const draft = readDraft(queue, input);
      const sent = prepared().transaction(() => store(queue, draft));
      tell(queue.name);
      return sent;
    },
    SendMessageBatch: (input) => {
      const queue = queues.at(input);
      checkBatchSize(input);
      const result = batch(input, sendEntry, (entry) => store(queue, readDraft(queue, entry)));
      tell(queue.name);
      return result;
    },
    DeleteMessage: (input) => release(queues.at(input), input),
    DeleteMessageBatch: (input) => {
      const queue = queues.at(input);
      return batch(input, deleteEntry, (entry) => release(queue, entry));
    },
    ChangeMessageVisibility: (input) => {
      const queue = queues.at(input);
      hideAgain(queue, input);
      tell(queue.name);
      return {};
    },
    ChangeMessageVisibilityBatch: (input) => {
      const queue = queues.at(input);
      const result = batch(input, visibilityEntry, (entry) => hideAgain(queue, entry));
      tell(queue.name);
      return result;
    },
  };
  const operate = operateOn(members, operations);

  return {
    operate: (operation, input) => {
      meter.requests++;
      return operate(operation, input);
    },
    onSend: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ready: (name) => {
      const queue = queues.all().get(name);
      return queue ? messages.ready(queue) : 0;
    },
    nextVisible: () => {
      let next: number | undefined;
      for (const queue of queues.all().values()) {
        const at = messages.nextVisible(queue);
        if (at !== undefined && (next === undefined || at < next)) next = at;
      }
      return next;
    },
    depth: (queue) => messages.depth(queues.named(queue)),
    oldest: (queue) => messages.oldest(queues.named(queue)),
    meter: () => ({ ...meter }),
    resetMeter: () => {
      meter = { requests: 0, sent: 0, received: 0 };
    },
  };
}
