// E-mail, where a domain for it is set: its identity in SES with DKIM, and what becomes of the mails into its queue.
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
import type { Queues } from "./queues.ts";
import type { Settings } from "./settings.ts";

/** What a mail may come to after SES took it (D-EMAIL); opens and clicks are counted by our own links. */
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
  // SES writes to the account's default bus only.
  configurationSet.addEventDestination("EmailEventsToBus", {
    destination: EventDestination.eventBus(EventBus.fromEventBusName(stack, "DefaultBus", "default")),
    events: EVENTS,
  });
  const identity = new EmailIdentity(stack, "EmailIdentity", {
    identity: Identity.domain(emailIdentity),
    configurationSet,
  });
  new Rule(stack, "EmailEvents", {
    description: "What became of the mails that were sent.",
    eventPattern: {
      source: ["aws.ses"],
      detail: { mail: { tags: { "ses:configuration-set": [stackName] } } },
    },
    targets: [new SqsQueue(live.get("mail-event")!, { deadLetterQueue: dead.get("mail-event")! })],
  });
  identity.dkimRecords.forEach(({ name, value }, n) => {
    new CfnOutput(stack, `DkimRecord${n + 1}`, {
      value: `${name} CNAME ${value}`,
      description: "For the domain's DNS.",
    });
  });
}
