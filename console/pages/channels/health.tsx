// The health of a channel: how its provider answered last, how fast it may send, and what uses it.
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { reasonText } from "../../app/sentences.ts";
import { number, share } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";

const EVERY_MS = 10_000;
/** A share of 1,000, as rates are shown with a decimal. */
const SCALE = 1_000;

export function Health({ id, isInApp }: { id: string; isInApp: boolean }) {
  const health = useQuery("channels.getHealth", [id], { every: EVERY_MS });
  return (
    <Card title="Health">
      <Loaded query={health} skeleton={<Skeleton rows={5} />}>
        {({ last_success_at, last_error, rate_per_second, throttle, busy_until, used_by, ...rates }) => (
          <dl class="facts">
            {!isInApp && [
              <dt key="success">Last accepted</dt>,
              <dd key="success-at">
                {last_success_at ? <Time at={last_success_at} /> : "The provider has not accepted a message yet."}
              </dd>,
              <dt key="error">Last refused</dt>,
              <dd key="error-at">
                {last_error ? (
                  <>
                    <Time at={last_error.at} />: {reasonText(last_error.reason)}
                  </>
                ) : (
                  "never"
                )}
              </dd>,
              <dt key="rate">Rate</dt>,
              <dd key="rate-now">
                {rate_per_second === null ? "not limited" : `${number(rate_per_second)} messages a second`}{" "}
                {throttle && (
                  <>
                    <Badge state="deferred" word="throttled" /> by its provider, <Time at={throttle.since} />. It rises
                    again by itself.
                  </>
                )}
                {busy_until && (
                  <>
                    {" "}
                    Busy until <Time at={busy_until} />.
                  </>
                )}
              </dd>,
            ]}
            {rates.bounce_rate !== null && [
              <dt key="bounces">Bounced</dt>,
              <dd key="bounce-rate">{share(rates.bounce_rate * SCALE, SCALE)} of emails in the last 30 days</dd>,
            ]}
            {rates.complaint_rate !== null && [
              <dt key="complaints">Complaints</dt>,
              <dd key="complaint-rate">{share(rates.complaint_rate * SCALE, SCALE)} of emails in the last 30 days</dd>,
            ]}
            <dt>Used by</dt>
            <dd>
              <UsedBy used={used_by} />
            </dd>
          </dl>
        )}
      </Loaded>
    </Card>
  );
}

interface Named {
  id: string;
  name: string;
}

interface Used {
  campaigns: readonly Named[];
  journeys: readonly Named[];
  schedules: readonly { id: string; cron_expression: string }[];
}

function UsedBy({ used: { campaigns, journeys, schedules } }: { used: Used }) {
  const links = [
    ...campaigns.map(({ id, name }) => ({ id, href: pathTo("campaigns", id), text: `the campaign ${name}` })),
    ...journeys.map(({ id, name }) => ({ id, href: pathTo("journeys", id), text: `the journey ${name}` })),
    ...schedules.map(({ id, cron_expression: cron }) => ({
      id,
      href: pathTo("content", "schedules"),
      text: `the schedule ${cron}`,
    })),
  ];
  if (links.length === 0) return <>no released campaign, active journey or schedule</>;
  return (
    <ul>
      {links.map(({ id, href, text }) => (
        <li key={id}>
          <a href={href}>{text}</a>
        </li>
      ))}
    </ul>
  );
}
