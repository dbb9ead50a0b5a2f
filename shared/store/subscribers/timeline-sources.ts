// The sources of a timeline: existing rows, each source newest first (docs/decisions/0034).
import { DAY, timestamp } from "../../kernel/clock.ts";
import { timeOfUuid } from "../../kernel/ids.ts";
import type { StoreReader } from "../context.ts";
import { actorsOf } from "../events/actors.ts";
import { MAX_SPAN_MS } from "../events/block-keys.ts";
import { eventsIn, HISTORY, untilOf } from "../events/history.ts";
import { type Actor, ActorEvents } from "../events/items.ts";
import { RunItem } from "../journeys/run-items.ts";
import { isWithdrawn } from "../journeys/run-rows.ts";
import { stepsOf } from "../journeys/run-steps.ts";
import { haltsOf } from "../journeys/step-states.ts";
import { ListMembership, SegmentMembership } from "../lists/items.ts";
import type { Key } from "../model.ts";
import { staticMembershipsOf } from "../segments/static-memberships.ts";
import { lowestId, messageIdOf, messagesSince } from "../sends/inbox/inbox.ts";
import { armOfMessage } from "../sends/inbox/inbox-content.ts";
import { Message } from "../sends/inbox/inbox-items.ts";
import { isTestId } from "../sends/jobs/job-ids.ts";
import { listJobs } from "../sends/jobs/job-list.ts";
import type { Job } from "../sends/jobs/job-record.ts";
import { stopAfterQuiet } from "../sends/jobs/send-state.ts";
import { channelOutcomes } from "../sends/ledger/channel-outcomes.ts";
import { TouchItem } from "../sends/ledger/ledger-items.ts";
import { ledgerOutcome } from "../sends/ledger/recipient-outcome.ts";
import { CLOCK_TOLERANCE_MS, touchesSince } from "../sends/ledger/touches.ts";
import { type AudiencePlace, placeInPlan } from "../sends/reports/audience-place.ts";
import { pagesOf } from "../table.ts";
import { aliasesOf } from "./aliases.ts";
import { consentOf } from "./consents.ts";
import { deviceOf, deviceRows } from "./devices.ts";
import { ConsentItem } from "./items.ts";
import type { TimelineEntry } from "./timeline-entries.ts";
import { type Bounds, isBefore, type PlacedEntry, placedAt, type Source } from "./timeline-places.ts";
import { refusals } from "./timeline-refusals.ts";

const EVENT_PAGE = 50;

/** Reads rows newest first until `limit` of their entries are before the page's place, or none are left. */
async function untilEnough<R extends { sk: string }>(
  { before, limit }: Bounds,
  read: (after: Key | undefined) => Promise<{ items: R[]; next?: Key | undefined }>,
  placed: (row: R) => PlacedEntry[],
): Promise<PlacedEntry[]> {
  const found: PlacedEntry[] = [];
  for await (const { items } of pagesOf(read)) {
    found.push(...items.flatMap(placed).filter((place) => before === undefined || isBefore(place, before)));
    if (found.length >= limit) break;
  }
  return found;
}

/** The unknown fields of a message. */
const UNSAID = { channel: null, device_id: null, reason: null, variant_id: null, deferred_until: null };

/** Messages that left the service: a row of the ledger for each address. */
const touches: Source = (store, bounds) => {
  const to = `R#${bounds.before?.at ?? ""}~`;
  const range = { from: "R#", to, newestFirst: true, limit: bounds.limit, eventual: true };
  return untilEnough(
    bounds,
    (after) => store.query(TouchItem, { subscriber: bounds.subscriber }, { ...range, after }),
    (row) => {
      const [, at = ""] = row.sk.split("#");
      const { state, ...outcome } = ledgerOutcome(row);
      const data = { ...UNSAID, ...outcome, device_id: row.device ?? null, variant_id: row.arm ?? null };
      return [placedAt(at, row.sk, { kind: "message", state, ref: row.job, data })];
    },
  );
};

