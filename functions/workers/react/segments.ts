// Segments to compute, and subscribers whose dynamic segments may have changed.
import type { Context } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import { recomputeQueue, segmentQueue } from "../../../shared/runtime/resources.ts";
import { type Change, type Changes, isNew, ofTenants } from "../../../shared/store/changes.ts";
import { actorIn } from "../../../shared/store/events/actors.ts";
import { ActorEvents } from "../../../shared/store/events/items.ts";
import { watchVersions } from "../../../shared/store/events/watchers.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { dynamicSegments, type SegmentIndex } from "../../../shared/store/segments/active.ts";
import { changedKeys } from "../../../shared/store/segments/facts.ts";
import { fillParts, secondLook } from "../../../shared/store/segments/fill.ts";
import { SegmentItem } from "../../../shared/store/segments/items.ts";
import { Profile, SubscriberAlias } from "../../../shared/store/subscribers/items.ts";

export const segmentUses = [segmentQueue, recomputeQueue, dynamicSegments, watchVersions] as const;
type WorkerContext = Context<typeof segmentUses>;

/** By this time, requests that accepted events before they saw a new segment have ended. */
const SECOND_LOOK_SECONDS = 60;
/** Subscribers of one message: they are evaluated together. */
const PER_MESSAGE = 100;
/** Beyond this number all segments are evaluated, so that messages stay small. */
const MAX_NAMED = 4;

/** A new run of a segment: every shard of the subscribers, side by side. */
export async function queueComputations(changes: Changes, { recomputeQueue: queue }: WorkerContext): Promise<void> {
  const begun = changes.of(SegmentItem, "segment").filter(({ before, after }) => after.run !== before?.run);
  const messages = (partsOf: typeof fillParts, runs: typeof begun) =>
    runs.flatMap(({ tenant, after: { id: segment, run, parts } }) =>
      partsOf(parts).map((part) => ({ kind: "part" as const, tenant, segment, run, part })),
    );
  await queue.send(messages(fillParts, begun));
  const watching = begun.filter(({ after }) => after.is_dynamic && compileRule(fromJson(after.rule)).events.length > 0);
  await queue.send(messages(secondLook, watching), { delaySeconds: SECOND_LOOK_SECONDS });
}

/** Reads the rules once per workspace and batch, and queues only changes that a rule mentions. */
export async function queueSegments(
  changes: Changes,
  { segmentQueue: queue, dynamicSegments, watchVersions }: WorkerContext,
): Promise<void> {
  const profiles = ofTenants(changes.of(Profile, "subscriber"));
  const histories = ofTenants(changes.of(ActorEvents, "events").filter(isNew));
  const aliases = ofTenants(changes.of(SubscriberAlias, "alias"));
  for (const tenant of new Set([...profiles.keys(), ...histories.keys(), ...aliases.keys()])) {
    const index = await dynamicSegments.of(tenant, watchVersions.of(tenant));
    if (index.rules.size === 0) continue;
    const touched = touchedBy(profiles.get(tenant) ?? [], histories.get(tenant) ?? [], index);
    const subscribers = [...touched.subscribers].map(([id, touch]) => ({
      id,
      ...changeIn(touch),
      ...(!touch.isCurrent && { historical: true as const }),
    }));
    const linked = (aliases.get(tenant) ?? []).map(({ after }) => ({ id: after.subscriber }));
    const visitors = [...touched.visitors].map(([anonymous, touch]) => ({ anonymous, ...changeIn(touch) }));
    const { version } = index;
    await queue.send([
      ...chunksOf([...subscribers, ...linked], PER_MESSAGE).map((chunk) => ({
        tenant,
        version,
        subscribers: chunk,
        visitors: [],
      })),
      ...chunksOf(visitors, PER_MESSAGE).map((chunk) => ({ tenant, version, subscribers: [], visitors: chunk })),
    ]);
  }
}

/** The changes of one subscriber. */
interface Touch {
  segments: ReadonlySet<string>;
  /** The newest of the known times, in milliseconds. */
  at: number | undefined;
  /** The change may start journeys. */
  isCurrent: boolean;
}

function touchedBy(
  profiles: readonly Change<typeof Profile>[],
  histories: readonly Change<typeof ActorEvents>[],
  index: SegmentIndex,
) {
  const subscribers = new Map<string, Touch>();
  const visitors = new Map<string, Touch>();
  for (const change of profiles) {
    const { id, historical = false, updated_at } = change.after;
    const segments = mentioned(change, index);
    note(subscribers, id, { segments, at: updated_at, isCurrent: !historical });
  }
  for (const change of histories) {
    const { kind, id } = actorIn(change.after.actor);
    const segments = mentionedBy(change, index);
    note(kind === "subscriber" ? subscribers : visitors, id, {
      segments,
      at: change.after.received_at,
      isCurrent: true,
    });
  }
  return { subscribers, visitors };
}

function note(
  touches: Map<string, Touch>,
  id: string,
  { segments, at, isCurrent }: { segments: readonly string[]; at: string | undefined; isCurrent: boolean },
): void {
  if (segments.length === 0) return;
  const earlier = touches.get(id);
  touches.set(id, {
    segments: new Set([...(earlier?.segments ?? []), ...segments]),
    at: at === undefined ? earlier?.at : Math.max(earlier?.at ?? 0, Date.parse(at)),
    isCurrent: isCurrent || earlier?.isCurrent === true,
  });
}

/** The keys that a change touches. For a new subscriber everything is new, also keys that it does not have. */
function mentioned(change: Change<typeof Profile>, { rules, byAttribute }: SegmentIndex): string[] {
  if (change.before === undefined || change.before.external_id === undefined) return [...rules.keys()];
  return changedKeys(change.before, change.after).flatMap((key) => byAttribute.get(key) ?? []);
}

function mentionedBy({ after: { watched } }: Change<typeof ActorEvents>, { byEvent }: SegmentIndex): string[] {
  const names = watched === undefined ? [] : fromJson(watched).map(([name]) => name);
  return [...new Set(names)].flatMap((name) => byEvent.get(name) ?? []);
}

const changeIn = ({ segments, at }: Touch) => (segments.size > MAX_NAMED ? { at } : { segments: [...segments], at });
