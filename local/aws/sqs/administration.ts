// Operations on queues rather than messages: create, find, describe, list, and the way back from dead letters.
import type { Database } from "../database.ts";
import type { Operations } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import type { Clock } from "../time.ts";
import { read } from "./contents.ts";
import type { Messages } from "./messages.ts";
import {
  attributeNames,
  checkName,
  describeQueue,
  type Queue,
  type Queues,
  readQueueAttributes,
  redriveOf,
  urlOf,
} from "./queues.ts";

/** How long a move counts as running: AWS moves at most 500 messages a second, and takes about a second for a few. */
const MOVE_MS = 1_000;
const ALREADY_MOVING =
  "There is already a task running. Only one active task is allowed for a source queue arn at a given time.";

interface Estate {
  clock: Clock;
  queues: Queues;
  messages: Messages;
  prepared: () => Database;
  /** Called when a message of this queue may have become receivable. */
  tell: (queue: string) => void;
}

export function administration({ clock, queues, messages, prepared, tell }: Estate): Operations {
  const isDeadLetterQueue = (queue: Queue): boolean =>
    queues
      .all()
      .values()
      .some((other) => redriveOf(other)?.queue === queue.name);

  function save(queue: Queue): void {
    const redrive = redriveOf(queue);
    if (redrive && (redrive.queue === queue.name || !queues.all().has(redrive.queue)))
      throw read.refuse(
        `Value ${queue.attributes.RedrivePolicy} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.`,
      );
    queues.save(queue);
  }

  function createQueue(input: Wire): Wire {
    const name = read.needed(input, "QueueName");
    checkName(name);
    const attributes = readQueueAttributes(input);
    const existing = queues.all().get(name);
    if (existing) {
      const current = describeQueue(existing);
      const differs = Object.entries(attributes).some(([key, value]) => current[key] !== value);
      if (differs)
        throw awsFailure("QueueNameExists", "A queue already exists with the same name and a different value.");
    } else save({ name, attributes, created: clock.now() });
    return { QueueUrl: urlOf(name) };
  }

  function getAttributes(input: Wire): Wire {
    const queue = queues.at(input);
    const names = read.texts(input, "AttributeNames");
    const unknown = names.find((name) => !attributeNames.has(name));
    if (unknown) throw awsFailure("InvalidAttributeName", `Unknown Attribute ${unknown}.`);
    if (names.length === 0) return {};
    const { visible, delayed, inFlight } = messages.depth(queue);
    const found: Record<string, string> = {
      ...describeQueue(queue),
      ApproximateNumberOfMessages: String(visible),
      ApproximateNumberOfMessagesDelayed: String(delayed),
      ApproximateNumberOfMessagesNotVisible: String(inFlight),
    };
    const asked = Object.entries(found).filter(([name]) => names.includes("All") || names.includes(name));
    return { Attributes: Object.fromEntries(asked) };
  }

  function listQueues(input: Wire): Wire {
    const prefix = read.text(input, "QueueNamePrefix") ?? "";
    const size = read.integer(input, "MaxResults", 1, 1_000) ?? 1_000;
    const after = read.text(input, "NextToken") ?? "";
    const rest = [...queues.all().keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
    const urls = rest.slice(0, size).map(urlOf);
    return {
      QueueUrls: urls.length > 0 ? urls : undefined,
      NextToken: rest.length > size ? rest[size - 1] : undefined,
    };
  }

  const ofTask = (arn: string): Queue => {
    const found = arn.startsWith("arn:aws:sqs:") && queues.all().get(arn.slice(arn.lastIndexOf(":") + 1));
    if (found) return found;
    const message = "The resource that you specified for the SourceArn parameter doesn't exist.";
    throw awsFailure("ResourceNotFoundException", message, { status: 404 });
  };

  /** When the move out of a queue is over. Messages are moved at once; as at AWS, it counts as running for a while. */
  const movingUntil = new Map<string, number>();

  function startMove(input: Wire): Wire {
    const from = ofTask(read.needed(input, "SourceArn"));
    const DestinationArn = read.text(input, "DestinationArn");
    const to = DestinationArn === undefined ? undefined : ofTask(DestinationArn).name;
    if (to === from.name) throw read.refuse("Source queue arn and destination queue arn cannot be the same.");
    if (!isDeadLetterQueue(from)) throw read.refuse("Source queue must be configured as a Dead Letter Queue.");
    if (clock.now() < (movingUntil.get(from.name) ?? 0)) throw read.refuse(ALREADY_MOVING);
    movingUntil.set(from.name, clock.now() + MOVE_MS);
    const moved = prepared().transaction(() => messages.moveAll(from, to, (name) => queues.all().has(name)));
    for (const queue of moved) tell(queue);
    return { TaskHandle: Buffer.from(`${from.name} ${clock.now()}`).toString("base64") };
  }

  return {
    CreateQueue: createQueue,
    GetQueueUrl: (input) => ({ QueueUrl: urlOf(queues.named(read.needed(input, "QueueName")).name) }),
    GetQueueAttributes: getAttributes,
    ListQueues: listQueues,
    StartMessageMoveTask: startMove,
  };
}
