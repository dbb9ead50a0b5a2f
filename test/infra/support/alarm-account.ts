// An account with the alarms and the topic of the template: CloudWatch and SNS of the local service, behind HTTP.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { openStack } from "../../../local/alarms.ts";
import { handleAwsRequest, openDatabase, type Services, type Wire } from "../../../local/aws/index.ts";
import { createClock } from "../../../local/clock.ts";
import { openOutbox } from "../../../local/outbox.ts";
import type { Published } from "../../../local/topics.ts";
import { systemIds } from "../../../shared/runtime/system.ts";
import { listenOnLoopback } from "../../support/loopback.ts";
import { START } from "../../support/world.ts";
import type { Template } from "./template.ts";

/** What CloudWatch was asked. */
interface AskedRequest {
  target: string | undefined;
  authorization: string | undefined;
}

export interface AlarmAccount {
  endpoint: string;
  asked: AskedRequest[];
  /** The subjects of the mails that arrived. */
  mails(): (string | null)[];
  close(): Promise<void>;
}

const LINK = /_local\/subscriptions\/(\w+)/;

/** The template's stack. @param isConfirmed every address has confirmed that it wants mail */
export function openedStack(template: Template, name = "Shop", isConfirmed = true) {
  const database = openDatabase(":memory:");
  const clock = createClock({ start: START, ticking: false });
  const stack = openStack({ name, template }, { clock, database, ids: systemIds, log: () => undefined });
  const outbox = openOutbox(database);
  stack.topics.askToConfirm("http://127.0.0.1:3000");
  for (const { body } of isConfirmed ? outbox.list({ limit: 100 }) : []) stack.topics.confirm(LINK.exec(body!)![1]!);
  outbox.clear();
  return { ...stack, clock, mails: () => outbox.list({ limit: 1_000 }).map(({ title }) => title) };
}

/** What becomes of the mail of an alarm that tells a topic. */
export const mailOf = (template: Template, topic: string): Published =>
  openedStack(template).topics.publish(topic, { subject: "An alarm", body: "It rings." });

/** An answer of SNS, as its query protocol has it. */
function xmlOf(action: string, answer: Wire): string {
  const members = (answer.Subscriptions as Record<string, string>[]).map(
    (fields) =>
      `<member>${Object.entries(fields)
        .map(([name, value]) => `<${name}>${value.replaceAll("&", "&amp;")}</${name}>`)
        .join("\n")}</member>`,
  );
  const result = `<Subscriptions>${members.join("\n")}</Subscriptions>`;
  return `<${action}Response xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><${action}Result>${result}</${action}Result></${action}Response>`;
}

interface AccountOptions {
  stackName: string;
  /** Ids of alarms whose names are not of the stack. */
  others: string[];
  isConfirmed: boolean;
}

export async function alarmAccount(
  template: Template,
  { stackName, others, isConfirmed }: AccountOptions,
): Promise<AlarmAccount> {
  const asked: AskedRequest[] = [];
  const ofOthers = Object.fromEntries(
    others.map((id) => [
      id,
      {
        Type: "AWS::CloudWatch::Alarm",
        Properties: { Threshold: 0, EvaluationPeriods: 1, ComparisonOperator: "GreaterThanThreshold" },
      },
    ]),
  );
  const Resources = { ...template.Resources, ...ofOthers };
  const { alarms, mails } = openedStack({ ...template, Resources }, stackName, isConfirmed);
  const server = createServer(async (request, response) => {
    const { "x-amz-target": target, authorization } = request.headersDistinct;
    const body = await buffer(request);
    if (target === undefined) {
      const { Action = "", ...input } = Object.fromEntries(new URLSearchParams(body.toString()));
      asked.push({ target: Action, authorization: authorization?.[0] });
      response.writeHead(200).end(xmlOf(Action, await alarms.operate(Action, input)));
      return;
    }
    asked.push({ target: target[0], authorization: authorization?.[0] });
    const services = { cloudwatch: alarms } as unknown as Services;
    const headers = { "x-amz-target": String(target) };
    const answer = await handleAwsRequest(services, {
      method: "POST",
      path: "/",
      headers,
      body,
    });
    response.writeHead(answer.status).end(answer.body);
  });
  const port = await listenOnLoopback(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    asked,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
