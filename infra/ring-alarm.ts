// The alarms of a deployment: their states, and a test that one of them mails.
import type { Monitoring } from "./monitoring.ts";

export interface SeenAlarm {
  /** The id of the alarm in infra/alarms.ts. */
  name: string;
  state: "OK" | "ALARM" | "INSUFFICIENT_DATA";
  /** Why nobody would be mailed; `null` where somebody would. */
  mails_nobody: string | null;
  lost: string;
}

interface MetricAlarm {
  AlarmName: string;
  StateValue: SeenAlarm["state"];
  ActionsEnabled?: boolean;
  AlarmActions?: string[];
  AlarmDescription?: string;
}

interface Subscription {
  /** `PendingConfirmation` until its link was opened. */
  SubscriptionArn?: string;
  Endpoint?: string;
}

type StackAlarm = SeenAlarm & { fullName: string };

const REASON = "A test by the operator: npm run operate -- alarms ring.";

const PENDING = "PendingConfirmation";

export interface AlarmsRequest {
  ring?: string;
}

/** All alarms, or the name of the one that was rung. @throws an error where it cannot ring */
export async function lookAfterAlarms(
  monitoring: Monitoring,
  stackName: string,
  { ring }: AlarmsRequest,
): Promise<SeenAlarm[] | { rung: string }> {
  if (ring === undefined) return seeAlarms(monitoring, stackName);
  await ringAlarm(monitoring, stackName, ring);
  return { rung: ring };
}

/** All alarms of a deployment, by name. */
async function seeAlarms(monitoring: Monitoring, stackName: string): Promise<SeenAlarm[]> {
  const found = await alarmsOf(monitoring, stackName);
  return found.map(({ fullName: _, ...alarm }) => alarm);
}

/**
 * Sets the state of an alarm, whose actions then run; CloudWatch sets it back when it next looks at the metric.
 * @throws an error where there is no such alarm, where it rings already, and where it mails nobody
 */
async function ringAlarm(monitoring: Monitoring, stackName: string, name: string): Promise<void> {
  const alarms = await alarmsOf(monitoring, stackName);
  const alarm = alarms.find((candidate) => candidate.name === name || candidate.fullName === name);
  if (!alarm) {
    const known = alarms.map((declared) => declared.name).join(", ") || "none";
    throw new Error(`${stackName} has no alarm ${name} in this account and region. There are: ${known}.`);
  }
  if (alarm.mails_nobody !== null) throw new Error(`${alarm.name} mails nobody: ${alarm.mails_nobody}.`);
  // Its actions run when the state changes.
  if (alarm.state === "ALARM") throw new Error(`${alarm.name} rings already.`);

  await monitoring("SetAlarmState", { AlarmName: alarm.fullName, StateValue: "ALARM", StateReason: REASON });
}

async function alarmsOf(monitoring: Monitoring, stackName: string): Promise<StackAlarm[]> {
  const request = { AlarmNamePrefix: `${stackName}-`, AlarmTypes: ["MetricAlarm"] };
  const found = await everyPage<MetricAlarm>(monitoring, "DescribeAlarms", request, "MetricAlarms");
  const ofStack = found.filter(({ AlarmName }) => nameOf(stackName, AlarmName) !== undefined);
  const topics = new Set(ofStack.flatMap(({ AlarmActions = [] }) => AlarmActions));
  const silence = new Map<string, string | null>();
  for (const topic of topics) silence.set(topic, await silenceOf(monitoring, topic));

  return ofStack
    .map((alarm): StackAlarm => {
      const { AlarmName: fullName, StateValue: state, AlarmDescription: lost = "" } = alarm;
      return { name: nameOf(stackName, fullName)!, fullName, state, mails_nobody: whyNobody(alarm, silence), lost };
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** CloudFormation names an alarm `<stackName>-<logical id>-<letters>`; the CDK ends a logical id with eight of a hash. */
const nameOf = (stackName: string, fullName: string): string | undefined =>
  /^([A-Za-z]+)Alarm[0-9A-F]{8}-[A-Za-z0-9]+$/.exec(fullName.slice(stackName.length + 1))?.[1];

function whyNobody({ ActionsEnabled, AlarmActions = [] }: MetricAlarm, silence: Map<string, string | null>) {
  if (ActionsEnabled === false) return "its actions are switched off";
  if (AlarmActions.length === 0) return "set alarmEmail (docs/deploy.md)";
  const reasons = AlarmActions.map((topic) => silence.get(topic) ?? null);
  return reasons.includes(null) ? null : reasons[0]!;
}

/** Why a topic mails nobody; `null` where an address has confirmed. */
async function silenceOf(monitoring: Monitoring, topic: string): Promise<string | null> {
  const subscriptions = await everyPage<Subscription>(
    monitoring,
    "ListSubscriptionsByTopic",
    { TopicArn: topic },
    "Subscriptions",
  );
  if (subscriptions.some(({ SubscriptionArn = "" }) => SubscriptionArn.startsWith("arn:"))) return null;
  const pending = subscriptions.find(({ SubscriptionArn }) => SubscriptionArn === PENDING);
  if (pending) return `${pending.Endpoint} has not confirmed its subscription: open the link in the mail of AWS`;
  return "nobody is subscribed to its topic: AWS drops an address that does not confirm in time (docs/operate.md)";
}

async function everyPage<T>(
  monitoring: Monitoring,
  operation: "DescribeAlarms" | "ListSubscriptionsByTopic",
  request: object,
  member: string,
): Promise<T[]> {
  const all: T[] = [];
  let NextToken: string | undefined;
  do {
    const input = { ...request, ...(NextToken !== undefined && { NextToken }) };
    const page = (await monitoring(operation, input)) as Record<string, unknown>;
    all.push(...((page[member] as T[] | undefined) ?? []));
    NextToken = page.NextToken as string | undefined;
  } while (NextToken !== undefined);
  return all;
}
