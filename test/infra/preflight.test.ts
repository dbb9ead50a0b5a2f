import { describe, expect, it } from "vitest";
import { argumentsOf, asks, stopsOf } from "../../infra/deploy.ts";
import { runPreflight, takenFromAnother } from "../../infra/preflight.ts";
import { deployed, ofType, synthesize, type Template } from "./support/template.ts";

const answering = (answer: object) => ({ send: async () => answer });
const refusing = (name: string) => ({ send: () => Promise.reject(Object.assign(new Error("no"), { name })) });
const bootstrapped = answering({ Parameter: { Value: "21" } });
const limitOf = (free: number) => answering({ AccountLimit: { UnreservedConcurrentExecutions: free } });

/** What the stack writes down of its settings. */
function rememberedOf({ Resources }: Template, stackName = "Engagement"): string {
  const { Type, Properties } = Resources.DeployedSettings!;
  expect([Type, Properties.Name]).toEqual(["AWS::SSM::Parameter", `/engagement/${stackName}/settings`]);
  return Properties.Value;
}

const inOrder = {
  context: {} as Record<string, unknown>,
  region: "eu-west-1" as string | undefined,
  table: answering({}),
  parameters: bootstrapped,
  functions: limitOf(1_000),
  buses: answering({}),
};

it("the preflight finds nothing wrong where credentials, bootstrap, limit and settings are in order", async () => {
  const report = await runPreflight({ ...inOrder, context: { streamConcurrency: 900 } });
  expect(report.faults).toEqual([]);
  expect(report.fine).toEqual([
    "The credentials work in eu-west-1.",
    "The CDK's bootstrap is there, version 21.",
    "900 of 1000 invocations at once can be reserved for live streams.",
    "Each queue runs at most 2 of 1000 invocations at once.",
  ]);
});

it("the preflight counts what the stack itself has reserved as free: it can be deployed again (OPS-2)", async () => {
  const answers = { GetAccountSettingsCommand: { AccountLimit: { UnreservedConcurrentExecutions: 100 } } };
  const stream = { GetFunctionConcurrencyCommand: { ReservedConcurrentExecutions: 900 } };
  const asked: unknown[] = [];
  const functions = {
    send: async (command: { constructor: { name: string }; input: { FunctionName?: string } }) => {
      asked.push(command.input.FunctionName);
      return { ...answers, ...stream }[command.constructor.name as "GetAccountSettingsCommand"];
    },
  };
  const report = await runPreflight({ ...inOrder, functions, context: { streamConcurrency: 900 } });
  expect(report.faults).toEqual([]);
  expect(asked).toContain("Engagement-stream");
});

describe("it stops", () => {
  const domain = { name: "a.example", certificateArn: "arn:aws:acm:eu-west-1:1:certificate/x" };
  it.each<[about: string, change: Partial<typeof inOrder>, faults: string[]]>([
    ["without a region", { region: undefined }, ["No region"]],
    ["on a certificate of another region", { context: { domain } }, ["us-east-1"]],
    ["on a setting that there is not", { context: { alarmsEmail: "ops@shop.example" } }, ["alarmsEmail"]],
    ["on a setting that no deployment can take", { context: { workerConcurrency: 1 } }, ["workerConcurrency"]],
    ["without credentials", { table: refusing("CredentialsProviderError") }, ["CredentialsProviderError"]],
    ["without a bootstrap", { parameters: refusing("ParameterNotFound") }, ["bootstrap is missing"]],
    ["on a bootstrap too old", { parameters: answering({ Parameter: { Value: "5" } }) }, ["of version 5"]],
    ["where streams would use up the limit", { context: { streamConcurrency: 901 } }, ["cannot be reserved"]],
    [
      "on a reservation that a small account cannot make",
      { context: { streamConcurrency: 1 }, functions: limitOf(50) },
      ["of 50 "],
    ],
    ["in a new account, with the quota to ask for", { functions: limitOf(10) }, ["L-B99A9384"]],
    ["where the queues alone use up the account", { functions: limitOf(45) }, ["L-B99A9384"]],
    ["on settings that are not JSON", { context: { domain: "{name: a" } }, ["context domain is wrong"]],
    [
      "on an event bus that is not there (CLI-3)",
      { context: { eventBus: "orders" }, buses: refusing("ResourceNotFoundException") },
      ["no event bus orders"],
    ],
    ["on a budget that warns nobody", { context: { monthlyBudget: "50" } }, ["needs alarmEmail"]],
  ])("%s", async (_, change, faults) => {
    const report = await runPreflight({ ...inOrder, ...change });
    expect(report.faults).toEqual(faults.map((words) => expect.stringContaining(words)));
  });
});

