// EventBridge Scheduler: the group of the minutes' schedules, their role, and the sweep.
import type { Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule, CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { SWEEP_EVERY_MS } from "../functions/workers/due/index.ts";
import type { Message } from "../shared/contract/messages.ts";
import { MINUTE } from "../shared/kernel/clock.ts";
import { lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import type { Settings } from "./settings.ts";

export interface Schedules {
  group: CfnScheduleGroup;
  role: Role;
}

export function createSchedules(stack: Stack, { stackName, workers }: Settings, { live }: Queues): Schedules {
  const due = lookUp(live, "due");
  const group = new CfnScheduleGroup(stack, "ScheduleGroup", { name: stackName });
  const send = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [due.queueArn] });
  const role = new Role(stack, "SchedulerRole", {
    description: "Lets schedules trigger the due worker, and nothing else.",
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    }),
    inlinePolicies: { due: new PolicyDocument({ statements: [send] }) },
  });
  new CfnSchedule(stack, "Sweep", {
    description: "Looks for timers that were not fired.",
    groupName: group.ref,
    scheduleExpression: `rate(${SWEEP_EVERY_MS / MINUTE} minutes)`,
    flexibleTimeWindow: { mode: "OFF" },
    state: workers === "on" ? "ENABLED" : "DISABLED",
    target: {
      arn: due.queueArn,
      roleArn: role.roleArn,
      input: JSON.stringify({ kind: "sweep" } satisfies Message<"due">),
      // A failed sweep is not retried: the next one does its work.
      retryPolicy: { maximumEventAgeInSeconds: SWEEP_EVERY_MS / 1_000, maximumRetryAttempts: 2 },
    },
  });
  return { group, role };
}
