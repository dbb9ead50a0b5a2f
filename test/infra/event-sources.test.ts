// What triggers the workers: queues with dead-letter queues, the table's stream, the sweep.
import { describe, expect, it } from "vitest";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { logicalIdOf } from "../../infra/names.ts";
import { MAX_RECEIVES, maxConcurrency, queueNames, queues } from "../../shared/contract/messages.ts";
import { placesOf, rightsOf, statementsOf } from "./support/policies.ts";
import {
  BUS,
  deployed,
  ofType,
  publishing,
  standardContents,
  synthesize,
  type Template,
  textOf,
} from "./support/template.ts";

const template: Template = deployed();

const queueNamed = (name: string) => {
  const found = ofType(template, "AWS::SQS::Queue").find(
    ([, { Properties }]) => Properties.QueueName === `Engagement-${name}`,
  );
  return { id: found![0], ...found![1].Properties };
};
const mappingOf = (worker: string) =>
  ofType(template, "AWS::Lambda::EventSourceMapping").find(
    ([, { Properties }]) => textOf(Properties.FunctionName) === `<${logicalIdOf(worker)}>`,
  )![1].Properties;

describe.each(queueNames)("the queue %s", (name) => {
  it("a queue gives a message back after six times its worker's time, and gives it up after so many tries", () => {
    const queue = queueNamed(name);
    const dead = queueNamed(`${name}-dead`);
    const { Timeout } = template.Resources[logicalIdOf(name)]!.Properties;
    expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout);
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(MAX_RECEIVES);
    expect(textOf(queue.RedrivePolicy.deadLetterTargetArn)).toBe(`<${dead.id}.Arn>`);
    expect(dead.MessageRetentionPeriod).toBe(14 * 86_400);
    expect(dead.RedrivePolicy).toBeUndefined();
  });

  it("a queue is not stopped by the detection of loops where its worker continues in another message", () => {
    const [, role] = ofType(template, "AWS::IAM::Role").find(([id]) => id.startsWith(`${logicalIdOf(name)}Role`))!;
    const statements = role.Properties.Policies.flatMap(
      ({ PolicyDocument }: { PolicyDocument: { Statement: object[] } }) => PolicyDocument.Statement,
    ).map((statement: object) => JSON.stringify(statement));
    const own = `"${queueNamed(name).id}"`;
    const sendsToItself = statements.some((text: string) => text.includes("sqs:SendMessage") && text.includes(own));
    const { RecursiveLoop } = template.Resources[logicalIdOf(name)]!.Properties;
    expect(RecursiveLoop).toBe(sendsToItself ? "Allow" : undefined);
  });

  it("a queue is standard, so that the tenant of a message is its fair-queue group", () => {
    expect(queueNamed(name).FifoQueue).toBeUndefined();
  });

  it("a queue wakes its worker, which answers message by message", () => {
    const mapping = mappingOf(name);
    expect(textOf(mapping.EventSourceArn)).toBe(`<${queueNamed(name).id}.Arn>`);
    expect(mapping).toMatchObject({
      BatchSize: queues[name].batch,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      ScalingConfig: { MaximumConcurrency: maxConcurrency[name] ?? 10 },
    });
  });
});

it.each([
  ["100", 2],
  ["400", 8],
  ["1000", 10],
])("an account of %s invocations at once gives each queue %i (F6)", (limit, each) => {
  const { Resources } = synthesize({ context: { accountConcurrency: limit } });
  const given = Object.values(Resources).flatMap(({ Type, Properties }) =>
    Type === "AWS::Lambda::EventSourceMapping" && Properties.ScalingConfig
      ? [Properties.ScalingConfig.MaximumConcurrency]
      : [],
  );
  expect(given).toHaveLength(queueNames.length);
  expect(Math.max(...given)).toBe(each);
});

