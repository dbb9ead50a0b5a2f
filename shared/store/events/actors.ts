// The actor of an event: a subscriber, or an anonymous id.
import type { Actor } from "./items.ts";

export const subscriberActor = (id: string): Actor => ({ kind: "subscriber", id });

export const anonymousActor = (id: string): Actor => ({ kind: "anonymous", id });

export const actorsOf = (subscriber: string, anonymousIds: readonly string[]): Actor[] => [
  subscriberActor(subscriber),
  ...anonymousIds.map(anonymousActor),
];

/** An actor in one text: `S` and the id of a subscriber, or `A` and an anonymous id. */
export const actorText = ({ kind, id }: Actor): string => `${kind === "subscriber" ? "S" : "A"}${id}`;

/** Parses the text of `actorText`. */
export const actorIn = (text: string): Actor =>
  text.startsWith("S") ? subscriberActor(text.slice(1)) : anonymousActor(text.slice(1));

export const anonymousIdsOf = (actors: readonly (Actor | null | undefined)[]): string[] =>
  actors.flatMap((actor) => (actor?.kind === "anonymous" ? [actor.id] : []));
