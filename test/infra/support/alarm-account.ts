// An account with the alarms and the topic of the template: CloudWatch behind HTTP, and SNS, which mails or does not.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { listenOnLoopback } from "../../support/loopback.ts";
import { ofType, type Template } from "./template.ts";

type Conditions = Record<string, Record<string, unknown>>;
export interface Statement {
  Effect: string;
  Principal: { Service?: string; AWS?: string } | "*";
  Action: string | string[];
  Resource: unknown;
  Condition?: Conditions;
}

/** What CloudWatch sends, over TLS and for the account of the alarm. */
const request: Record<string, unknown> = {
  "aws:SecureTransport": "true",
  "aws:SourceAccount": { Ref: "AWS::AccountId" },
};

function covers({ Principal, Action, Resource, Condition = {} }: Statement, action: string, on: unknown): boolean {
  const service = Principal === "*" || Principal.AWS === "*" || Principal.Service === "cloudwatch.amazonaws.com";
  const actions = [Action].flat();
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  return (
    service &&
    (actions.includes(action) || actions.includes(`${action.split(":")[0]}:*`)) &&
    (Resource === "*" || isSame(Resource, on)) &&
    Object.values(Condition).every((keys) =>
      Object.entries(keys).every(([key, wanted]) => key in request && isSame(request[key], wanted)),
    )
  );
}

const allows = (statements: readonly Statement[], action: string, on: unknown): boolean =>
  statements.some((one) => one.Effect === "Allow" && covers(one, action, on)) &&
  !statements.some((one) => one.Effect === "Deny" && covers(one, action, on));

/** Why a mail of an alarm would not arrive; undefined where it does. */
export function lostMail({ Resources, ...template }: Template, topic: { Ref: string }): string | undefined {
  const all = { ...template, Resources };
  const isTopic = (given: { Ref?: string }) => given.Ref === topic.Ref;
  const addresses = ofType(all, "AWS::SNS::Subscription").filter(
    ([, { Properties }]) => isTopic(Properties.TopicArn) && Properties.Protocol === "email",
  );
  if (addresses.length === 0) return "nobody is subscribed to the topic";
  const statements = ofType(all, "AWS::SNS::TopicPolicy")
    .filter(([, { Properties }]) => Properties.Topics.some(isTopic))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement as Statement[]);
  // Without a policy of its own a topic has the default one, which lets the account publish.
  if (statements.length > 0 && !allows(statements, "sns:Publish", topic)) return "CloudWatch may not publish";

  const key = Resources[topic.Ref]?.Properties?.KmsMasterKeyId;
  if (key === undefined) return undefined;
  const [id] = key["Fn::GetAtt"] ?? [key.Ref];
  const ofKey: Statement[] = Resources[id]?.Properties.KeyPolicy.Statement ?? [];
  const may = ["kms:Decrypt", "kms:GenerateDataKey*"].every((action) => allows(ofKey, action, "*"));
  return may ? undefined : "CloudWatch may not use the key of the topic";
}

/** What CloudWatch was asked. */
interface AskedRequest {
  target: string;
  authorization: string;
  input: { AlarmName?: string; StateValue?: string; NextToken?: string };
}

interface Alarm {
  AlarmName: string;
  StateValue: string;
  ActionsEnabled: boolean;
  AlarmActions: string[];
  AlarmDescription: string;
}

export interface AlarmAccount {
  endpoint: string;
  asked: AskedRequest[];
  /** The subjects of the mails that arrived. */
  mails: string[];
  close(): Promise<void>;
}

/** @param others names of alarms that are not of the stack */
export async function alarmAccount(template: Template, stackName: string, others: string[]): Promise<AlarmAccount> {
  const [asked, mails]: [AskedRequest[], string[]] = [[], []];
  const named = (AlarmName: string, AlarmActions: string[], AlarmDescription = ""): Alarm => ({
    AlarmName,
    StateValue: "OK",
    ActionsEnabled: true,
    AlarmActions,
    AlarmDescription,
  });
  const alarms = [
    ...ofType(template, "AWS::CloudWatch::Alarm").map(([id, { Properties }]) =>
      named(
        `${stackName}-${id}-Ab3xYz9QwErT`,
        (Properties.AlarmActions ?? []).map(({ Ref }: { Ref: string }) => Ref),
        Properties.AlarmDescription,
      ),
    ),
    ...others.map((name) => named(name, [])),
  ];

  const describe = ({ NextToken }: AskedRequest["input"]) => {
    const half = Math.ceil(alarms.length / 2);
    return NextToken === undefined
      ? { MetricAlarms: alarms.slice(0, half), NextToken: "more" }
      : { MetricAlarms: alarms.slice(half) };
  };
  const setState = ({ AlarmName, StateValue = "" }: AskedRequest["input"]) => {
    const alarm = alarms.find((one) => one.AlarmName === AlarmName);
    if (!alarm) return undefined;
    const isNew = alarm.StateValue !== StateValue;
    alarm.StateValue = StateValue;
    const arrived = alarm.AlarmActions.filter((topic) => lostMail(template, { Ref: topic }) === undefined);
    if (isNew) mails.push(...arrived.map(() => `${StateValue}: ${alarm.AlarmName}`));
    return {};
  };

  const server = createServer(async (request, response) => {
    const { "x-amz-target": target, authorization = "" } = request.headers;
    const input = (await json(request)) as AskedRequest["input"];
    asked.push({ target: String(target), authorization, input });
    const answer = String(target).endsWith(".DescribeAlarms") ? describe(input) : setState(input);
    response.writeHead(answer ? 200 : 400).end(JSON.stringify(answer ?? { __type: "ResourceNotFound" }));
  });
  const port = await listenOnLoopback(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    asked,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
