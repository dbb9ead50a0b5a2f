// Which answers are read after a command, and at the end of a program: in our ids, as the owner of the workspace.
import { NOTED } from "../model/annotations.ts";
import { DAY, iso } from "../model/kit.ts";
import { leavesLate } from "../model/plans.ts";
import type { Job } from "../model/records/sends.ts";
import { timelineKinds } from "../model/timeline.ts";
import type { World } from "../model/world.ts";

export interface ComparedRead {
  path: string;
  query?: Record<string, string>;
  as?: string;
}

const look = (path: string, query: Record<string, string> = {}, as = "owner"): ComparedRead => ({ path, query, as });

/** Small pages, unless a schedule made hundreds of sends. */
const pageOf = ({ jobs }: World): string =>
  jobs.length > 300 || jobs.flatMap(({ recipients }) => recipients).length > 1_000 ? "100" : "3";

const last = <T>(items: T[], count: number) => items.slice(-count);

const sources = ({ campaigns, journeys }: Pick<World, "campaigns" | "journeys">): ComparedRead[] =>
  [...campaigns.map(({ id }) => ["campaign", id]), ...journeys.map(({ id }) => ["journey", id])].map(
    ([source_type, source_id]) => look("/api/v1/insights/series", { source_type: source_type!, source_id: source_id! }),
  );

/** The ids of skipped people are kept for 30 days (docs/decisions/0013-the-send-ledger.md). */
export const isListed = ({ now }: Pick<World, "now">, { recipients, dispatched_at }: Job): boolean =>
  now < (dispatched_at ?? now) + 30 * DAY || recipients.every(({ state }) => state !== "skipped");

/** Whether a send gave back what it held of the quota while another one of its instant began. */
const leavesMeanwhile = ({ jobs }: World, { taken, dispatched_at }: Job): boolean =>
  taken !== undefined &&
  taken.sends < taken.asked &&
  jobs.filter((other) => other.dispatched_at === dispatched_at).length > 1;

/** Whether sends of one instant passed two shares of the quota: who reads it after both warns of the higher one alone. */
function warnsTwiceAtOnce({ annotations }: World): boolean {
  const times = annotations.filter(({ record }) => record.kind === "quota_warning").map(({ at }) => at);
  return new Set(times).size < times.length;
}

type ComparedReads = (world: World, isEnd: boolean) => ComparedRead[];

