// Alarms and saved queries of the template: each failure that a user would notice has one (RDA-19).
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contents } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { counted, NAMESPACE } from "../../shared/runtime/metrics.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import {
  deployed,
  ofType,
  only,
  standardContents,
  type Template,
  textOf,
  whole,
  wholeUnderRules,
} from "./support/template.ts";

const template: Template = deployed();

interface CloudWatchMetric {
  Namespace: string;
  MetricName: string;
  Dimensions: { Name: string; Value: unknown }[];
}

describe("alarms", () => {
  it("each say what a human loses", () => {
    for (const { AlarmDescription } of only("AWS::CloudWatch::Alarm")) {
      expect(AlarmDescription.length).toBeGreaterThan(60);
      expect(AlarmDescription).toMatch(/^[A-Z].*\.$/);
    }
  });

  it("say after how many hours the records of the stream go to a bucket, as its event source does (D-HEALTH)", () => {
    const [alarm] = only("AWS::CloudWatch::Alarm").filter(({ MetricName }) => MetricName === "IteratorAge");
    const ages = only("AWS::Lambda::EventSourceMapping").flatMap(({ MaximumRecordAgeInSeconds: age }) => age ?? []);
    expect(ages.map((age) => `After ${age / 3_600} hours the records go to a bucket`)).toEqual([
      expect.stringMatching(new RegExp(/After \d+ hours the records go to a bucket/.exec(alarm!.AlarmDescription)![0])),
    ]);
  });

  it("watch every dead-letter queue, late reactions, failing answers, throttling and live streams", () => {
    const metrics = only("AWS::CloudWatch::Alarm").map(({ MetricName }) => MetricName);
    const dead = metrics.filter((name) => name === "ApproximateNumberOfMessagesVisible");
    expect(dead).toHaveLength(standardContents.workers.length);
    for (const name of ["IteratorAge", "5xx", "Throttles", "TargetErrorCount", "ConcurrentExecutions"])
      expect(metrics).toContain(name);
    const late = metrics.filter((name) => name === "ApproximateAgeOfOldestMessage");
    expect(late).toHaveLength(standardContents.workers.length - 1);
    const [[, edge] = []] = ofType(template, "AWS::CloudWatch::Alarm").filter(([id]) => id.startsWith("EdgeFails"));
    expect(template.Conditions[edge!.Condition!]).toEqual({ "Fn::Equals": [{ Ref: "AWS::Region" }, "us-east-1"] });
  });

  it("the edge's alarm rings at failures among many requests, not at one of a few (D-HEALTH)", () => {
    const [[, edge] = []] = ofType(template, "AWS::CloudWatch::Alarm").filter(([id]) => id.startsWith("EdgeFails"));
    const { Threshold, Metrics } = edge!.Properties;
    const [rate, ...measured] = Metrics;
    expect([Threshold, rate.Expression]).toEqual([5, "IF(requests >= 100, failed, 0)"]);
    expect(
      measured.map(({ Id, MetricStat }: { Id: string; MetricStat: { Metric: CloudWatchMetric; Stat: string } }) => [
        Id,
        MetricStat.Metric.MetricName,
        MetricStat.Stat,
      ]),
    ).toEqual([
      ["requests", "Requests", "Sum"],
      ["failed", "5xxErrorRate", "Average"],
    ]);
  });

  it("alarms ring at what is near a limit: concurrency, throttles, late work, mails that bounce, money (D-HEALTH)", () => {
    const alarms = ofType(whole(), "AWS::CloudWatch::Alarm").map(([, { Properties }]) => Properties);
    const thresholdsOf = (metric: string) => [
      ...new Set(alarms.filter(({ MetricName }) => MetricName === metric).map(({ Threshold }) => Threshold)),
    ];
    expect(
      Object.fromEntries(
        [
          ...["ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage", "IteratorAge"],
          ...["ConcurrentExecutions", "Throttles", "TargetErrorCount"],
          ...["Reputation.BounceRate", "Reputation.ComplaintRate"],
        ].map((metric) => [metric, thresholdsOf(metric)]),
      ),
    ).toEqual({
      ApproximateNumberOfMessagesVisible: [0],
      ApproximateAgeOfOldestMessage: [1_800],
      IteratorAge: [300_000, 1_800_000],
      ConcurrentExecutions: [400],
      Throttles: [5],
      TargetErrorCount: [0],
      "Reputation.BounceRate": [0.04],
      "Reputation.ComplaintRate": [0.0008],
    });
    const { Metrics: ofTable } = alarms.find(({ AlarmDescription }) => AlarmDescription.startsWith("DynamoDB"));
    const [sum, ...throttles] = ofTable;
    // An index that refuses a write refuses its item, and CloudWatch counts that under the index alone.
    expect(
      throttles.map(({ MetricStat: { Metric } }: { MetricStat: { Metric: CloudWatchMetric } }) => [
        Metric.MetricName,
        Metric.Dimensions.find(({ Name }) => Name === "GlobalSecondaryIndexName")?.Value,
      ]),
    ).toEqual([
      ["ReadThrottleEvents", undefined],
      ["WriteThrottleEvents", undefined],
      ...Object.values(tableDefinition.indexes).map(({ name }) => ["WriteThrottleEvents", name]),
    ]);
    // Without data an alarm of DynamoDB keeps its state: it would ring for ever.
    expect(sum.Expression.split(" + ")).toEqual(throttles.map(({ Id }: { Id: string }) => `FILL(${Id}, 0)`));
    const group = ofType(whole(), "AWS::Scheduler::ScheduleGroup")[0]![1].Properties.Name;
    expect(alarms.find(({ MetricName }) => MetricName === "TargetErrorCount").Dimensions).toEqual([
      { Name: "ScheduleGroup", Value: group },
    ]);
    const { Properties: budget } = ofType(whole(), "AWS::Budgets::Budget")[0]![1];
    expect(budget.Budget.BudgetLimit).toEqual({ Amount: 50, Unit: "USD" });
    expect(
      budget.NotificationsWithSubscribers.map(
        ({ Notification }: { Notification: { NotificationType: string; Threshold: number } }) => [
          Notification.NotificationType,
          Notification.Threshold,
        ],
      ),
    ).toEqual([
      ["ACTUAL", 80],
      ["FORECASTED", 100],
    ]);
  });

  it("alarms ring for live streams that Lambda counts as served: by what the function logs (RDA-19)", () => {
    const sums = only("AWS::CloudWatch::Alarm").flatMap(({ Metrics = [], Threshold }) => {
      const parts = Metrics.flatMap(({ MetricStat }: { MetricStat?: { Metric: CloudWatchMetric } }) =>
        MetricStat ? [MetricStat.Metric] : [],
      );
      return parts.some(({ Namespace }: CloudWatchMetric) => Namespace === NAMESPACE) ? [[Threshold, parts]] : [];
    });
    const shown = sums.map(([threshold, parts]) => [
      threshold,
      ...parts.map(({ MetricName, Dimensions: [dimension] }: CloudWatchMetric) => [
        MetricName,
        ...(dimension?.Name === "FunctionName" ? [] : [dimension?.Name, dimension?.Value]),
      ]),
    ]);
    expect(shown).toEqual([
      [5, ["Errors"], ["StreamsNotOpened", "Status", "500"], ["StreamsBroken", "Level", "warn"]],
      [0, ["Throttles"], ["StreamsNotOpened", "Status", "503"]],
    ]);
    // What a line of the log becomes has the same name and dimension.
    for (const [, ...names] of shown)
      for (const [MetricName, dimension] of names.slice(1))
        expect(Object.values(counted)).toContainEqual(
          expect.objectContaining({ metric: MetricName, by: dimension.toLowerCase() }),
        );
  });

  it("watch eighteen metrics and two a queue, which docs/deploy.md says the price of", () => {
    const metrics = only("AWS::CloudWatch::Alarm").flatMap(({ Metrics }) =>
      Metrics ? Metrics.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat) : [1],
    );
    expect(metrics).toHaveLength(18 + 2 * (standardContents.workers.length - 1));
  });

  it("alarms have a line in docs/operate.md each, which says where to look and what to do (D-HEALTH)", () => {
    const ids = ofType(whole(), "AWS::CloudWatch::Alarm").map(([id]) => id.replace(/Alarm[0-9A-F]{8}$/, ""));
    const ofQueues = new Set(contents.workers.map(({ name }) => logicalIdOf(name)));
    const kinds = ids.map((id) => {
      const [, worker = "", kind] = /^(.+?)(Dead|Late)$/.exec(id) ?? [];
      return ofQueues.has(worker) ? `<Worker>${kind}` : id;
    });
    const page = readFileSync(new URL("../../docs/operate.md", import.meta.url), "utf8");
    const [, table = ""] = page.split("| alarm | look at | then |");
    const lines = table.split("\n\n")[0]!.split("\n").slice(2);
    const named = lines.flatMap((line) => line.split("|")[1]!.match(/[<>\w]+/g) ?? []);

    expect(named.sort()).toEqual([...new Set(kinds)].sort());
  });

  it("alarms write to an address if there is one; cdk-nag has nothing against the whole", () => {
    expect(only("AWS::CloudWatch::Alarm").flatMap(({ AlarmActions = [] }) => AlarmActions)).toEqual([]);
    const mailing = wholeUnderRules();
    const [, subscription] = ofType(mailing, "AWS::SNS::Subscription")[0]!;
    expect(subscription.Properties).toMatchObject({ Protocol: "email", Endpoint: "ops@example.com" });
    for (const [, { Properties }] of ofType(mailing, "AWS::CloudWatch::Alarm"))
      expect(Properties.AlarmActions).toHaveLength(1);
  });
});

it("queries of the logs are saved: 50 log groups at most each, all functions together (RDA-19)", () => {
  const queries = only("AWS::Logs::QueryDefinition");
  const groups = queries.flatMap(({ LogGroupNames }) => LogGroupNames.map(textOf));
  for (const { LogGroupNames } of queries) expect(LogGroupNames.length).toBeLessThanOrEqual(50);
  expect(new Set(groups).size).toBe(ofType(template, "AWS::Lambda::Function").length);
  const ofRequests = queries.find(({ Name }) => Name === "Engagement/one-request");
  expect(ofRequests!.QueryString).toContain('filter request_id = "REQUEST_ID"');
  for (const { QueryString } of queries)
    for (const field of ["request_id", "tenant", "route", "worker", "message_id", "error"])
      expect(QueryString).toMatch(new RegExp(`^fields .*\\b${field}\\b`));
});
