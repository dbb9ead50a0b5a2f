// Deliverability: do emails arrive? The records of the domain, bounces by mailbox provider, and suppressions.
import type { InsightsGetDeliverabilityAnswer } from "../../../sdk/src/types.gen.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { allMails, fineShare, JUDGED_FROM, LIMITS } from "../../app/mailboxes.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { daysAgo, now, number, share } from "../../app/time.ts";
import { LinkButton } from "../../components/button.tsx";
import { chosenDays, DaysFilter } from "../../components/filters.tsx";
import { Page } from "../../components/page.tsx";
import { Rates } from "../../components/rates.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { ByProvider, Noticed, Trend } from "./providers.tsx";
import { Domains, Suppressed } from "./sender.tsx";

export function View() {
  const days = chosenDays();
  const start = daysAgo(days);
  const figures = useQuery("insights.getDeliverability", [{ start }]);
  return (
    <Page
      title="Deliverability"
      about="Whether emails arrive: what your domain proves, and what mailbox providers send back."
      actions={<DaysFilter />}
    >
      <Loaded query={figures} skeleton={<Skeleton rows={8} />}>
        {({ rows, buckets }) =>
          rows.length === 0 ? (
            <Empty
              title={`No email was sent in the last ${days} days.`}
              action={
                <LinkButton href={pathTo("send")} icon="send" needs="notifications.create">
                  Write a message
                </LinkButton>
              }
            />
          ) : (
            <>
              <Whole rows={rows} buckets={buckets} start={start} />
              <Noticed rows={rows} />
              <ByProvider rows={rows} />
              <Trend rows={rows} buckets={buckets} start={start} />
            </>
          )
        }
      </Loaded>
      <div class="grid wide">
        <Domains />
        <Suppressed />
      </div>
    </Page>
  );
}

interface WholeProps extends InsightsGetDeliverabilityAnswer {
  start: string;
}

/** All providers together, each figure with what it is a share of. */
function Whole({ rows, buckets, start }: WholeProps) {
  const { sent, delivered, bounced, complained, unsubscribed, opened_human } = allMails(rows);
  const first = Math.floor(Date.parse(start) / DAY) * DAY;
  const course = (name: "sent" | "bounced" | "complained" | "opened_human"): number[] => {
    const values = Array.from({ length: Math.floor((now() - first) / DAY) + 1 }, () => 0);
    for (const bucket of buckets) {
      const day = Math.round((Date.parse(bucket.at) - first) / DAY);
      if (day in values) values[day] = (values[day] ?? 0) + bucket[name];
    }
    return values;
  };
  const below = (what: keyof typeof LIMITS) =>
    sent < JUDGED_FROM ? "" : `; keep it below ${fineShare(LIMITS[what][0], 1)}`;
  return (
    <Rates
      of={[
        { label: "Accepted", value: number(sent), base: "emails, by the providers", course: course("sent") },
        {
          label: "Bounced",
          value: fineShare(bounced, sent),
          base: `${number(bounced)} of ${number(sent)}${below("bounced")}`,
          course: course("bounced"),
        },
        {
          label: "Complaints",
          value: fineShare(complained, sent),
          base: `${number(complained)} of ${number(sent)}${below("complained")}`,
          course: course("complained"),
        },
        {
          label: "Opted out",
          value: fineShare(unsubscribed, delivered),
          base: `${number(unsubscribed)} of ${number(delivered)} delivered`,
        },
        {
          label: "Opened by people",
          value: share(opened_human, delivered),
          base: `${number(opened_human)} of ${number(delivered)} delivered`,
          course: course("opened_human"),
        },
      ]}
    />
  );
}
