// The alarms of a deployment: their states, and a test that one of them mails.
import type { CloudWatch } from "./cloudwatch.ts";

export interface SeenAlarm {
  /** As in infra/alarms.ts. */
  name: string;
  state: "OK" | "ALARM" | "INSUFFICIENT_DATA";
  /** It notifies somebody. */
  mails: boolean;
  lost: string;
}

interface MetricAlarm {
  AlarmName: string;
  StateValue: SeenAlarm["state"];
  ActionsEnabled?: boolean;
  AlarmActions?: string[];
  AlarmDescription?: string;
}

type StackAlarm = SeenAlarm & { fullName: string };

const REASON = "A test by the operator: npm run operate -- alarms ring.";

export interface AlarmsRequest {
  ring?: string;
}

/** All alarms, or the name of the one that was rung. @throws an error where it cannot ring */
export async function lookAfterAlarms(
  cloudWatch: CloudWatch,
  stackName: string,
  { ring }: AlarmsRequest,
): Promise<SeenAlarm[] | { rung: string }> {
  if (ring === undefined) return seeAlarms(cloudWatch, stackName);
  await ringAlarm(cloudWatch, stackName, ring);
  return { rung: ring };
}

/** All alarms of a deployment, by name. */
async function seeAlarms(cloudWatch: CloudWatch, stackName: string): Promise<SeenAlarm[]> {
  const found = await alarmsOf(cloudWatch, stackName);
  return found.map(({ fullName: _, ...alarm }) => alarm);
}

/**
 * Sets the state of an alarm, whose actions then run; CloudWatch sets it back when it next looks at the metric.
 * @throws an error where there is no such alarm, where it rings already, and where it notifies nobody
 */
async function ringAlarm(cloudWatch: CloudWatch, stackName: string, name: string): Promise<void> {
  const alarms = await alarmsOf(cloudWatch, stackName);
  const alarm = alarms.find((candidate) => candidate.name === name || candidate.fullName === name);
  if (!alarm) {
    const known = alarms.map((declared) => declared.name).join(", ") || "none";
    throw new Error(`${stackName} has no alarm ${name} in this account and region. There are: ${known}.`);
  }
  if (!alarm.mails) throw new Error(`${alarm.name} notifies nobody: set alarmEmail (docs/deploy.md).`);
  // Its actions run when the state changes.
  if (alarm.state === "ALARM") throw new Error(`${alarm.name} rings already.`);

  await cloudWatch("SetAlarmState", { AlarmName: alarm.fullName, StateValue: "ALARM", StateReason: REASON });
}

async function alarmsOf(cloudWatch: CloudWatch, stackName: string): Promise<StackAlarm[]> {
  const found: StackAlarm[] = [];
  let NextToken: string | undefined;
  do {
    const request = { AlarmNamePrefix: `${stackName}-`, AlarmTypes: ["MetricAlarm"], ...(NextToken && { NextToken }) };
    const page = (await cloudWatch("DescribeAlarms", request)) as { MetricAlarms?: MetricAlarm[]; NextToken?: string };
    found.push(...(page.MetricAlarms ?? []).flatMap((alarm) => seen(stackName, alarm)));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

/** CloudFormation names an alarm `<stackName>-<logical id>-<letters>`; the CDK ends a logical id with eight of a hash. */
function seen(stackName: string, alarm: MetricAlarm): StackAlarm[] {
  const { AlarmName: fullName, StateValue: state, AlarmDescription: lost = "" } = alarm;
  const [, name] = /^([A-Za-z]+)Alarm[0-9A-F]{8}-[A-Za-z0-9]+$/.exec(fullName.slice(stackName.length + 1)) ?? [];
  if (name === undefined) return [];
  const mails = alarm.ActionsEnabled !== false && (alarm.AlarmActions ?? []).length > 0;
  return [{ name, fullName, state, mails, lost }];
}