describe("the table's stream", () => {
  it("the table's stream wakes react with the items that need a reaction, halves a batch that throws, and gives up after a bound", () => {
    const mapping = mappingOf("react");
    const [table] = ofType(template, "AWS::DynamoDB::Table")[0]!;
    expect(textOf(mapping.EventSourceArn)).toBe(`<${table}.StreamArn>`);
    expect(mapping).toMatchObject({
      BisectBatchOnFunctionError: true,
      ParallelizationFactor: 10,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      StartingPosition: "TRIM_HORIZON",
      MaximumRetryAttempts: 100,
      MaximumRecordAgeInSeconds: 43_200,
    });
    expect(mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
      { dynamodb: { NewImage: { react: { S: [{ exists: true }] } } } },
    ]);
  });

  it("stores failed records in a bucket, and notifies a queue with an alarm", () => {
    const [bucket, { Properties }] = ofType(template, "AWS::S3::Bucket")[0]!;
    expect(textOf(mappingOf("react").DestinationConfig.OnFailure.Destination)).toBe(`<${bucket}.Arn>`);
    expect(Properties.NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled).toBe(true);
    const [, rule] = ofType(template, "AWS::Events::Rule")[0]!;
    expect(textOf(rule.Properties.EventPattern.detail.bucket.name[0])).toBe(`<${bucket}>`);
    expect(textOf(rule.Properties.Targets[0].Arn)).toBe(`<${queueNamed("react-dead").id}.Arn>`);
  });
});

it("no chain of messages comes back to a worker through the queue of another (OPS-1)", () => {
  const targets = new Map(
    deployedFunctions(contents).map(({ name, grants }) => [
      name,
      grants
        .filter(({ on, actions }) => on.startsWith("queue:") && actions.includes("sqs:SendMessage"))
        .map(({ on }) => on.slice("queue:".length))
        .filter((queue) => queue !== name),
    ]),
  );
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of targets.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  expect(queueNames.filter((name) => reach(name).has(name))).toEqual([]);
});

describe("the sweep", () => {
  it("the sweep comes to the due queue every five minutes", () => {
    const [, { Properties }] = ofType(template, "AWS::Scheduler::Schedule")[0]!;
    const places = placesOf(template);
    expect(Properties).toMatchObject({
      ScheduleExpression: "rate(5 minutes)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: { Input: '{"kind":"sweep"}' },
    });
    expect(textOf(Properties.Target.Arn)).toBe(places["queue:due"]);
    expect(textOf(Properties.Target.RoleArn)).toBe(places["scheduler-role"]);
  });
});

it("a copy whose workers are off is woken by no message, no write and no sweep (OPS-3)", () => {
  const wakers = (of: Template) => [
    ...ofType(of, "AWS::Lambda::EventSourceMapping").map(([, { Properties }]) => Properties.Enabled),
    ...ofType(of, "AWS::Scheduler::Schedule").map(([, { Properties }]) => Properties.State === "ENABLED"),
  ];
  expect(new Set(wakers(template))).toEqual(new Set([true]));
  expect(new Set(wakers(synthesize({ context: { workers: "off" } })))).toEqual(new Set([false]));
});

it("every worker is woken by exactly one thing", () => {
  expect(ofType(template, "AWS::Lambda::EventSourceMapping")).toHaveLength(standardContents.workers.length);
});

