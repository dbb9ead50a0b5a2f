// What requests may name: ids by the kind of thing, of this workspace and of another one, and the tokens of links in mails.
import type { Random } from "../simulator/random.ts";

const MAX_OF_KIND = 20;

export interface Known {
  /** An id; of the kind, if one is named and known. */
  pick(random: Random, kind?: string): string;
  has(kind: string): boolean;
  note(kind: string, id: string): void;
}

export function createKnown(): Known {
  const byKind = new Map<string, string[]>();
  return {
    pick: (random, kind = "") => {
      const fitting = byKind.get(kind);
      return random.pick(fitting && !random.chance(0.15) ? fitting : random.pick([...byKind.values()]));
    },
    has: (kind) => byKind.has(kind),
    note: (kind, id) => {
      const ids = byKind.get(kind) ?? [];
      byKind.set(kind, [id, ...ids.filter((one) => one !== id)].slice(0, MAX_OF_KIND));
    },
  };
}

/** The parameters of a path with what they name: in `/journeys/:id/runs/:runId` one of `journeys` and one of `runs`. */
export const kindsOfParams = (path: string): { name: string; kind: string }[] =>
  [...path.matchAll(/([\w-]+)\/:(\w+)/g)].map(([, kind = "", name = ""]) => ({ name, kind }));

/** The kind of what a path names: `/api/v1/lists/import/:jobId` is about `import`. */
export const kindOfPath = (path: string): string => {
  const before = path.split("/:")[0]!.split("/");
  return before.at(-1) ?? "";
};

/** The kind of the ids in a field: `segment_id` and `segmentIds` are about `segments`. */
export const kindOfField = (name: string): string => {
  const [, noun] = name.match(/^(\w+?)_?ids?$/i) ?? [];
  return noun === undefined ? name : `${noun.replace(/^job$/, "notification").toLowerCase()}s`;
};

/** All ids and tokens that an answer names as the thing itself: of one, or of a list. */
export function idsIn(body: unknown): string[] {
  if (typeof body !== "object" || body === null) return [];
  const { id, key } = body as { id?: unknown; key?: unknown };
  const lists = Object.values(body).filter(Array.isArray).flat().slice(0, 3);
  return [
    id,
    key,
    ...lists.flatMap((list) => (typeof list === "object" && list ? [(list as { id?: unknown }).id] : [])),
  ].filter((one): one is string => typeof one === "string" && one.length <= 256);
}
