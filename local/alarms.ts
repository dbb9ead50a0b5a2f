// CloudWatch of a template: alarms that watch what our log counts, and tell a topic when they begin to ring.
import { type Clock, MINUTE, SECOND, timestamp } from "../shared/kernel/clock.ts";
import type { LogEntry } from "../shared/kernel/deps.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import { withMetrics } from "../shared/runtime/metrics.ts";
import { type AccountMetrics, type Counted, countAccount } from "./account-metrics.ts";
import {
  comparisons,
  countedAs,
  type Definition,
  keyOfCounted,
  keyOfMetric,
  metricsOf,
  type Point,
  pointsOf,
  valueIn,
} from "./alarm-metrics.ts";
import { awsFailure, type Database, type StandIn, type Wire } from "./aws/index.ts";
import { ACCOUNT } from "./lambda.ts";
import { openOutbox } from "./outbox.ts";
import { itemOf } from "./providers/mail.ts";
import { record } from "./providers/sink.ts";
import { openState } from "./state.ts";
import { createParameters, type LocalStack, ofType, textIn } from "./template.ts";
import { createTopics, type Published, type Topics } from "./topics.ts";

interface Alarm {
  name: string;
  definition: Definition;
  state: "OK" | "ALARM" | "INSUFFICIENT_DATA";
  reason: string;
  since: number;
  /** The time until which a state that was set by hand stays, in milliseconds. */
  setUntil: number;
  /** The result of its last mail. */
  last?: Published;
}

/** An alarm that has rung, as testers see it. */
interface SeenAlarm {
  name: string;
  state: Alarm["state"];
  since: string;
  reason: string;
  mailed_to: string[];
  /** Why no mail was sent; `null` if one was. */
  lost: string | null;
}

interface Alarms extends StandIn {
  /** Counts a line of the log, if it carries a metric. */
  count(entry: LogEntry): void;
  /** Counts what AWS itself counts. */
  record(counted: Counted): void;
  /** The alarms that are or were in another state than OK. */
  seen(): SeenAlarm[];
}

/** The answer to one DescribeAlarms. */
const PAGE = 50;

interface StackDeps {
  clock: Clock;
  ids: Ids;
  database: Database;
  log(entry: LogEntry): void;
}

/** The additions of a synthesized stack to the service: alarms, whose mails are in the outbox, and parameters. */
export interface OpenedStack {
  alarms: Alarms;
  topics: Topics;
  parameters: StandIn;
  /** What AWS itself counts. */
  metrics: AccountMetrics;
  /** Logs an entry, and counts its metrics. */
  log(entry: LogEntry): void;
}

export function openStack(stack: LocalStack, { clock, ids, database, log }: StackDeps): OpenedStack {
  const outbox = openOutbox(database);
  const topics = createTopics(stack.template, openState(database), (source, to) => {
    record({ clock, ids, outbox, faults: { take: () => undefined } }, itemOf(source, to));
  });
  const metrics = countAccount({ now: clock.now, count: (counted) => alarms.record(counted) });
  const alarms = createAlarms(stack, { clock, topics, log, lookAtAccount: metrics.look });
  const logAndCount = (entry: LogEntry) => {
    log(entry);
    alarms.count(entry);
  };
  return { alarms, topics, metrics, parameters: createParameters(stack), log: logAndCount };
}

interface AlarmDeps {
  clock: Pick<Clock, "now">;
  topics: Pick<Topics, "publish" | "subscriptionsOf">;
  log(entry: LogEntry): void;
  /** Counts what has to be looked at, such as a queue. */
  lookAtAccount(): void;
}