describe("what is published", () => {
  const published = publishing();

  it("the publication of events has a worker of its own on the stream, whose records are tried again until they are nearly a day old (CLI-3)", () => {
    const [, { Properties }] = ofType(published, "AWS::Lambda::EventSourceMapping").find(
      ([, mapping]) => textOf(mapping.Properties.FunctionName) === "<PublishEvents>",
    )!;
    expect(Properties).toMatchObject({
      BatchSize: 1_000,
      MaximumBatchingWindowInSeconds: 5,
      ParallelizationFactor: 1,
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ["ReportBatchItemFailures"],
      StartingPosition: "TRIM_HORIZON",
      MaximumRecordAgeInSeconds: 82_800,
    });
    expect(Properties.MaximumRetryAttempts).toBeUndefined();
    expect(textOf(Properties.DestinationConfig.OnFailure.Destination)).toMatch(/^<PublishFailures[0-9A-F]{8}\.Arn>$/);
  });

  it("notes what was given up in a queue with alarms, apart from that of react (CLI-3)", () => {
    const rules = ofType(published, "AWS::Events::Rule").map(([, { Properties }]) => [
      textOf(Properties.EventPattern.detail.bucket.name[0]).replace(/[0-9A-F]{8}>$/, ""),
      textOf(Properties.Targets[0].Arn).replace(/[0-9A-F]{8}\.Arn>$/, ""),
    ]);
    expect(rules).toEqual([
      ["<Failures", "<ReactDeadQueue"],
      ["<PublishFailures", "<PublishEventsDeadQueue"],
    ]);
    const alarms = ofType(published, "AWS::CloudWatch::Alarm").map(([id]) => id.replace(/[0-9A-F]{8}$/, ""));
    expect(alarms).toEqual(expect.arrayContaining(["PublishEventsDeadAlarm", "PublishedLateAlarm"]));
  });

  it("the publication of events leaves nothing in the template when the setting is off (CLI-3)", () => {
    expect(JSON.stringify(template)).not.toMatch(
      /publish-?events|PublishFailures|PublishedLate|EVENT_BUS|events:Put|"Archive|ARCHIVE_BUCKET|PutObjectTagging/i,
    );
  });

  it("the publication of events of a deployment with an archive alone has no right on a bus, and gathers for five minutes (CLI-3)", () => {
    const archiving = synthesize({ context: { archive: "400" } });
    const rights = rightsOf(statementsOf(archiving, "PublishEvents")).filter((right) => /^(?:events|s3):/.test(right));
    expect(rights.map((right) => right.replaceAll(/[0-9A-F]{8}/g, ""))).toEqual([
      "s3:ListBucket on <PublishFailures.Arn>",
      "s3:PutObject on <Archive.Arn>/records/*",
      "s3:PutObject on <PublishFailures.Arn>/*",
      "s3:PutObject on <PublishFailures.Arn>/refused/*",
      "s3:PutObjectTagging on <Archive.Arn>/records/*",
    ]);
    const windows = ofType(archiving, "AWS::Lambda::EventSourceMapping").map(
      ([, { Properties }]) => Properties.MaximumBatchingWindowInSeconds ?? 0,
    );
    expect(Math.max(...windows)).toBe(300);
  });

  it("the publication of events takes the rows of the ledger for the archive alone (CLI-3)", () => {
    const patternsOf = (of: Template) =>
      ofType(of, "AWS::Lambda::EventSourceMapping")
        .filter(([, { Properties }]) => textOf(Properties.FunctionName) === "<PublishEvents>")
        .flatMap(([, { Properties }]) => Properties.FilterCriteria.Filters)
        .map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern));
    const ledger = { dynamodb: { Keys: { sk: { S: [{ prefix: "R#" }, { prefix: "I#" }] } } } };
    expect(patternsOf(published)).toContainEqual(ledger);
    const bus = patternsOf(synthesize({ context: { eventBus: BUS } }));
    expect([bus.length, bus]).toEqual([3, expect.not.arrayContaining([ledger])]);
  });

  it("expires in the archive after the days of the setting, and an archive that is there is adopted (CLI-3)", () => {
    const archives = (of: Template) => ofType(of, "AWS::S3::Bucket").filter(([id]) => id.startsWith("Archive"));
    const [[, archive] = []] = archives(published);
    expect(archive!.Properties.LifecycleConfiguration.Rules).toMatchObject([{ ExpirationInDays: 400 }]);
    expect([
      archive!.DeletionPolicy,
      published.Resources.PublishEvents!.Properties.Environment.Variables,
    ]).toMatchObject(["RetainExceptOnCreate", { EVENT_BUS: BUS, ARCHIVE_BUCKET: expect.anything() }]);
    const existing = JSON.stringify({
      table: { name: "engagement", streamArn: "arn:aws:dynamodb:eu-west-1:111122223333:table/engagement/stream/x" },
      keys: { encryption: "arn:aws:kms:eu-west-1:111122223333:key/x" },
      buckets: { archive: "kept-archive" },
    });
    const adopting = synthesize({ context: { archive: "400", existing } });
    expect(archives(adopting).filter(([id]) => !id.startsWith("ArchivePolicy"))).toEqual([]);
    expect(adopting.Resources.PublishEvents!.Properties.Environment.Variables.ARCHIVE_BUCKET).toBe("kept-archive");
  });

  it("the publication of events may put events on the named bus and on no other (CLI-3)", () => {
    const rights = rightsOf(statementsOf(published, "PublishEvents"));
    expect(rights.filter((right) => right.startsWith("events:"))).toEqual([
      `events:PutEvents on arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:event-bus/${BUS}`,
    ]);
  });
});
