// Whose events are: a subscriber's, or those of an anonymous id.
import type { Actor } from "./items.ts";

/** An actor in one text: `S` and the id of a subscriber, or `A` and an anonymous id. */
export const actorText = (actor: Actor): string =>
  "subscriber" in actor ? `S${actor.subscriber}` : `A${actor.anonymous}`;
export const actorIn = (text: string): Actor =>
  text.startsWith("S") ? { subscriber: text.slice(1) } : { anonymous: text.slice(1) };

/** The anonymous ids among actors, in their order. */
export const anonymousIdsOf = (actors: readonly (Actor | null | undefined)[]): string[] =>
  actors.flatMap((actor) => (actor && "anonymous" in actor ? [actor.anonymous] : []));
