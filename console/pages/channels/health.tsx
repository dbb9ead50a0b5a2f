// The health of a channel: how its provider answered last, how fast it may send, and what uses it.
import type { ChannelHealth } from "../../../sdk/src/types.gen.ts";
import type { Query } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { reasonText } from "../../app/sentences.ts";
import { plural, share } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, type Fact, Facts, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { UsedBy } from "../../components/used-by.tsx";

/** A share of 1,000, as rates are shown with a decimal. */
const SCALE = 1_000;

export function Health({ query, isInApp }: { query: Query<ChannelHealth>; isInApp: boolean }) {
  return (
    <Card title="Health">
      <Loaded query={query} skeleton={<Skeleton rows={5} />}>
        {(found) => (
          <Facts
            of={[
              ...(isInApp ? [] : factsOfProvider(found)),
              found.bounce_rate !== null && ["Bounced", shareOfMails(found.bounce_rate)],
              found.complaint_rate !== null && ["Complaints", shareOfMails(found.complaint_rate)],
              found.domain !== null && [
                "Suppressed",
                <a key="suppressed" href={pathTo("suppressions")}>
                  Addresses that bounced or complained
                </a>,
              ],
              ["Used by", <UsedBy key="used" used={found.used_by} />],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

const shareOfMails = (rate: number): string => `${share(rate * SCALE, SCALE)} of emails in the last 30 days`;

function factsOfProvider({ last_success_at, last_error, ...rate }: ChannelHealth): Fact[] {
  return [
    ["Last accepted", last_success_at ? <Time at={last_success_at} /> : "The provider has not accepted a message yet."],
    [
      "Last refused",
      last_error ? (
        <>
          <Time at={last_error.at} />: {reasonText(last_error.reason)}
        </>
      ) : (
        "never"
      ),
    ],
    ["Rate", <Rate key="rate" of={rate} />],
  ];
}

type RateNow = Pick<ChannelHealth, "rate_per_second" | "throttle" | "busy_until">;

function Rate({ of: { rate_per_second, throttle, busy_until } }: { of: RateNow }) {
  return (
    <>
      {rate_per_second === null ? "not limited" : `${plural(rate_per_second, "message")} a second`}{" "}
      {throttle && (
        <>
          <Badge state="deferred" word="throttled" /> by its provider, <Time at={throttle.since} />. It rises again by
          itself.
        </>
      )}
      {busy_until && (
        <>
          {" "}
          Busy until <Time at={busy_until} isDate />.
        </>
      )}
    </>
  );
}
