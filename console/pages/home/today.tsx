// What needs somebody today: drafts to finish, what goes out, what failed or was halted, what nears a limit.
import type { ComponentChildren } from "preact";
import type { Billing, ListedCampaign, NotificationsListAnswer } from "../../../sdk/src/types.gen.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { sendLimitOf } from "../../app/send-limit.ts";
import { sendName } from "../../app/send-name.ts";
import { asksSecondPerson } from "../../app/session.ts";
import { now, number, plural, share } from "../../app/time.ts";
import { stateOf } from "../../components/badge.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Card, Time } from "../../components/page.tsx";

interface TodayProps {
  sends: NotificationsListAnswer | undefined;
  billing: Billing | undefined;
}

interface Matter {
  key: string;
  icon: IconName;
  /** The name of what needs somebody. */
  name: string;
  href: string;
  says: ComponentChildren;
}

const DRAFTS = 3;
const SENDS = 6;
/** From this share of a limit of the plan on, home says that it is near. */
const NEAR = 0.8;

export function Today({ sends, billing }: TodayProps) {
  const drafts = useQuery("campaigns.list", [{ status: "draft", page_size: DRAFTS }]).data?.items ?? [];
  const waiting = useQuery("campaigns.list", [{ awaiting_approval: "true" }], { when: asksSecondPerson() }).data?.items;
  const others = drafts.filter(({ approval }) => approval?.status !== "waiting");
  const sent = sends ? ofSends(sends) : [];
  const more = sent.length - SENDS;
  const matters: Matter[] = [
    ...(waiting ?? []).flatMap(ofApproval),
    ...sent.slice(0, SENDS),
    ...(billing ? ofLimits(billing) : []),
    ...others.map(ofDraft),
  ];
  if (matters.length === 0) return null;
  return (
    <Card title="Today">
      <ul class="stack tight">
        {matters.map(({ key, icon, name, href, says }) => (
          <li key={key} class="reach">
            <Icon name={icon} />
            <span>
              <a href={href}>{name}</a> <span class="dim">{says}</span>
            </span>
          </li>
        ))}
        {more > 0 && (
          <li>
            <a href={pathTo("activity")}>{plural(more, "more send")}</a>
          </li>
        )}
      </ul>
    </Card>
  );
}

function ofApproval({ id, name, approval }: ListedCampaign): Matter[] {
  if (approval === undefined) return [];
  const says = (
    <>
      waits for approval, asked for by {approval.requested_by.name} <Time at={approval.requested_at} />
    </>
  );
  return [{ key: id, icon: "clock", name, href: pathTo("campaigns", id), says }];
}

function ofDraft({ id, name, updated_at }: ListedCampaign): Matter {
  const says = (
    <>
      is a draft, changed <Time at={updated_at} />
    </>
  );
  return { key: id, icon: "pencil", name, href: pathTo("campaigns", id), says };
}

/** Those that somebody must look at: halted ones first, and what failed or goes out within a day. */
function ofSends({ items }: NotificationsListAnswer): Matter[] {
  const matters = items.flatMap((send): Matter[] => {
    const { id, scheduled_at, created_at } = send;
    const at = { key: id, name: sendName(send), href: pathTo("activity", id) };
    const state = stateOf(send);
    if (state === "halted") return [{ ...at, icon: "warning", says: "was halted by its brake" }];
    if (Math.abs(Date.parse(scheduled_at ?? created_at) - now()) > DAY) return [];
    switch (state) {
      case "failed":
        return [{ ...at, icon: "cross", says: "failed" }];
      case "scheduled":
        return [
          {
            ...at,
            icon: "clock",
            says: (
              <>
                goes out <Time at={scheduled_at} />
              </>
            ),
          },
        ];
      default:
        return [];
    }
  });
  return matters.toSorted((a, b) => Number(b.icon === "warning") - Number(a.icon === "warning"));
}

export interface Use {
  name: string;
  used: number;
  limit: number;
}

/** What the plan limits, as far as it is of every day. */
export function usesOf(billing: Billing): Use[] {
  const { usage, limits } = billing;
  return [
    { name: "Messages", used: usage.sends, limit: sendLimitOf(billing) },
    { name: "Events", used: usage.events, limit: limits.events },
    { name: "Subscribers", used: usage.subscribers, limit: limits.subscribers },
  ];
}

const ofLimits = (billing: Billing): Matter[] =>
  usesOf(billing).flatMap(({ name, used, limit }): Matter[] =>
    used < NEAR * limit
      ? []
      : [
          {
            key: name,
            icon: "warning",
            name,
            href: pathTo("settings", "plan"),
            says: `are at ${share(used, limit)} of ${number(limit)} in this period`,
          },
        ],
  );
