// Everything that will go out, by day: messages of campaigns, sends for later, and the times of schedules.
import type { Campaign, NotificationsListAnswer, Schedule } from "../../../sdk/src/types.gen.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { nextRun, parseCron } from "../../../shared/rules/cron.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { sendName } from "../../app/send-name.ts";
import { distance, now, zone } from "../../app/time.ts";
import { LinkButton } from "../../components/button.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Empty, Failure, Skeleton } from "../../components/states.tsx";
import { useTemplateNames } from "../../components/template-names.ts";
import { timesOf } from "./times.ts";

const DAYS = 14;
/** Times of one schedule. */
const MAX_TIMES = 50;

interface Item {
  key: string;
  at: number;
  icon: IconName;
  name: string;
  kind: string;
  href: string;
}

export function Upcoming() {
  const scheduled = useQuery("campaigns.list", [{ status: "scheduled", page_size: 100 }]);
  const live = useQuery("campaigns.list", [{ status: "live", page_size: 100 }]);
  const sends = useQuery("notifications.list", [
    { status: "scheduled", limit: 100, exclude_source_type: "campaign,journey" },
  ]);
  const schedules = useQuery("schedules.list", [{ active: "true", per_page: 100 }]);
  const templateName = useTemplateNames((schedules.data?.data ?? []).map(({ template_id }) => template_id));
  const all = [scheduled, live, sends, schedules];
  const error = all.find((query) => query.error)?.error;
  const isKnown = all.every(({ data }) => data);
  const until = now() + DAYS * DAY;
  const items = [
    ...[...(scheduled.data?.items ?? []), ...(live.data?.items ?? [])].flatMap(itemsOfCampaign),
    ...(sends.data?.items ?? []).flatMap(itemsOfSend),
    ...(schedules.data?.data ?? []).flatMap((schedule) =>
      itemsOfSchedule(schedule, templateName(schedule.template_id), until),
    ),
  ]
    .filter(({ at }) => at > now() && at < until)
    .toSorted((a, b) => a.at - b.at);
  return (
    <Page
      title="Upcoming"
      back={{ href: pathTo("campaigns"), label: "Campaigns" }}
      about={`The next ${DAYS} days, in ${zone}. Messages of journeys go out as people reach them.`}
    >
      {error && <Failure error={error} />}
      <Days items={items} />
      {items.length === 0 && !isKnown && !error && <Skeleton rows={6} />}
      {items.length === 0 && isKnown && (
        <Empty
          title={`Nothing goes out in the next ${DAYS} days.`}
          action={
            <LinkButton href={pathTo("campaigns", "new")} needs="campaigns.create">
              New campaign
            </LinkButton>
          }
        >
          Campaigns, sends and schedules that have a time are listed here.
        </Empty>
      )}
    </Page>
  );
}

const itemsOfCampaign = ({
  id,
  name,
  ...planned
}: Pick<Campaign, "id" | "name" | "messages" | "scheduled_at">): Item[] =>
  timesOf(planned).flatMap((time, position) =>
    time
      ? [
          {
            key: `${id} ${position}`,
            at: Date.parse(time),
            icon: "campaign",
            name:
              planned.messages.length > 1
                ? `${name}: ${inPlain(planned.messages[position]?.content?.title ?? `message ${position + 1}`)}`
                : name,
            kind: "Campaign",
            href: pathTo("campaigns", id),
          },
        ]
      : [],
  );

const itemsOfSend = (send: NotificationsListAnswer["items"][number]): Item[] =>
  send.scheduled_at
    ? [
        {
          key: send.id,
          at: Date.parse(send.scheduled_at),
          icon: "send",
          name: sendName(send),
          kind: "Send",
          href: pathTo("activity", send.id),
        },
      ]
    : [];

function itemsOfSchedule({ id, cron_expression, timezone }: Schedule, name = "A template", until: number): Item[] {
  const parsed = parseCron(cron_expression);
  if (parsed.kind === "refused") return [];
  const { cron } = parsed;
  const items: Item[] = [];
  for (let at = nextRun(cron, timezone, now()); at !== undefined && at < until && items.length < MAX_TIMES; ) {
    items.push({ key: `${id} ${at}`, at, icon: "clock", name, kind: "Schedule", href: pathTo("content", "schedules") });
    at = nextRun(cron, timezone, at);
  }
  return items;
}

const days = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: zone });
const times = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone });

function Days({ items }: { items: readonly Item[] }) {
  const byDay = Map.groupBy(items, ({ at }) => days.format(at));
  return (
    <>
      {[...byDay].map(([day, list]) => (
        <Card key={day} title={day}>
          <ol class="agenda">
            {list.map(({ key, at, icon, name, kind, href }) => (
              <li key={key}>
                <time dateTime={new Date(at).toISOString()}>{times.format(at)}</time>
                <Icon name={icon} />
                <a href={href}>{name}</a>
                <span class="dim">{kind}</span>
                <span class="dim">{distance(at)}</span>
              </li>
            ))}
          </ol>
        </Card>
      ))}
    </>
  );
}
