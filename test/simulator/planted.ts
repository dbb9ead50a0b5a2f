// Bugs put in by changing what a process asks of AWS: the invariants must find each of them.
import type { Wire } from "../../local/aws/stand-in.ts";
import { keysOf } from "./requests.ts";
import { scenarios } from "./scenarios/index.ts";
import { simulate } from "./simulate.ts";
import type { Planted } from "./world.ts";

type Step = Record<string, Wire>;

/** As if the condition had been forgotten. */
const unconditional = (write: Wire) => {
  if (write.ConditionExpression !== undefined)
    write.ConditionExpression = `attribute_not_exists(nosuch) OR (${write.ConditionExpression})`;
};

const isUpdateOf = (operation: string, input: Wire, key: RegExp) => {
  if (operation !== "UpdateItem") return false;
  const [{ pk, sk } = { pk: "", sk: "" }] = keysOf(operation, input);
  return key.test(`${pk} ${sk}`);
};

const bodies = (input: Wire, change: (body: Record<string, unknown>) => void) => {
  for (const entry of input.Entries as { MessageBody: string }[]) {
    const body = JSON.parse(entry.MessageBody);
    change(body);
    entry.MessageBody = JSON.stringify(body);
  }
};

const inTransactions =
  (key: RegExp): NonNullable<Planted["request"]> =>
  (_, operation, input) => {
    if (operation !== "TransactWriteItems") return;
    for (const step of input.TransactItems as Step[])
      for (const [kind, write] of Object.entries(step)) {
        const [touched] = keysOf(kind === "Put" ? "PutItem" : "UpdateItem", write);
        if (touched && key.test(`${touched.pk} ${touched.sk}`)) unconditional(write);
      }
  };

const CLAIM = / K#/;
const RANGE = / R#/;
const JOB = /#JOB /;

export const planted: readonly (Planted & { finds: readonly string[] })[] = [
  {
    name: "the time of a claim is drawn anew",
    ...{ scenario: "inbox", profile: "storm", finds: ["delivered-once"] },
    request: (_, operation, input) => {
      if (isUpdateOf(operation, input, CLAIM))
        input.UpdateExpression = String(input.UpdateExpression).replace(/if_not_exists\(#\d+, (:\d+)\)/, "$1");
    },
  },
  {
    name: "a closed chunk is closed again",
    ...{ scenario: "sends", profile: "storm", finds: ["counts-recount", "closed-before-complete", "jobs-end"] },
    request: (service, operation, input, process) => {
      if (isUpdateOf(operation, input, CLAIM)) unconditional(input);
      inTransactions(/ (K|R)#/)(service, operation, input, process);
    },
  },
  {
    name: "a closed range is closed again",
    ...{ scenario: "sends", profile: "storm", finds: ["counts-recount", "closed-before-complete", "jobs-end"] },
    request: inTransactions(RANGE),
  },
  {
    name: "jobs move from any state",
    ...{ scenario: "sends", profile: "firstLine", finds: ["canceled-reaches-nobody", "jobs-end"] },
    request: (_, operation, input) => {
      if (isUpdateOf(operation, input, JOB)) unconditional(input);
    },
  },
  {
    name: "failed messages are taken for done",
    ...{
      scenario: "sends",
      profile: "storm",
      finds: ["jobs-end", "recipients", "erasure", "timers", "counts-recount"],
    },
    swallows: true,
  },
  {
    name: "the due worker drops a timer now and then",
    ...{ scenario: "timers", profile: "firstLine", finds: ["jobs-end"] },
    request: (_, operation, input, { name, random }) => {
      if (name !== "due" || operation !== "SendMessageBatch" || !random.chance(0.05)) return;
      bodies(input, (body) => {
        body.job = "nobody";
      });
    },
  },
  {
    name: "erasure has no second pass",
    ...{ scenario: "sends", profile: "storm", finds: ["erasure"] },
    request: (_, operation, input, { name }) => {
      if (name === "erase" && operation === "SendMessageBatch")
        bodies(input, (body) => {
          body.subscriber = "nobody";
        });
    },
  },
  {
    name: "an upsert revives the erased",
    ...{ scenario: "sends", profile: "firstLine", finds: ["erasure"] },
    request: (_, operation, input) => {
      if (isUpdateOf(operation, input, /#S[0-9a-f] /)) unconditional(input);
    },
  },
  {
    name: "an idempotency key is not looked at",
    ...{ scenario: "sends", profile: "firstLine", finds: ["one-job"] },
    request: (service, operation, input, process) => {
      inTransactions(/#IDEM#/)(service, operation, input, process);
      if (operation !== "GetItem") return;
      const key = input.Key as Record<string, { S: string }>;
      if (key.pk?.S.includes("#IDEM#")) key.pk.S = key.sk!.S = `${key.pk.S}x`;
    },
  },
  {
    name: "a message names another workspace",
    ...{ scenario: "sends", profile: "firstLine", finds: ["tenant-walls"] },
    request: (_, operation, input, { name, random }) => {
      if (name === "fan-out" && operation === "SendMessageBatch" && random.chance(0.1))
        bodies(input, (body) => {
          body.tenant = "other";
        });
    },
  },
  {
    name: "a batch of inbox rows loses its last one",
    ...{ scenario: "inbox", profile: "firstLine", finds: ["counts-recount", "recipients"] },
    request: (_, operation, input, { name }) => {
      if (name !== "deliver" || operation !== "BatchWriteItem") return;
      for (const writes of Object.values(input.RequestItems as Record<string, unknown[]>))
        if (writes.length > 1) writes.pop();
    },
  },
  {
    name: "a batch of events loses its last one",
    ...{ scenario: "events", profile: "firstLine", finds: ["events"] },
    request: (_, operation, input, { name }) => {
      if (name !== "api-events" || operation !== "BatchWriteItem") return;
      for (const writes of Object.values(input.RequestItems as Record<string, unknown[]>))
        if (writes.length > 1) writes.pop();
    },
  },
  {
    name: "the first link does not win",
    ...{ scenario: "events", profile: "firstLine", finds: ["events"] },
    request: inTransactions(/#A#/),
  },
  {
    name: "a read is taken back by the next one",
    ...{ scenario: "inbox", profile: "firstLine", finds: ["reads-stay"] },
    request: (_, operation, input) => {
      if (isUpdateOf(operation, input, / I(S|W)#/))
        input.UpdateExpression = String(input.UpdateExpression).replaceAll(/if_not_exists\(#\d+, (:\d+)\)/g, "$1");
    },
  },
];

/** The seed that finds it first, if any does. */
export async function findPlanted(bug: Planted & { finds: readonly string[] }, from: number, most: number) {
  const scenario = scenarios.find(({ name }) => name === bug.scenario)!;
  for (let seed = from; seed < from + most; seed++) {
    const { violation } = await simulate({ seed, scenario, planted: bug });
    if (violation && bug.finds.includes(violation.invariant)) return { seed, violation };
  }
  return undefined;
}