const messages: Source = (store, bounds) => {
  const to = bounds.before ? `I#${lowestId(Date.parse(bounds.before.at) + 1)}` : "I#~";
  const range = { from: "I#", to, newestFirst: true, limit: bounds.limit, eventual: true };
  return untilEnough(
    bounds,
    (after) => store.query(Message, { subscriber: bounds.subscriber }, { ...range, after }),
    (row) => {
      if (isTestId(row.job)) return [];
      const data = { ...UNSAID, channel: "in_app", variant_id: armOfMessage(row) ?? null };
      const at = timestamp(timeOfUuid(messageIdOf(row)));
      return [placedAt(at, row.sk, { kind: "message", state: "delivered", ref: row.job, data })];
    },
  );
};

/**
 * A row of a history holds events of up to an hour: those of the rows to come are older than the end of the last one. All
 * rows of the hour after the place are read, and all of one moment: a page that left some out would end the timeline.
 */
const eventsOfActor = async (store: StoreReader, actor: Actor, { before, limit }: Bounds): Promise<PlacedEntry[]> => {
  const found = new Map<string, PlacedEntry>();
  const end = before ? timestamp(Date.parse(before.at) + MAX_SPAN_MS) : "";
  let after: Key | undefined;
  for (;;) {
    const page = await store.query(ActorEvents, actor, {
      from: HISTORY,
      to: `${HISTORY}${end}~`,
      newestFirst: true,
      limit: EVENT_PAGE,
      eventual: true,
      after,
    });
    for (const { id, occurred_at, event_name, properties, platform, source } of page.items.flatMap(eventsIn)) {
      const data = { properties, platform, source };
      const event = placedAt(occurred_at, id, { kind: "event", state: null, ref: id, title: event_name, data });
      if (before === undefined || isBefore(event, before)) found.set(id, event);
    }
    after = page.next;
    const bound = untilOf(page.items.at(-1)?.sk ?? "");
    const sure = [...found.values()].filter(({ at }) => !after || at > bound);
    if (!after || sure.length >= limit) return sure;
  }
};

const events: Source = async (store, bounds) => {
  const actors = actorsOf(bounds.subscriber, await aliasesOf(store, bounds.subscriber));
  return (await Promise.all(actors.map((actor) => eventsOfActor(store, actor, bounds)))).flat();
};

/** All rows of a kind that most subscribers have few of: their keys are not in the order of their times. */
const all = { eventual: true };

const consents: Source = async (store, { subscriber }) =>
  (await store.queryAll(ConsentItem, { subscriber }, all)).map((row) => {
    const { id, channel, status, recorded_at, consented_at, source, express } = consentOf(row);
    return placedAt(recorded_at, id, {
      kind: "consent",
      state: status,
      ref: id,
      title: channel,
      data: { channel, source, express, consented_at },
    });
  });

const journeys: Source = async (store, { subscriber }) => {
  const items = (await store.queryAll(RunItem, { subscriber }, all)).filter((row) => !isWithdrawn(row));
  const halts = await haltsOf(
    store,
    items.map(({ journey_id: journey, version, step, status, since }) => ({
      journey,
      version,
      step,
      isWaiting: status === "active" && since === undefined,
    })),
  );
  return items.flatMap((row, i) => {
    const { id, journey_id: ref, version, entered_at, ended_at, end_reason, status, step } = row;
    const halted = halts[i] && { halted: halts[i].reason };
    const data = { run_id: id, version, step, end_reason: end_reason ?? null, steps: stepsOf(row), ...halted };
    return [
      placedAt(entered_at, `${id}#0`, { kind: "journey", state: "entered", ref, data }),
      ...(ended_at === undefined ? [] : [placedAt(ended_at, `${id}#1`, { kind: "journey", state: status, ref, data })]),
    ];
  });
};

const segments: Source = async (store, { subscriber }) =>
  (await store.queryAll(SegmentMembership, { subscriber }, all)).flatMap((row) => {
    const { segment_id: ref, entered_at, exited_at, member } = row;
    return [
      placedAt(entered_at, `${row.sk}#0`, { kind: "segment", state: "entered", ref }),
      ...(exited_at !== undefined && !member
        ? [placedAt(exited_at, `${row.sk}#1`, { kind: "segment", state: "exited", ref })]
        : []),
    ];
  });