function createAlarms(stack: LocalStack, { clock, topics, log, lookAtAccount }: AlarmDeps): Alarms {
  const { name: stackName, template } = stack;
  const points = new Map<string, Point[]>();
  const definitions = ofType(template, "AWS::CloudWatch::Alarm").map(([, given]) => given as unknown as Definition);
  const watched = new Set(
    definitions.flatMap((definition) => metricsOf(definition).map(({ metric }) => keyOfMetric(metric))),
  );
  const longest = Math.max(
    ...definitions.flatMap((definition) =>
      metricsOf(definition).map(({ Period }) => Period * definition.EvaluationPeriods),
    ),
  );
  const alarms = ofType(template, "AWS::CloudWatch::Alarm").map(([id], n): Alarm => {
    // CloudFormation adds random letters to the name; these are constant.
    const name = `${stackName}-${id}-Local0000000`;
    return { name, definition: definitions[n]!, state: "OK", reason: "", since: clock.now(), setUntil: 0 };
  });

  const become = (alarm: Alarm, state: Alarm["state"], reason: string) => {
    if (alarm.state === state) return;
    Object.assign(alarm, { state, reason, since: clock.now() });
    const { AlarmActions = [], ActionsEnabled = true } = alarm.definition;
    if (state !== "ALARM" || !ActionsEnabled) return;
    const told = AlarmActions.map((topic) => topics.publish(textIn(topic), letterOf(alarm)));
    alarm.last = told.find(({ kind }) => kind === "lost") ?? told[0] ?? NOBODY;
    if (alarm.last.kind === "lost")
      log({ level: "warn", message: "an alarm mailed nobody", alarm: alarm.name, reason: alarm.last.reason });
  };

  const look = (alarm: Alarm) => {
    const now = clock.now();
    if (now < alarm.setUntil) return;
    const {
      EvaluationPeriods,
      DatapointsToAlarm = EvaluationPeriods,
      Threshold,
      ComparisonOperator,
    } = alarm.definition;
    const values = Array.from({ length: EvaluationPeriods }, (_, n) => valueIn(alarm.definition, points, now, n));
    const breaching = values.filter(
      (value) => value !== undefined && comparisons[ComparisonOperator]?.(value, Threshold),
    );
    const isRinging = breaching.length >= DatapointsToAlarm;
    become(
      alarm,
      isRinging ? "ALARM" : "OK",
      `Threshold Crossed: ${breaching.join(", ") || "none"} (${ComparisonOperator} ${Threshold}).`,
    );
  };
  const lookAtAll = () => alarms.forEach(look);
  const lookAnew = () => {
    lookAtAccount();
    lookAtAll();
  };

  /** The metrics of the template by what is counted in the account, and the alarms that watch them. */
  const ofAccount = Map.groupBy(
    alarms.flatMap((alarm) =>
      metricsOf(alarm.definition).map(({ metric }) => ({
        alarm,
        key: keyOfMetric(metric),
        as: countedAs(stack, metric),
      })),
    ),
    ({ as }) => as,
  );
  const add = (key: string, point: Point) => {
    const oldest = clock.now() - longest * SECOND;
    points.set(key, [...(points.get(key) ?? []).filter(({ at }) => at > oldest), point]);
  };

  const operations: Record<string, (input: Wire) => Wire> = {
    DescribeAlarms: ({ AlarmNamePrefix: prefix = "", AlarmNames: names, NextToken = 0 }) => {
      lookAnew();
      const asked = alarms.filter(({ name }) =>
        Array.isArray(names) ? names.includes(name) : name.startsWith(String(prefix)),
      );
      const end = Number(NextToken) + PAGE;
      const MetricAlarms = asked.slice(end - PAGE, end).map(described);
      return { MetricAlarms, ...(end < asked.length && { NextToken: String(end) }) };
    },
    ListSubscriptionsByTopic: ({ TopicArn }) => ({
      Subscriptions: topics.subscriptionsOf(String(TopicArn)).map(({ address, isConfirmed }) => ({
        TopicArn,
        Protocol: "email",
        Endpoint: address,
        SubscriptionArn: isConfirmed ? `arn:aws:sns:local:${ACCOUNT}:${TopicArn}:${address}` : "PendingConfirmation",
      })),
    }),
    SetAlarmState: ({ AlarmName, StateValue, StateReason }) => {
      const alarm = alarms.find(({ name }) => name === AlarmName);
      if (!alarm) throw awsFailure("ResourceNotFound", `There is no alarm ${AlarmName}.`, { status: 404 });
      alarm.setUntil = clock.now() + MINUTE;
      become(alarm, StateValue as Alarm["state"], String(StateReason));
      return {};
    },
  };

  return {
    count: (entry) => {
      const counted = pointsOf(withMetrics(entry, clock.now())).filter(([key]) => watched.has(key));
      if (counted.length === 0) return;
      for (const [key, point] of counted) add(key, point);
      lookAtAll();
    },
    record: (counted) => {
      const watching = ofAccount.get(keyOfCounted(counted)) ?? [];
      for (const key of new Set(watching.map((watched) => watched.key)))
        add(key, { at: clock.now(), value: counted.value });
      for (const { alarm } of watching) look(alarm);
    },
    seen: () => {
      lookAnew();
      return alarms.filter(({ reason }) => reason !== "").map(shown);
    },
    operate: async (operation, input) => {
      const run = operations[operation];
      if (!run) throw awsFailure("UnknownOperationException", `${operation} is not imitated.`);
      return run(input);
    },
  };
}

const NOBODY: Published = { kind: "lost", reason: "the alarm notifies nobody: synthesize with alarmEmail" };

const letterOf = ({ name, definition, reason, since }: Alarm) => ({
  subject: `ALARM: "${name}" in the local service`,
  body: `The alarm "${name}" has entered the ALARM state, because "${reason}" at ${timestamp(since)}.\n\n${definition.AlarmDescription ?? ""}`,
});

const described = ({ name, state, reason, definition }: Alarm) => ({
  AlarmName: name,
  StateValue: state,
  StateReason: reason,
  ActionsEnabled: definition.ActionsEnabled ?? true,
  AlarmActions: (definition.AlarmActions ?? []).map(textIn),
  AlarmDescription: definition.AlarmDescription,
});

const shown = ({ name, state, since, reason, last }: Alarm): SeenAlarm => ({
  name,
  state,
  since: timestamp(since),
  reason,
  mailed_to: last?.kind === "mailed" ? last.to : [],
  lost: last?.kind === "lost" ? last.reason : null,
});