/** By area: what its commands may have changed. */
const AREAS: Record<string, ComparedReads> = {
  people: ({ subscribers, addresses }, isEnd) => [
    look("/api/v1/suppressions", isEnd ? { limit: "2" } : {}),
    ...(isEnd ? addresses.map(({ id }) => look(`/api/v1/suppressions/${id}`)) : []),
    look("/api/v1/subscribers", { limit: isEnd ? "3" : "50" }),
    ...subscribers.flatMap(({ id }) => [
      look(`/api/v1/subscribers/${id}`),
      ...(isEnd ? [look(`/api/v1/subscribers/${id}/consents`), look(`/api/v1/subscribers/${id}/devices`)] : []),
      ...(isEnd
        ? [
            look(`/api/v1/subscribers/${id}/export`),
            look(`/api/v1/subscribers/${id}/timeline`, { kinds: timelineKinds.join(), limit: "20" }),
            look(`/v1/subscribers/${id}`, {}, "server"),
            look("/v1/preferences", { subscriber_id: id }, "sdk"),
          ]
        : []),
    ]),
    ...(isEnd ? [look("/v1/subscribers", { limit: "2" }, "server")] : []),
    look("/api/v1/subscribers/count"),
  ],
  lists: ({ lists }, isEnd) => [
    look("/api/v1/lists", isEnd ? { page_size: "2" } : {}),
    ...lists.flatMap(({ id }) => [look(`/api/v1/lists/${id}`), look(`/api/v1/lists/${id}/subscribers`)]),
  ],
  templates: ({ templates }, isEnd) => [
    look("/api/v1/templates", isEnd ? { per_page: "2" } : {}),
    ...["Sum", "umm"].map((name) => look("/api/v1/templates", { name })),
    ...templates.flatMap(({ id }) => [look(`/api/v1/templates/${id}`), look(`/api/v1/templates/${id}/usage`)]),
  ],
  topics: ({ topics }) => [look("/api/v1/topics"), ...topics.map(({ key }) => look(`/api/v1/topics/${key}`))],
  channels: ({ channels }) => [look("/api/v1/channels"), ...channels.map(({ id }) => look(`/api/v1/channels/${id}`))],
  sends: (world, isEnd) => [
    look("/api/v1/notifications", { exclude_source_type: "journey", limit: isEnd ? pageOf(world) : "50" }),
    ...(isEnd ? [look("/api/v1/activity", { limit: pageOf(world) })] : []),
    ...last(
      world.jobs.filter(({ source, spec }) => source.type !== "journey" && !spec.confirms),
      isEnd ? 40 : 3,
    ).flatMap((job) => [
      look(`/api/v1/notifications/${job.id}`),
      ...(isEnd
        ? [
            look(`/v1/notifications/${job.id}`, {}, "server:messages:read"),
            look(`/api/v1/notifications/${job.id}/report`),
          ]
        : []),
      ...(isListed(world, job)
        ? [look(`/api/v1/notifications/${job.id}/recipients`, isEnd ? { limit: "2" } : {})]
        : []),
      ...(isEnd && isListed(world, job)
        ? [
            ...world.subscribers.map((person) => look(`/api/v1/notifications/${job.id}/recipients/${person.id}`)),
            ...last(world.subscribers, 1).map((one) => look("/api/v1/why", { person: one.external_id, send: job.id })),
          ]
        : []),
    ]),
    ...world.subscribers.map(({ id }) => look("/v1/in-app/messages", { subscriber_id: id })),
  ],
  events: (_, isEnd) => [look("/v1/events/export", isEnd ? { limit: "3" } : {}, "server")],
  segments: ({ segments, subscribers }, isEnd) => [
    look("/api/v1/segments"),
    ...segments.flatMap(({ id }) => [
      look(`/api/v1/segments/${id}`),
      look(`/api/v1/segments/${id}/members`),
      ...(isEnd ? subscribers.map((person) => look(`/api/v1/segments/${id}/members/${person.id}`)) : []),
    ]),
    look("/api/v1/segments/event-names"),
  ],
  journeys: ({ journeys, subscribers }, isEnd) => [
    look("/api/v1/journeys"),
    look("/api/v1/journeys/counts"),
    ...journeys.flatMap(({ id }) => [
      ...(isEnd ? subscribers.map((person) => look(`/api/v1/journeys/${id}/subscribers/${person.id}`)) : []),
      ...(isEnd ? last(subscribers, 1).map((person) => look("/api/v1/why", { person: person.id, journey: id })) : []),
      look(`/api/v1/journeys/${id}`),
      look(`/api/v1/journeys/${id}/versions`),
      look(`/api/v1/journeys/${id}/stats`),
      look(`/api/v1/journeys/${id}/runs`),
    ]),
  ],
  campaigns: ({ campaigns, jobs, subscribers, now }, isEnd) => [
    look("/api/v1/campaigns", { page_size: "2" }),
    ...(isEnd && jobs.every((job) => isListed({ now }, job))
      ? campaigns.flatMap(({ id: campaign }) =>
          last(subscribers, 1).map(({ id: person }) => look("/api/v1/why", { person, campaign })),
        )
      : []),
    ...(isEnd ? last(campaigns, 2) : []).flatMap(({ created_at }) => [
      look("/api/v1/campaigns", { from: iso(created_at) }),
      look("/api/v1/campaigns", { to: iso(created_at) }),
    ]),
    ...campaigns.map(({ id }) => look(`/api/v1/campaigns/${id}`)),
  ],
  schedules: ({ schedules }) => [
    look("/api/v1/schedules", { per_page: "2" }),
    ...schedules.map(({ id }) => look(`/api/v1/schedules/${id}`)),
  ],
  experiences: ({ experiences }) => [
    look("/api/v1/in-app/experiences", { page_size: "2" }),
    ...experiences.flatMap(({ id }) => [
      look(`/api/v1/in-app/experiences/${id}`),
      look(`/api/v1/in-app/experiences/${id}/stats`),
    ]),
  ],
  insights: ({ campaigns, journeys, jobs }, isEnd) => [
    look("/api/v1/insights/config"),
    look("/api/v1/insights/heatmap"),
    look("/api/v1/insights/heatmap", { days: "1" }),
    look("/api/v1/insights/series"),
    // From the moment of a send: the hour and the day in which the period begins count whole.
    ...last(jobs, 2).flatMap(({ created_at }) => [
      look("/api/v1/insights/series", { interval: "hour", start: iso(created_at) }),
      look("/api/v1/insights/series", { group_by: "channel", start: iso(created_at) }),
      look("/api/v1/insights/deliverability", { start: iso(created_at), end: iso(created_at + DAY) }),
    ]),
    look("/api/v1/insights/series", { group_by: "category" }),
    look("/api/v1/insights/deliverability"),
    ...["campaign", "journey", "channel"].map((group_by) => look("/api/v1/insights/summary", { group_by })),
    ...(isEnd ? sources({ campaigns, journeys }) : []),
    ...campaigns.flatMap(({ id, status }) =>
      status === "draft"
        ? []
        : [
            look(`/api/v1/campaigns/${id}/report`),
            look("/api/v1/insights/funnel", { source_type: "campaign", source_id: id }),
          ],
    ),
    ...journeys.map(({ id }) => look("/api/v1/insights/funnel", { source_type: "journey", source_id: id })),
    ...last(
      jobs.filter(({ status, source, spec }) => status === "completed" && source.type !== "journey" && !spec.confirms),
      6,
    ).map(({ id }) => look("/api/v1/insights/lift", { job_id: id })),
  ],
  hooks: ({ hooks, hookDeliveries }, isEnd) => {
    // Schedules may have made thousands.
    const limitOf = (few: string) => (hookDeliveries.length > 300 ? "100" : few);
    return [
      look("/api/v1/webhooks"),
      ...(isEnd ? [look("/v1/hooks", {}, "server")] : []),
      ...hooks.flatMap(({ id, events }) => [
        look(`/api/v1/webhooks/${id}`),
        look(`/api/v1/webhooks/${id}/deliveries`, { limit: limitOf("7") }),
        look(`/api/v1/webhooks/${id}/deliveries`, { missing: "true", limit: limitOf("3") }),
        ...(isEnd
          ? events.map((event_type) => look(`/api/v1/webhooks/${id}/deliveries`, { event_type, limit: limitOf("2") }))
          : []),
      ]),
    ];
  },
  exports: ({ exports }, isEnd) => [
    look("/api/v1/exports", isEnd ? { limit: "2" } : {}),
    ...last(exports, isEnd ? 10 : 1).map(({ id }) => look(`/api/v1/exports/${id}`)),
  ],
  imports: ({ imports }, isEnd) => [
    ...(isEnd ? [look("/api/v1/lists/import", { limit: "2" })] : []),
    ...imports.map(({ id }) => look(`/api/v1/lists/import/${id}`)),
  ],
  annotations: (world, isEnd) => {
    // What a send to one person holds of the quota until its quarter-hour is settled, or one of several of an instant until it
    // ends, warns or not (docs/decisions/0093).
    const isOpen = warnsTwiceAtOnce(world) || world.jobs.some((job) => leavesLate(job) || leavesMeanwhile(world, job));
    const known = isOpen ? NOTED : [...NOTED, "quota_warning"];
    const all = { from: "2026-01-01T00:00:00Z", to: "2030-01-01T00:00:00Z", kinds: known.join() };
    const own = world.annotations.filter(({ record }) => isEnd && record.source === "manual");
    const spans = last(own, 2).flatMap(({ at }) => [{ from: iso(at) }, { to: iso(at) }]);
    return [all, ...spans.map((span) => ({ ...all, ...span }))].map((query) => look("/api/v1/annotations", query));
  },
  workspace: () => [look("/api/v1/workspace"), look("/api/v1/billing")],
};

