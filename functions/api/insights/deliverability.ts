// How mails are delivered, by mailbox provider (docs/decisions/0149).
import * as v from "valibot";
import { said, Timestamp } from "../../../shared/contract/schemas.ts";
import { windowFields, windowOf } from "../../../shared/contract/window.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { mailboxProviders } from "../../../shared/rules/mailbox-providers.ts";
import { storeRead } from "../../../shared/store/context.ts";
import { deliverabilityOf } from "../../../shared/store/insights/deliverability.ts";

const Count = v.number();
const Rate = v.nullable(v.number());

const MailFigures = v.object({
  mailbox_provider: said(
    "Who runs the mailboxes, by the domain of the address. `other` has every other domain, those of companies too",
    v.picklist(mailboxProviders),
  ),
  sent: said("Mails that were accepted: `delivered` and `bounced`", Count),
  delivered: said("Mails that did not come back", Count),
  bounced: said("Mails that came back", Count),
  complained: said("Recipients who called the mail spam. Gmail tells no sender of it", Count),
  unsubscribed: said("Recipients who opted out by a link of the mail", Count),
  opened_human: said("Recipients who opened the mail, without machines; on the day of the open", Count),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

/** Makes the endpoint. @param late the note about counters that are behind */
export const deliverability = (late: string) =>
  endpoint(
    "GET /api/v1/insights/deliverability",
    { agents: "read", uses: [storeRead] },
    {
      summary: "Get how mails arrive, by the provider of the mailboxes and by day",
      description:
        "Days in UTC; those in which the period begins and ends count whole. At most 366 days. What comes back later counts " +
        "on the day of its mail. A mail server (SMTP) reports neither bounces nor complaints. What did not happen has no " +
        `entry. ${late}`,
      query: v.object(windowFields),
      returns: v.object({
        rows: said(
          "Of the whole period, the largest first",
          v.array(
            v.object({
              ...MailFigures.entries,
              bounce_rate: said("`bounced` of `sent`, from 0 to 1; `null` where nothing was sent", Rate),
              complaint_rate: said("`complained` of `sent`, from 0 to 1; `null` where nothing was sent", Rate),
            }),
          ),
        ),
        buckets: said(
          "Of each day",
          v.array(v.object({ at: said("When the day begins", Timestamp), ...MailFigures.entries })),
        ),
      }),
    },
    ({ store, clock, query }) => deliverabilityOf(store, windowOf(query, clock.now())),
  );
