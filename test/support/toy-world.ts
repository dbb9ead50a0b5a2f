// A toy world for tests of service time: real clock, queues, host and mappings; toy workers, schedules and ids.
import type { SQSEvent } from "aws-lambda";
import { afterEach } from "vitest";
import { createSqs, openDatabase } from "../../local/aws/index.ts";
import { createClock } from "../../local/clock.ts";
import { createLambdaHost } from "../../local/lambda.ts";
import { createMappings } from "../../local/mappings.ts";
import { createTime } from "../../local/time.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { idsFrom } from "../../shared/kernel/ids.ts";

export const start = Date.UTC(2026, 0, 1);
type Send = (queue: string, body: string, delaySeconds?: number) => Promise<unknown>;

/** One-time schedules, and one recurring every five minutes when asked for. */
function toyScheduler(send: Send, every?: number) {
  const listeners: (() => void)[] = [];
  const oneTime = new Map<string, { at: number; queue: string }>();
  let recurringAt = every === undefined ? undefined : start + every;
  return {
    put: (name: string, at: number, queue: string) => {
      oneTime.set(name, { at, queue });
      for (const listener of listeners) listener();
    },
    onSave: (listener: () => void) => void listeners.push(listener),
    next: ({ recurring = true } = {}) => {
      const times = [...oneTime.values()].map(({ at }) => at);
      if (recurring && recurringAt !== undefined) times.push(recurringAt);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    fireDue: async (now: number, { recurring = true } = {}) => {
      const due = [...oneTime].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at);
      for (const [name, { queue }] of due) {
        oneTime.delete(name);
        await send(queue, name);
      }
      if (!recurring || !every || recurringAt === undefined || recurringAt > now) return due.length;
      while (recurringAt <= now) recurringAt += every;
      await send("sweep", "sweep");
      return due.length + 1;
    },
  };
}

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const time of running.splice(0)) await time.stop();
});

interface Options {
  ticking?: boolean;
  /** Milliseconds. */
  every?: number;
  stillMs?: number;
}

export async function toyWorld({ ticking = false, every, ...options }: Options = {}) {
  let bytes = 0;
  const ids = idsFrom((length) => Buffer.alloc(length, ++bytes));
  const clock = createClock({ start, ticking });
  const database = openDatabase(":memory:");
  const sqs = createSqs({ clock, ids, database });
  const host = createLambdaHost({ clock, ids });
  const trace: string[] = [];
  const logged: string[] = [];
  const log = (message: string) => logged.push(message);
  const note = (text: string) => trace.push(`${(clock.now() - start) / SECOND} ${text}`);
  const urls = new Map<string, string>();
  const send: Send = (queue, MessageBody, DelaySeconds = 0) =>
    sqs.operate("SendMessage", { QueueUrl: urls.get(queue), MessageBody, DelaySeconds });
  const scheduler = toyScheduler(send, every);
  const dynamodb = { records: () => [], keepRecords: () => undefined, onWrite: () => () => undefined, expire: () => 0 };
  const mappings = createMappings({ clock, database, sqs, dynamodb, host, log });
  const time = createTime({ clock, host, mappings, scheduler, sqs, dynamodb, log, ...options });
  running.push(time);

  /** A queue, its worker and the mapping between them, all of one name. */
  const worker = async (name: string, action: (body: string) => unknown, visibility = 60, timeoutSeconds = 10) => {
    const Attributes = { VisibilityTimeout: String(visibility) };
    const { QueueUrl } = await sqs.operate("CreateQueue", { QueueName: name, Attributes });
    urls.set(name, String(QueueUrl));
    const create = () => async (event: SQSEvent) => {
      for (const { body } of event.Records) await action(body);
    };
    host.register({ name, timeoutSeconds, create });
    mappings.mapQueue({ queue: name, function: name, batchSize: 1 });
  };
  return { clock, sqs, host, time, scheduler, send, worker, note, trace, logged, ids };
}
