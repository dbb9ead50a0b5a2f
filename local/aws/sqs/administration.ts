// Operations on queues rather than messages: create, describe, list, tag, purge, redrive.
import type { Clock } from "../../../shared/kernel/clock.ts";
import type { Database } from "../database.ts";
import type { Operations } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import { read } from "./contents.ts";
import type { Messages } from "./messages.ts";
import {
  account,
  allowsRedrive,
  attributeNames,
  checkName,
  describeQueue,
  type Queue,
  type Queues,
  readQueueAttributes,
  redriveOf,
  urlOf,
} from "./queues.ts";

const NOT_ALLOWED = "Dead letter target does not allow this queue by its RedriveAllowPolicy";

interface Estate {
  clock: Clock;
  queues: Queues;
  messages: Messages;
  prepared: () => Database;
  /** Called when a message of this queue may have become receivable. */
  tell: (queue: string) => void;
}

export function administration({ clock, queues, messages, prepared, tell }: Estate): Operations {
  const sourcesOf = (queue: Queue): string[] =>
    [...queues.all().values()].filter((other) => redriveOf(other)?.queue === queue.name).map(({ name }) => name);

  function save(queue: Queue): void {
    const redrive = redriveOf(queue);
    const target = redrive && redrive.queue !== queue.name ? queues.all().get(redrive.queue) : undefined;
    const reason = !target ? "Dead letter target does not exist" : !allowsRedrive(target, queue) && NOT_ALLOWED;
    if (redrive && reason)
      throw read.refuse(
        `Value ${queue.attributes.RedrivePolicy} for parameter RedrivePolicy is invalid. Reason: ${reason}.`,
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
    } else {
      const now = clock.now();
      save({ name, attributes, tags: read.textMap(input, "tags"), created: now, modified: now });
    }
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

  /** One page of queue URLs; `NextToken` is the last name of the page before. */
  function page(input: Wire, names: string[]): { urls: string[]; NextToken: string | undefined } {
    const size = read.integer(input, "MaxResults", 1, 1_000) ?? 1_000;
    const after = read.text(input, "NextToken") ?? "";
    const rest = names.filter((name) => name > after).sort();
    return { urls: rest.slice(0, size).map(urlOf), NextToken: rest.length > size ? rest[size - 1] : undefined };
  }

  const ofTask = (arn: string): Queue => {
    const found = arn.startsWith("arn:aws:sqs:") && queues.all().get(arn.slice(arn.lastIndexOf(":") + 1));
    if (found) return found;
    const message = "The resource that you specified for the SourceArn parameter doesn't exist.";
    throw awsFailure("ResourceNotFoundException", message, { status: 404 });
  };

  function startMove(input: Wire): Wire {
    const SourceArn = read.needed(input, "SourceArn");
    const from = ofTask(SourceArn);
    const DestinationArn = read.text(input, "DestinationArn");
    const to = DestinationArn === undefined ? undefined : ofTask(DestinationArn).name;
    if (to === from.name) throw read.refuse("Source queue arn and destination queue arn cannot be the same.");
    if (sourcesOf(from).length === 0) throw read.refuse("Source queue must be configured as a Dead Letter Queue.");
    const moved = prepared().transaction(() => {
      const counts = messages.moveAll(from, to, (name) => queues.all().has(name));
      const total = counts.values().reduce((sum, count) => sum + count, 0);
      const lost = counts.get("") ?? 0;
      const state = {
        Status: lost > 0 ? "FAILED" : "COMPLETED",
        SourceArn,
        DestinationArn,
        StartedTimestamp: clock.now(),
        ApproximateNumberOfMessagesMoved: total - lost,
        ApproximateNumberOfMessagesToMove: total,
        FailureReason: lost > 0 ? "CouldNotDetermineMessageSource" : undefined,
      };
      prepared().run("INSERT INTO sqs_moves (source, state) VALUES (?, ?)", from.name, JSON.stringify(state));
      return counts;
    });
    for (const queue of moved.keys()) if (queue) tell(queue);
    return { TaskHandle: Buffer.from(`${from.name} ${clock.now()}`).toString("base64") };
  }

  function listMoves(input: Wire): Wire {
    const { name } = ofTask(read.needed(input, "SourceArn"));
    const size = read.integer(input, "MaxResults", 1, 10) ?? 1;
    const sql = "SELECT state FROM sqs_moves WHERE source = ? ORDER BY seq DESC LIMIT ?";
    return {
      Results: prepared()
        .all(sql, name, size)
        .map(({ state }) => JSON.parse(String(state))),
    };
  }

  return {
    CreateQueue: createQueue,
    GetQueueUrl: (input) => {
      const owner = read.text(input, "QueueOwnerAWSAccountId") ?? account;
      const name = read.needed(input, "QueueName");
      return { QueueUrl: urlOf(queues.named(owner === account ? name : `${owner}/${name}`).name) };
    },
    GetQueueAttributes: getAttributes,
    SetQueueAttributes: (input) => {
      const queue = queues.at(input);
      const attributes = { ...queue.attributes, ...readQueueAttributes(input) };
      save({ ...queue, attributes, modified: clock.now() });
      tell(queue.name);
      return {};
    },
    ListQueues: (input) => {
      const prefix = read.text(input, "QueueNamePrefix") ?? "";
      const { urls, NextToken } = page(
        input,
        [...queues.all().keys()].filter((name) => name.startsWith(prefix)),
      );
      return { QueueUrls: urls.length > 0 ? urls : undefined, NextToken };
    },
    ListDeadLetterSourceQueues: (input) => {
      const { urls, NextToken } = page(input, sourcesOf(queues.at(input)));
      return { queueUrls: urls, NextToken };
    },
    DeleteQueue: (input) => {
      const queue = queues.at(input);
      prepared().transaction(() => {
        messages.purge(queue);
        queues.remove(queue.name);
      });
      tell(queue.name);
      return {};
    },
    PurgeQueue: (input) => {
      messages.purge(queues.at(input));
      return {};
    },
    TagQueue: (input) => {
      const queue = queues.at(input);
      queues.save({ ...queue, tags: { ...queue.tags, ...read.textMap(input, "Tags") } });
      return {};
    },
    UntagQueue: (input) => {
      const queue = queues.at(input);
      const removed = new Set(read.texts(input, "TagKeys"));
      const kept = Object.entries(queue.tags).filter(([key]) => !removed.has(key));
      queues.save({ ...queue, tags: Object.fromEntries(kept) });
      return {};
    },
    ListQueueTags: (input) => ({ Tags: queues.at(input).tags }),
    StartMessageMoveTask: startMove,
    ListMessageMoveTasks: listMoves,
  };
}
