// Home: the way to a first message, then how the week is going.
import { useState } from "preact/hooks";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { me } from "../../app/session.ts";
import { now, number, share } from "../../app/time.ts";
import { AddPerson } from "../../components/add-person.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { type Line, Series } from "../../components/series.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 14;
const LINES: readonly Line[] = [
  { name: "Delivered", measure: "delivered" },
  { name: "Opened", measure: "opened" },
  { name: "Clicked", measure: "clicked" },
  { name: "Not delivered", measure: "failed" },
];

export function View() {
  const channels = useQuery("channels.list", []);
  const sends = useQuery("notifications.list", [{ limit: 6, exclude_source_type: "journey" }]);
  const events = useQuery("segments.listEventNames", []);
  const team = useQuery("team.listMembers", []);
  const billing = useQuery("billing.get", []);
  // Whole hours, so that the same days are the same read.
  const to = Math.floor(now() / HOUR_MS) * HOUR_MS;
  const from = to - (DAYS - 1) * DAY_MS;
  const hasSent = sends.data !== undefined && sends.data.items.length > 0;
  const series = useQuery("insights.getSeries", [{ start: new Date(from).toISOString() }], { when: hasSent });
  const [isAdding, setAdding] = useState(false);

  const steps = [
    {
      title: "Add a person",
      about: "By hand, from a CSV file, or from your product with the SDK.",
      isDone: billing.data && billing.data.usage.subscribers > 0,
      action: (
        <Button needs="subscribers.update" onClick={() => setAdding(true)}>
          Add a person
        </Button>
      ),
    },
    {
      title: "Send a first message",
      about: "In-app works at once, without any credentials.",
      isDone: sends.data && sends.data.items.length > 0,
      action: <LinkButton href={pathTo("send")}>Write it</LinkButton>,
    },
    {
      title: "Connect a channel beside in-app",
      about: "Email, push, SMS or chat app, with your own provider account.",
      isDone: channels.data?.channels.some(({ type, status }) => type !== "in_app" && status === "active"),
      action: <LinkButton href={pathTo("channels")}>Connect</LinkButton>,
    },
    {
      title: "Send an event from your product",
      about: "Segments, journeys and conversions follow from events.",
      isDone: events.data && events.data.names.length > 0,
      action: <LinkButton href="/docs#events">See how</LinkButton>,
    },
    {
      title: "Invite a colleague",
      about: "Roles decide who may send, and who may only look.",
      isDone: team.data && team.data.items.length > 1,
      action: <LinkButton href={pathTo("settings", "team")}>Invite</LinkButton>,
    },
  ];
  const isKnown = [billing, sends, channels, events, team].every(({ data }) => data !== undefined);
  const left = steps.filter(({ isDone }) => !isDone);
  const failing = channels.data?.channels.filter(({ status }) => status === "invalid") ?? [];

  return (
    <Page
      title={`Hello${me.value ? ` ${me.value.user.name}` : ""}`}
      about={me.value?.tenant.name}
      actions={
        <LinkButton kind="primary" icon="send" href={pathTo("send")} needs="notifications.create">
          Send a message
        </LinkButton>
      }
    >
      {failing.map(({ id, type, name, verification_error }) => (
        <p key={id} class="banner bad">
          <Icon name="warning" />
          <span>
            <b>{channelName(type)} cannot send.</b> {verification_error}
          </span>
          <a href={pathTo("channels", id)}>Fix {name}</a>
        </p>
      ))}
      {isKnown && left.length > 0 && (
        <Card
          title={
            left.length === steps.length
              ? "Get to your first message"
              : `Set-up: ${steps.length - left.length} of ${steps.length} done`
          }
        >
          <ol class="steps">
            {left.map(({ title, about, action }) => (
              <li key={title}>
                <span class="tick">
                  <span class="unseen">to do</span>
                </span>
                <div>
                  <b>{title}</b>
                  <p>{about}</p>
                </div>
                <div class="actions">{action}</div>
              </li>
            ))}
          </ol>
        </Card>
      )}
      {hasSent && (
        <Card title="Last 14 days" actions={<a href={pathTo("insights")}>Insights</a>}>
          <Loaded query={series} skeleton={<Skeleton rows={6} />}>
            {({ buckets }) => (
              <Series caption="Messages of two weeks" buckets={buckets} lines={LINES} from={from} to={to} />
            )}
          </Loaded>
        </Card>
      )}
      <div class="grid wide">
        <Card title="Latest sends" flush actions={<a href={pathTo("activity")}>All activity</a>}>
          <Loaded query={sends}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty title="No message was sent yet." action={<a href={pathTo("send")}>Write the first one</a>} />
              ) : (
                <Table
                  caption="Latest sends"
                  rows={items}
                  keyOf={({ id }) => id}
                  hrefOf={({ id }) => pathTo("activity", id)}
                  columns={[
                    {
                      title: "Message",
                      cell: (row) => <span class="clip">{row.name ?? row.title ?? "Template"}</span>,
                    },
                    { title: "Status", cell: ({ status }) => <Badge state={status} /> },
                    { title: "Delivered", isNumber: true, cell: ({ counts }) => number(counts.delivered) },
                    { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
                  ]}
                />
              )
            }
          </Loaded>
        </Card>
        <Card title="Plan and usage">
          <Loaded query={billing}>
            {({ plan, usage, limits, forecast, monthly_send_cap }) => (
              <>
                <p>
                  <b class="capital">{plan}</b>{" "}
                  <span class="dim">
                    plan. At this rate {number(forecast.sends_at_period_end)} sends by the end of the period.
                  </span>
                </p>
                <Usage label="Sends" used={usage.sends} limit={monthly_send_cap ?? limits.sends} />
                <Usage label="Events" used={usage.events} limit={limits.events} />
                <Usage label="Subscribers" used={usage.subscribers} limit={limits.subscribers} />
              </>
            )}
          </Loaded>
        </Card>
      </div>
      {isAdding && <AddPerson close={() => setAdding(false)} />}
    </Page>
  );
}

function Usage({ label, used, limit }: { label: string; used: number; limit: number }) {
  const part = Math.min(1, used / limit);
  return (
    <div class="stack tight">
      <div class="usage">
        <span>{label}</span>
        <span class="dim">
          {number(used)} of {number(limit)} ({share(used, limit)})
        </span>
      </div>
      <div class="meter">
        <i class={part > 0.9 ? "bad" : undefined} style={{ width: `${part * 100}%` }} />
      </div>
    </div>
  );
}
