// Sends whose recipients are on the row of the job, as the only chunk of it (docs/decisions/0027, docs/decisions/0046).
import type { Message } from "../../../contract/messages.ts";
import { isPseudonym } from "../../../kernel/ids.ts";
import type { RowOf } from "../../item.ts";
import { SINGLE_RANGE } from "../chunks/range-names.ts";
import { isInAppOnly, type Recipient, unpackRecipients } from "../chunks/recipients.ts";
import type { JobItem } from "./job-items.ts";
import type { JobRecord } from "./job-record.ts";

export const singleMessage = (tenant: string, job: string): Message<"deliver"> => ({
  tenant,
  job,
  range: SINGLE_RANGE,
  chunk: 0,
});

/** The message of a send whose row was read: it names what the worker reads with the row. */
export function namedSingle(
  tenant: string,
  { id, recipients: packed = "", content }: RowOf<typeof JobItem>,
): Message<"deliver"> {
  const recipients = unpackRecipients(packed);
  // A pack of a journey's runs has more than a request reads.
  const devices = recipients.length > 1 ? [] : recipients.flatMap(devicesOf);
  return { ...singleMessage(tenant, id), content, ...(devices.length > 0 && { devices }) };
}

const devicesOf = ({ subscriber, targets }: Recipient) =>
  isPseudonym(subscriber)
    ? []
    : targets.flatMap(({ device }) => (device === undefined ? [] : [{ subscriber, device }]));

/**
 * Whether nothing but inboxes is reached, which are their own ledger, and nothing is left to be asked of the recipients:
 * caps, choices of topics and the test group of a brake are looked at in groups, under a claim.
 */
export const areInboxes = (
  { deliverySettings, topic }: JobRecord,
  recipients: readonly Pick<Recipient, "targets">[],
): boolean =>
  !deliverySettings?.caps &&
  deliverySettings?.brake?.canary_percent === undefined &&
  topic === undefined &&
  recipients.every(({ targets }) => isInAppOnly(targets));
