// Home: the way to a first message, then how the week is going.
import type { Billing, ChannelsListAnswer, NotificationsListAnswer } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { sendName } from "../../app/send-name.ts";
import { channelName } from "../../app/sentences.ts";
import { me } from "../../app/session.ts";
import { daysAgo, now, number, plural, share } from "../../app/time.ts";
import { AddPerson } from "../../components/add-person.tsx";
import { Badge } from "../../components/badge.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { DialogButton } from "../../components/dialog.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { type Line, Series } from "../../components/series.tsx";
import { ConfirmAgain, Loaded, Skeleton } from "../../components/states.tsx";
import { Today, type Use, usesOf } from "./today.tsx";

const DAYS = 14;
const EVERY_MS = 5_000;
/** Sends that are listed, and those among which is what goes out or failed today. */
const SHOWN = 6;
const LATEST = 50;
const LINES: readonly Line[] = [
  { name: "Delivered", measure: "delivered" },
  { name: "Opened", measure: "opened" },
  { name: "Clicked", measure: "clicked" },
  { name: "Not delivered", measure: "failed" },
];

type Send = NotificationsListAnswer["items"][number];

/** When it went out; one that is still to go out stands where it was made. */
const wentOutAt = ({ created_at, scheduled_at }: Send): number =>
  scheduled_at && Date.parse(scheduled_at) <= now() ? Date.parse(scheduled_at) : Date.parse(created_at);

const byTime = (a: Send, b: Send): number => wentOutAt(b) - wentOutAt(a);

export function View() {
  const channels = useQuery("channels.list", []);
  const sends = useQuery("notifications.list", [{ limit: LATEST, exclude_source_type: "journey" }]);
  const billing = useQuery("billing.get", []);
  const hasSent = sends.data !== undefined && sends.data.items.length > 0;
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
      <SetUp channels={channels.data} sends={sends.data} billing={billing.data} />
      <Today sends={sends.data} billing={billing.data} />
      <LastDays when={hasSent} />
      <div class="grid wide">
        <Collection
          noun="send"
          card="Latest sends"
          rows={{ first: sends, items: sends.data?.items.toSorted(byTime).slice(0, SHOWN) ?? [] }}
          filters={<a href={pathTo("activity")}>All activity</a>}
          usual={SHOWN}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => pathTo("activity", id)}
          empty={{
            title: "No message was sent yet.",
            action: <a href={pathTo("send")}>Write the first one</a>,
          }}
          columns={[
            {
              title: "Message",
              cell: sendName,
            },
            { title: "Status", cell: ({ status }) => <Badge state={status} /> },
            { title: "Delivered", isMinor: true, isNumber: true, cell: ({ counts }) => number(counts.delivered) },
            { title: "When", cell: ({ created_at, scheduled_at }) => <Time at={scheduled_at ?? created_at} /> },
          ]}
        />
        <Card title="Plan and usage">
          <Loaded query={billing}>{(found) => <PlanUsage billing={found} />}</Loaded>
        </Card>
      </div>
    </Page>
  );
}

interface SetUpProps {
  channels: ChannelsListAnswer | undefined;
  sends: NotificationsListAnswer | undefined;
  billing: Billing | undefined;
}