const staticSegments: Source = async (store, { subscriber }) =>
  (await staticMembershipsOf(store, subscriber)).map(({ segment: { id: ref }, entered_at }) =>
    placedAt(entered_at, `G#${ref}#0`, { kind: "segment", state: "entered", ref }),
  );

const lists: Source = async (store, { subscriber }) =>
  (await store.queryAll(ListMembership, { subscriber }, all)).map(({ sk, list_id: ref, entered_at }) =>
    placedAt(entered_at, sk, { kind: "list", state: "entered", ref }),
  );

const devices: Source = async (store, { subscriber }) =>
  (await deviceRows(store, subscriber)).map(deviceOf).map(({ id, platform, model, status, created_at }) =>
    placedAt(created_at, id, {
      kind: "device",
      state: status,
      ref: id,
      title: model ?? platform,
      data: { platform, model },
    }),
  );

// Messages that are not sent: waiting ones, and sends that skipped the subscriber. They have no rows of their own, so
// the plans of the newest sends are read.

const LOOK_BACK_MS = 7 * DAY;
/** Sends that are looked at, and of those the ones whose plans are read. */
const MAX_SENDS = 100;
const MAX_PLANS = 20;

const unsent: Source = async (store, { subscriber }) => {
  const since = store.clock.now() - LOOK_BACK_MS;
  const { jobs } = await listJobs(store, { from: timestamp(since), limit: MAX_SENDS });
  const dispatched = jobs.filter(({ dispatched_at }) => dispatched_at !== null);
  const ofRecipient = dispatched.filter(
    ({ direct }) => !direct || direct.recipients.some((recipient) => recipient.subscriber === subscriber),
  );
  const asked = ofRecipient.slice(0, MAX_PLANS);
  if (asked.length === 0) return [];
  const [places, ledger, messages] = await Promise.all([
    Promise.all(asked.map(async (job) => (await placeInPlan(store, job, subscriber)).place)),
    touchesSince(store, subscriber, since - CLOCK_TOLERANCE_MS),
    messagesSince(store, subscriber, since - CLOCK_TOLERANCE_MS),
  ]);
  const found = asked.map(async (job, i) => {
    const ofJob = {
      ledger: ledger.filter((row) => row.job === job.id),
      messages: messages.filter((row) => row.job === job.id),
      stop: await stopAfterQuiet(store, job),
      now: store.clock.now(),
    };
    return unsentOf(job, places[i], ofJob);
  });
  return (await Promise.all(found)).flat();
};

type KnownOutcomes = Omit<Parameters<typeof channelOutcomes>[1], "targets" | "waits">;

function unsentOf(job: Job, place: AudiencePlace | undefined, known: KnownOutcomes): PlacedEntry[] {
  const at = job.dispatched_at ?? job.created_at;
  const common = { kind: "message" as const, ref: job.id };
  if (place?.kind === "skipped") {
    const data = { ...UNSAID, reason: place.reason };
    return [placedAt(at, `${job.id}#plan`, { ...common, state: "skipped", data })];
  }
  if (place?.kind !== "recipient") return [];
  const { recipient, waits } = place;
  return channelOutcomes(job, { ...known, targets: recipient.targets, waits })
    .filter((channelOutcome) => channelOutcome.at === null)
    .map(({ channel, device_id, state, reason, deferred_until }) => {
      const data = { channel, device_id, reason, variant_id: recipient.arm ?? null, deferred_until };
      return placedAt(at, `${job.id}#${channel}#${device_id}`, { ...common, state, data });
    });
}

export const timelineSources: Record<TimelineEntry["kind"], readonly Source[]> = {
  message: [touches, messages, unsent],
  event: [events],
  consent: [consents],
  journey: [journeys, refusals],
  segment: [segments, staticSegments],
  list: [lists],
  device: [devices],
};