/** A path's area, and what its commands reach beyond it. */
const REACHES: [RegExp, string[]][] = [
  [/^\/api\/v1\/lists\/import/, ["imports", "people", "lists"]],
  [/subscribers|\/devices|suppressions/, ["people"]],
  [/^\/api\/v1\/lists/, ["lists"]],
  [/templates/, ["templates"]],
  [/topics|preferences/, ["topics"]],
  [/channels/, ["channels"]],
  [/_send$/, ["sends"]],
  [/interactions/, ["insights", "experiences"]],
  [/notifications|in-app\/messages/, ["sends"]],
  [/\/v1\/events/, ["events", "segments", "journeys", "sends"]],
  [/\/v1\/(batch|segment\/)/, ["people", "events", "segments", "journeys", "sends"]],
  [/segments/, ["segments", "journeys"]],
  [/journeys/, ["journeys", "sends"]],
  [/campaigns/, ["campaigns", "sends"]],
  [/schedules/, ["schedules", "sends"]],
  [/experiences/, ["experiences", "sends"]],
  [/insights/, ["insights"]],
  [/exports/, ["exports"]],
  [/hooks/, ["hooks"]],
  [/workspace|billing/, ["workspace", "annotations"]],
  [/annotations/, ["annotations"]],
];

export function looksAfter(world: World, path: string): ComparedRead[] {
  const areas = REACHES.find(([pattern]) => pattern.test(path))?.[1] ?? [];
  return areas.flatMap((area) => AREAS[area]!(world, false));
}
/** Time has passed: whatever may have become due. */
export const looksAfterWaiting = (world: World): ComparedRead[] =>
  ["sends", "segments", "journeys", "campaigns", "schedules", "hooks", "workspace"].flatMap((area) =>
    AREAS[area]!(world, false),
  );

export const looksAfterLink = (world: World): ComparedRead[] =>
  ["people", "lists", "sends", "insights"].flatMap((area) => AREAS[area]!(world, false));

export const allLooks = (world: World): ComparedRead[] => Object.values(AREAS).flatMap((looks) => looks(world, true));
