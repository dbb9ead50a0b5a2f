// E-mail, where a domain for it is set: its identity in SES with DKIM, and a queue of what became of the mails.
import { CfnOutput, Duration, type Stack } from "aws-cdk-lib";
import { EventBus, Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import {
  ConfigurationSet,
  ConfigurationSetTlsPolicy,
  EmailIdentity,
  EmailSendingEvent,
  EventDestination,
  Identity,
} from "aws-cdk-lib/aws-ses";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { MAX_RECEIVES, VISIBILITY_SECONDS } from "../shared/messages.ts";
import type { Settings } from "./settings.ts";

/** What a mail may come to after SES took it (D-EMAIL); opens and clicks are counted by our own links. */
const EVENTS = [
  EmailSendingEvent.DELIVERY,
  EmailSendingEvent.BOUNCE,
  EmailSendingEvent.COMPLAINT,
  EmailSendingEvent.REJECT,
  EmailSendingEvent.RENDERING_FAILURE,
];

/** Kept as long as a queue can: what it says of a mail stays true. */
const KEPT = Duration.days(14);

/** @returns the dead-letter queues to watch, by what they hold. */
export function createEmail(stack: Stack, { emailIdentity, stackName }: Settings): Map<string, Queue> {
  if (emailIdentity === undefined) return new Map();
  const configurationSet = new ConfigurationSet(stack, "EmailSending", {
    configurationSetName: stackName,
    tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
    reputationMetrics: true,
  });
  // SES writes to the account's default bus only.
  configurationSet.addEventDestination("EmailEventsToBus", {
    destination: EventDestination.eventBus(EventBus.fromEventBusName(stack, "DefaultBus", "default")),
    events: EVENTS,
  });
  const identity = new EmailIdentity(stack, "EmailIdentity", {
    identity: Identity.domain(emailIdentity),
    configurationSet,
  });
  const safe = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: KEPT };
  const lost = new Queue(stack, "EmailEventsDeadQueue", { ...safe, queueName: `${stackName}-email-events-dead` });
  const events = new Queue(stack, "EmailEventsQueue", {
    ...safe,
    queueName: `${stackName}-email-events`,
    visibilityTimeout: Duration.seconds(VISIBILITY_SECONDS),
    deadLetterQueue: { queue: lost, maxReceiveCount: MAX_RECEIVES },
  });
  new Rule(stack, "EmailEvents", {
    description: "What became of the mails that were sent.",
    eventPattern: {
      source: ["aws.ses"],
      detail: { mail: { tags: { "ses:configuration-set": [stackName] } } },
    },
    targets: [new SqsQueue(events, { deadLetterQueue: lost })],
  });
  identity.dkimRecords.forEach(({ name, value }, n) => {
    new CfnOutput(stack, `DkimRecord${n + 1}`, {
      value: `${name} CNAME ${value}`,
      description: "For the domain's DNS.",
    });
  });
  return new Map([["email-events", lost]]);
}
