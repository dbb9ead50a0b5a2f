// EventBridge between SES and the queue of mail events: the same envelope, for the events that the stack subscribes to.
import type { Clock } from "../shared/kernel/clock.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import type { SesEvent } from "./aws/ses.ts";
import type { Sqs } from "./aws/sqs.ts";
import { ACCOUNT, REGION } from "./lambda.ts";

const QUEUE = "mail-event";
const detailTypes: Partial<Record<SesEvent["eventType"], string>> = {
  Delivery: "Email Delivered",
  Bounce: "Email Bounced",
  Complaint: "Email Complaint Received",
};

export function mailEventsTo(sqs: Pick<Sqs, "operate">, { clock, ids }: { clock: Clock; ids: Ids }) {
  return async (detail: SesEvent): Promise<void> => {
    const type = detailTypes[detail.eventType];
    if (!type) return;
    const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: QUEUE });
    const envelope = {
      version: "0",
      id: ids.uuid(),
      "detail-type": type,
      source: "aws.ses",
      account: ACCOUNT,
      time: new Date(clock.now()).toISOString(),
      region: REGION,
      resources: [],
      detail,
    };
    await sqs.operate("SendMessage", { QueueUrl, MessageBody: JSON.stringify(envelope) });
  };
}
