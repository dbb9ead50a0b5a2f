// Email, if a domain for it is set: its SES identity with DKIM, and the outcomes of mails, delivered to a queue.
import { CfnOutput, type Stack } from "aws-cdk-lib";
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
import { lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import type { Settings } from "./settings.ts";

/** Outcomes of a mail after SES accepted it (D-EMAIL). Opens and clicks are counted by our own links. */
const EVENTS = [
  EmailSendingEvent.DELIVERY,
  EmailSendingEvent.BOUNCE,
  EmailSendingEvent.COMPLAINT,
  EmailSendingEvent.REJECT,
  EmailSendingEvent.RENDERING_FAILURE,
];

export function createEmail(stack: Stack, { emailIdentity, stackName }: Settings, { live, dead }: Queues): void {
  if (emailIdentity === undefined) return;
  const configurationSet = new ConfigurationSet(stack, "EmailSending", {
    configurationSetName: stackName,
    tlsPolicy: ConfigurationSetTlsPolicy.REQUIRE,
    reputationMetrics: true,
  });
  // SES can only write to the account's default bus.
  configurationSet.addEventDestination("EmailEventsToBus", {
    destination: EventDestination.eventBus(EventBus.fromEventBusName(stack, "DefaultBus", "default")),
    events: EVENTS,
  });
  const identity = new EmailIdentity(stack, "EmailIdentity", {
    identity: Identity.domain(emailIdentity),
    configurationSet,
  });
  new Rule(stack, "EmailEvents", {
    description: "The outcomes of sent mails.",
    eventPattern: {
      source: ["aws.ses"],
      detail: { mail: { tags: { "ses:configuration-set": [stackName] } } },
    },
    targets: [new SqsQueue(lookUp(live, "mail-event"), { deadLetterQueue: lookUp(dead, "mail-event") })],
  });
  identity.dkimRecords.forEach(({ name, value }, n) => {
    new CfnOutput(stack, `DkimRecord${n + 1}`, {
      value: `${name} CNAME ${value}`,
      description: "For the domain's DNS.",
    });
  });
}