it("notes what it may not look at, and what to do by hand", async () => {
  const report = await runPreflight({
    ...inOrder,
    parameters: refusing("AccessDeniedException"),
    functions: refusing("AccessDeniedException"),
    context: {
      emailIdentity: "mail.example.com",
      removal: "destroy",
      workers: "off",
      warmThroughput: { reads: 40_000, writes: 20_000 },
      existing: {
        table: { name: "restored", streamArn: "arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/1" },
        keys: { encryption: "arn:aws:kms:eu-west-1:123456789012:key/1" },
      },
    },
  });
  expect(report.faults).toEqual([]);
  for (const words of [
    "bootstrap",
    "Lambda limit",
    "DkimRecord1",
    "removal is destroy",
    "alarmEmail",
    "workers is off",
    "--table-name restored --warm-throughput ReadUnitsPerSecond=40000,WriteUnitsPerSecond=20000",
  ])
    expect(report.notes).toContainEqual(expect.stringContaining(words));
  const small = await runPreflight({ ...inOrder, functions: limitOf(50) });
  expect(small.notes).toContainEqual(expect.stringContaining("share 50 invocations"));
  expect(small.chosen).toEqual({ accountConcurrency: "50" });
  expect(small.fine).toContain("Each queue runs at most 2 of 50 invocations at once.");
});

it("the preflight gives the deployment the account's limit, and lets a setting stand that was given", async () => {
  const AccountLimit = { UnreservedConcurrentExecutions: 60, ConcurrentExecutions: 80 };
  const report = await runPreflight({
    ...inOrder,
    functions: answering({ AccountLimit }),
    context: {
      workerConcurrency: "5",
      domain: '{"name":"a.example","certificateArn":"arn:aws:acm:us-east-1:1:certificate/x"}',
    },
  });
  expect([report.faults, report.chosen]).toEqual([[], { accountConcurrency: "80" }]);
});

it("a second deployment does not take from cdk.json what AWS lets one have; a setting without a value is none (F6)", () => {
  const file = { stackName: "Engagement", domain: { name: "api.example.com" }, emailIdentity: "mail.example.com" };
  expect(takenFromAnother(file, {})).toEqual([]);
  expect(takenFromAnother(file, { stackName: "Engagement" })).toEqual([]);
  expect(takenFromAnother(file, { stackName: "Copy", domain: "" })).toEqual([
    expect.stringContaining("emailIdentity of cdk.json is of Engagement"),
  ]);
  const unnamed = { domain: file.domain };
  expect(takenFromAnother(unnamed, { stackName: "Engagement" })).toEqual([]);
  expect(takenFromAnother(unnamed, { stackName: "Copy" })).toEqual([expect.stringContaining("is of Engagement")]);
  const adopting = { stackName: "Engagement", existing: { table: { name: "t" } } };
  expect(takenFromAnother(adopting, { stackName: "Staging" })).toEqual([expect.stringContaining("-c existing=")]);
  const unset = { ...file, domain: "", emailIdentity: "", stackName: "Copy" };
  const template = synthesize({ context: unset });
  expect(ofType(template, "AWS::SES::EmailIdentity")).toEqual([]);
  expect(JSON.parse(rememberedOf(template, "Copy"))).not.toHaveProperty("domain");
});