/** What is still to do before the first message, once all of it is known. */
function SetUp({ channels, sends, billing }: SetUpProps) {
  // Those of this period are known already.
  const hasEvents = billing !== undefined && billing.usage.events > 0;
  const events = useQuery("segments.listEventNames", [], { when: billing !== undefined && !hasEvents }).data;
  // Where there are events of earlier months beside what was sent, colleagues can wait: home has six calls.
  const isNew = sends?.items.length === 0 || events?.names.length === 0;
  const isTeamAsked = sends !== undefined && billing !== undefined && (hasEvents || isNew);
  const team = useQuery("team.listMembers", [], { when: isTeamAsked }).data;
  const isAsked = me.value?.confirmation_missing === true;
  // The link of the mail opens another tab.
  const isUnconfirmed = useQuery("account.getMe", [], { when: isAsked, every: EVERY_MS }).data?.confirmation_missing;
  if (!channels || !sends || !billing || (isTeamAsked && !team) || (!hasEvents && !events)) return null;
  const isDone = {
    address: isUnconfirmed === false,
    person: billing.usage.subscribers > 0,
    message: sends.items.length > 0,
    channel: channels.channels.some(({ type, status }) => type !== "in_app" && status === "active"),
    event: hasEvents || (events?.names.length ?? 0) > 0,
    colleague: team !== undefined && team.items.length > 1,
  };
  const shows: Partial<Record<(typeof STEPS)[number]["id"], boolean>> = { address: isAsked, colleague: isTeamAsked };
  const steps = STEPS.filter(({ id }) => shows[id] ?? true);
  const left = steps.filter(({ id }) => !isDone[id]);
  if (left.length === 0) return null;
  const done = steps.length - left.length;
  return (
    <Card title={done === 0 ? "Get to your first message" : `Set-up: ${done} of ${steps.length} done`}>
      <ol class="steps">
        {left.map(({ id, title, about, Action }) => (
          <li key={id}>
            <span class="tick">
              <span class="unseen">to do</span>
            </span>
            <div>
              <b>{title}</b>
              <p>{about}</p>
            </div>
            <div class="actions">
              <Action />
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

const STEPS = [
  {
    id: "address",
    title: "Confirm your email address",
    about: "Open the link that was emailed to you. Until then you cannot send, invite or connect anything.",
    Action: ConfirmAgain,
  },
  {
    id: "person",
    title: "Add a person",
    about: "By hand, from a CSV file, or from your product with the SDK.",
    Action: AddButton,
  },
  {
    id: "message",
    title: "Send a first message",
    about: "In-app works at once, without any credentials.",
    Action: () => (
      <LinkButton href={pathTo("send")} needs="notifications.create">
        Write it
      </LinkButton>
    ),
  },
  {
    id: "channel",
    title: "Connect a channel besides in-app",
    about: "Email, push, SMS or chat app, with your own provider account.",
    Action: () => <LinkButton href={pathTo("channels")}>Connect</LinkButton>,
  },
  {
    id: "event",
    title: "Send an event from your product",
    about: "Segments, journeys and conversions build on events.",
    Action: () => <LinkButton href="/docs/events">See how</LinkButton>,
  },
  {
    id: "colleague",
    title: "Invite a colleague",
    about: "Roles decide who may send, and who may only look.",
    Action: () => <LinkButton href={pathTo("settings", "team")}>Invite</LinkButton>,
  },
] as const;

function AddButton() {
  return (
    <DialogButton label="Add a person" needs="subscribers.update" dialog={(close) => <AddPerson close={close} />} />
  );
}

function LastDays({ when }: { when: boolean }) {
  const start = daysAgo(DAYS - 1);
  const series = useQuery("insights.getSeries", [{ start }], { when });
  if (!when) return null;
  return (
    <Card title="Last 14 days" actions={<a href={pathTo("insights")}>Insights</a>}>
      <Loaded query={series} skeleton={<Skeleton rows={6} />}>
        {({ buckets }) => (
          <Series caption="Messages of two weeks" buckets={buckets} lines={LINES} from={Date.parse(start)} to={now()} />
        )}
      </Loaded>
    </Card>
  );
}

function PlanUsage({ billing }: { billing: Billing }) {
  const { plan, forecast } = billing;
  return (
    <>
      <p>
        <b class="capital">{plan}</b>{" "}
        <span class="dim">
          plan. At this rate {plural(forecast.sends_at_period_end, "message")} by the end of the period.
        </span>
      </p>
      {usesOf(billing).map((one) => (
        <Usage key={one.name} of={one} />
      ))}
    </>
  );
}

function Usage({ of: { name, used, limit } }: { of: Use }) {
  const part = Math.min(1, used / limit);
  return (
    <div class="stack tight">
      <div class="usage">
        <span>{name}</span>
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
