// The topics of SNS in a template: a policy decides who may publish, and an address gets mail once it has confirmed that it wants it.
import { createHash } from "node:crypto";
import { ACCOUNT } from "./lambda.ts";
import type { State } from "./state.ts";
import { ofType, type Template, textIn } from "./template.ts";

export interface Statement {
  Effect: string;
  Principal: { Service?: string; AWS?: string } | "*";
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

interface Subscription {
  token: string;
  topic: string;
  address: string;
}

export interface Topics {
  /** Mails a message that CloudWatch publishes. @returns the addresses, or why no address gets it */
  publish(topic: string, mail: TopicMail): Published;
  /** The addresses of a topic, and which of them get its mails. */
  subscriptionsOf(topic: string): { address: string; isConfirmed: boolean }[];
  /** Mails every address that has not confirmed a link to do so. */
  askToConfirm(baseUrl: string): void;
  /** @returns the address that is confirmed by the token of its link; undefined where there is none */
  confirm(token: string): string | undefined;
}

export type Published = { kind: "mailed"; to: string[] } | { kind: "lost"; reason: string };

interface TopicMail {
  subject: string;
  body: string;
}

/** The keys of a request by CloudWatch: over TLS and for the account of the alarm. */
const request: Readonly<Record<string, string>> = { "aws:SecureTransport": "true", "aws:SourceAccount": ACCOUNT };

const SENDER = "AWS Notifications <no-reply@sns.amazonaws.com>";

export function createTopics(
  template: Template,
  state: Pick<State, "read" | "write">,
  deliver: (source: string, to: string) => void,
): Topics {
  const subscriptions = ofType(template, "AWS::SNS::Subscription").flatMap(([, given]): Subscription[] => {
    const [topic, address] = [textIn(given.TopicArn), textIn(given.Endpoint)];
    const token = createHash("sha256").update(`${topic} ${address}`).digest("hex");
    return given.Protocol === "email" ? [{ token, topic, address }] : [];
  });
  const confirmed = () => state.read<string[]>("subscriptions") ?? [];

  const mail = (to: string, { subject, body }: TopicMail) =>
    deliver([`From: ${SENDER}`, `To: ${to}`, `Subject: ${subject}`, "", body].join("\r\n"), to);

  const topics: Topics = {
    publish: (topic, letter) => {
      const refusal = refusalOf(template, topic);
      if (refusal !== undefined) return { kind: "lost", reason: refusal };
      const of = topics.subscriptionsOf(topic);
      if (of.length === 0) return { kind: "lost", reason: "nobody is subscribed to the topic" };
      const to = of.filter(({ isConfirmed }) => isConfirmed).map(({ address }) => address);
      if (to.length === 0) return { kind: "lost", reason: `${of[0]!.address} has not confirmed its subscription` };

      for (const address of to) mail(address, letter);
      return { kind: "mailed", to };
    },
    subscriptionsOf: (topic) =>
      subscriptions
        .filter((subscription) => subscription.topic === topic)
        .map(({ token, address }) => ({ address, isConfirmed: confirmed().includes(token) })),
    askToConfirm: (baseUrl) => {
      for (const { token, topic, address } of subscriptions.filter(
        (subscription) => !confirmed().includes(subscription.token),
      ))
        mail(address, {
          subject: "AWS Notification - Subscription Confirmation",
          body: `You have chosen to subscribe to the topic ${topic}. To confirm, open:\n${baseUrl}/_local/subscriptions/${token}`,
        });
    },
    confirm: (token) => {
      const found = subscriptions.find((subscription) => subscription.token === token);
      if (found) state.write("subscriptions", [...new Set([...confirmed(), token])]);
      return found?.address;
    },
  };
  return topics;
}

/** Why CloudWatch may not publish to a topic; undefined if it may. */
function refusalOf(template: Template, topic: string): string | undefined {
  const policies = ofType(template, "AWS::SNS::TopicPolicy").filter(([, { Topics }]) =>
    (Topics as unknown[]).map(textIn).includes(topic),
  );
  const statements = policies.flatMap(([, { PolicyDocument }]) => statementsOf(PolicyDocument));
  // Without a policy of its own a topic has the default one, which lets the account publish.
  if (statements.length > 0 && !allows(statements, "sns:Publish", topic)) return "CloudWatch may not publish";

  const key = template.Resources[topic]?.Properties?.KmsMasterKeyId;
  if (key === undefined) return undefined;
  const ofKey = statementsOf(template.Resources[textIn(key).split(".")[0]!]?.Properties?.KeyPolicy);
  const may = ["kms:Decrypt", "kms:GenerateDataKey*"].every((action) => allows(ofKey, action, "*"));
  return may ? undefined : "CloudWatch may not use the key of the topic";
}

const statementsOf = (policy: unknown): Statement[] =>
  (policy as { Statement: Statement[] } | undefined)?.Statement ?? [];

const allows = (statements: readonly Statement[], action: string, on: string): boolean =>
  statements.some((statement) => statement.Effect === "Allow" && covers(statement, action, on)) &&
  !statements.some((statement) => statement.Effect === "Deny" && covers(statement, action, on));

function covers({ Principal, Action, Resource, Condition = {} }: Statement, action: string, on: string): boolean {
  const isFor = Principal === "*" || Principal.AWS === "*" || Principal.Service === "cloudwatch.amazonaws.com";
  const actions = [Action].flat();
  return (
    isFor &&
    (actions.includes(action) || actions.includes(`${action.split(":")[0]}:*`)) &&
    ["*", on].includes(textIn(Resource)) &&
    Object.values(Condition).every((keys) =>
      Object.entries(keys).every(([key, wanted]) => request[key] === textIn(wanted)),
    )
  );
}