describe("the settings of the last deployment", () => {
  const remembering = (settings: object) => answering({ Parameter: { Value: JSON.stringify(settings) } });
  const reportOf = async (
    before: object,
    context: Record<string, unknown>,
    functions = inOrder.functions,
    table = inOrder.table,
  ) => {
    const parameters = {
      send: async ({ input }: { input: { Name: string } }) =>
        (input.Name === "/engagement/Engagement/settings" ? remembering(before) : bootstrapped).send(),
    };
    return runPreflight({ ...inOrder, table, parameters, functions, context });
  };
  const defaults = JSON.parse(rememberedOf(deployed()));

  it("the settings of the last deployment are kept by the stack itself, in a parameter of its name (F6)", () => {
    const settings = rememberedOf(
      synthesize({ context: { stackName: "Staging", alarmEmail: "a@b.example" } }),
      "Staging",
    );
    expect(JSON.parse(settings)).toMatchObject({ stackName: "Staging", alarmEmail: "a@b.example", workers: "on" });
  });

  it("the settings of the last deployment are not forgotten: one that nobody names stops the deployment, until --drop (F6)", async () => {
    const report = await reportOf({ ...defaults, emailIdentity: "mail.example.com" }, { defaultPlan: "enterprise" });
    expect(report.changes).toEqual(['emailIdentity: "mail.example.com" -> none']);
    expect(stopsOf(report, argumentsOf(["--anyway"]))).toEqual([expect.stringContaining("emailIdentity was set")]);
    expect(stopsOf(report, argumentsOf(["--drop"]))).toEqual([]);
  });

  it("the settings of the last deployment are shown where they change, and a person is asked once (F6)", async () => {
    const report = await reportOf(defaults, { registration: "open" });
    expect(report.changes).toEqual(['registration: "closed" -> "open"']);
    expect([stopsOf(report, argumentsOf([])), asks(report, argumentsOf([]))]).toEqual([[], true]);
    expect(asks(report, argumentsOf(["--yes"]))).toBe(false);
  });

  it("the settings of the last deployment stop the deployment where they cannot be read, until --drop (F6)", async () => {
    const unread = await runPreflight({ ...inOrder, parameters: refusing("AccessDeniedException") });
    expect(stopsOf(unread, argumentsOf(["--anyway"]))).toEqual([expect.stringContaining("are not known")]);
    expect(stopsOf(unread, argumentsOf(["--drop"]))).toEqual([]);
    const { region: _, ...nowhere } = inOrder;
    const regionless = stopsOf(await runPreflight({ ...nowhere, region: undefined }), argumentsOf([]));
    expect(regionless).toEqual([expect.stringContaining("No region")]);
    const first = await runPreflight({ ...inOrder, parameters: refusing("ParameterNotFound") });
    expect(stopsOf(first, argumentsOf(["--anyway"]))).toEqual([]);
  });

  const warmed = (reads: number, writes: number) => ({
    WarmThroughput: { ReadUnitsPerSecond: reads, WriteUnitsPerSecond: writes },
  });
  const grown = answering({ Table: { ...warmed(40_000, 20_000), GlobalSecondaryIndexes: [warmed(12_000, 25_000)] } });

  it.each([
    { reads: 30_000, writes: 30_000 },
    { reads: 40_000, writes: 22_000 },
  ])(
    "a deployment stops that would lower what the table and its indexes have grown to, to $reads and $writes (F6, OPS-2)",
    async (warmThroughput) => {
      const report = await reportOf(defaults, { warmThroughput }, inOrder.functions, grown);
      expect(report.faults).toEqual([expect.stringContaining('{"reads":40000,"writes":25000}')]);
    },
  );

  it("what the table takes at once may be raised, and stay set lower than it has grown to (F6, OPS-2)", async () => {
    const raised = { warmThroughput: { reads: 40_000, writes: 30_000 } };
    const kept = { warmThroughput: { reads: 12_000, writes: 4_000 } };
    const reports = await Promise.all([
      reportOf(defaults, raised, inOrder.functions, grown),
      reportOf({ ...defaults, ...kept }, kept, inOrder.functions, grown),
    ]);
    expect(reports.map(({ faults }) => faults)).toEqual([[], []]);
  });

  it("the settings of the last deployment say nothing of the warm throughput of an adopted table (F6, OPS-3)", async () => {
    const of = "arn:aws:dynamodb:eu-west-1:123456789012:table/r/stream/x";
    const encryption = "arn:aws:kms:eu-west-1:123456789012:key/x";
    const existing = { table: { name: "r", streamArn: of }, keys: { encryption } };
    const before = { ...defaults, existing, warmThroughput: { reads: 40_000, writes: 20_000 } };
    const lower = { existing, warmThroughput: { reads: 12_000, writes: 4_000 } };
    const report = await reportOf(before, lower, inOrder.functions, grown);
    expect(report.faults).toEqual([]);
  });

  it("nobody is asked where they are as they were (F6)", async () => {
    const report = await reportOf(defaults, { commit: "abc" });
    expect([report.changes, asks(report, argumentsOf([]))]).toEqual([[], false]);
  });

  const FunctionArn = "arn:aws:lambda:eu-west-1:123456789012:function:Engagement-deliver";
  const switchedOff = answering({
    AccountLimit: { UnreservedConcurrentExecutions: 1_000 },
    EventSourceMappings: [{ UUID: "1", State: "Disabled", FunctionArn }],
  });

  it("the settings of the last deployment do not turn workers on that were switched off by hand: the deployment stops (F6)", async () => {
    const report = await reportOf(defaults, {}, switchedOff);
    expect(report.faults).toEqual([expect.stringContaining("operate -- workers on")]);
    const off = await reportOf(defaults, { workers: "off" }, switchedOff);
    expect(off.faults).toEqual([]);
  });

  it("the settings of the last deployment turn workers on that it left off: a restored copy begins to work (F6, OPS-3)", async () => {
    const report = await reportOf({ ...defaults, workers: "off" }, { workers: "on" }, switchedOff);
    expect([report.faults, report.changes]).toEqual([[], ['workers: "off" -> "on"']]);
  });
});
