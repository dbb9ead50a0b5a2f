// Renders the content of a send, per arm of an A/B test. Texts that refer to nothing of the recipient are rendered
// once.
import { isRenderError, type RenderScope } from "../../../rules/render.ts";
import type { StoreReader } from "../../context.ts";
import { findEvent } from "../../events/events.ts";
import { attributesOf, type LivingProfile, subscriberOf } from "../../subscribers/subscribers.ts";
import { refersToEvent } from "../jobs/job-content.ts";
import type { Job } from "../jobs/job-record.ts";

export type Arm = "a" | "b" | undefined;
export type Event = RenderScope["event"];

export interface ArmRenderer<T> {
  /** The profile of the recipient is not needed. */
  isStatic: boolean;
  /** Undefined if it cannot be rendered for this recipient, now or later. */
  render(arm: Arm, profile: LivingProfile | undefined): T | undefined;
}

/** The scope of a send that refers to nothing of the recipient. */
export const NOBODY: RenderScope = { subscriber: { id: "", attributes: {} }, data: {} };

/** Renders. @returns undefined if it fails */
export function attempted<T>(render: () => T): T | undefined {
  try {
    return render();
  } catch (error) {
    if (isRenderError(error)) return undefined;
    throw error;
  }
}

/** @param renderOnce renders one arm; its render errors give undefined. */
export function armRenderer<T>(
  { job, event, isStatic }: { job: Pick<Job, "data">; event: Event; isStatic: boolean },
  renderOnce: (arm: Arm, scope: RenderScope) => T | undefined,
): ArmRenderer<T> {
  const cache = new Map<Arm, T | undefined>();
  return {
    isStatic,
    render: (arm, profile) => {
      if (!isStatic) return profile && attempted(() => renderOnce(arm, scopeOf(profile, job, event)));
      if (!cache.has(arm))
        cache.set(
          arm,
          attempted(() => renderOnce(arm, NOBODY)),
        );
      return cache.get(arm);
    },
  };
}

/** The variables of a send's texts. */
export function scopeOf(profile: LivingProfile, job: Pick<Job, "data">, event: Event): RenderScope {
  const { id, external_id, email } = subscriberOf(profile);
  return { subscriber: { id, external_id, email, attributes: attributesOf(profile) }, data: job.data ?? {}, event };
}

/** The properties of the event that the texts of a send refer to, if they do (D-LIQUID). */
export async function eventFor(
  store: StoreReader,
  { event_id, ...said }: Pick<Job, "event_id" | "title" | "body" | "data" | "by_channel">,
): Promise<Event> {
  if (event_id === undefined || !refersToEvent(said)) return undefined;
  return (await findEvent(store, event_id))?.properties;
}

/** A row of the inbox holds 400 KB: rendered values must not make one too large, as its whole batch would fail. */
const MAX_CONTENT_BYTES = 262_144;
/** A character takes up to 6 bytes in JSON. The other half is for the rest of the content. */
const CERTAINLY_SMALL_CHARACTERS = MAX_CONTENT_BYTES / 6 / 2;

/** @param characters of its texts: below a limit, the size is not computed. */
export const isTooLarge = (content: object, characters: number): boolean =>
  characters > CERTAINLY_SMALL_CHARACTERS && Buffer.byteLength(JSON.stringify(content)) > MAX_CONTENT_BYTES;
