// The names of what the audit trail names by id: each kind is read once. The page opens with the two that it shows most.
import { useEffect, useState } from "preact/hooks";
import { useQuery } from "../../app/query.ts";

interface Named {
  id: string;
  name: string;
}

/** Kinds whose names a list of the API has. The page reads the trail and the team before, and opens with four calls. */
const readable: ReadonlySet<string> = new Set([
  "campaigns",
  "journeys",
  "templates",
  "segments",
  "lists",
  "channels",
  "experiences",
  "notifications",
  "webhooks",
  "topics",
  "account",
]);
const MAX_AT_FIRST = 2;
/** Keys are in two lists, and read only with all names. */
const TWO_READS = "account";

/** A halted step is named by its journey. */
const kindOf = (group: string): string => (group === "brakes" ? "journeys" : group);

/** @returns the kinds that have names, those with most entries first. */
function rankKinds(groups: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const kind of groups.map(kindOf)) if (readable.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([kind]) => kind);
}

interface Names {
  byId: ReadonlyMap<string, string>;
  /** Reads the names of the other kinds too; undefined where all are read. */
  readAll: (() => void) | undefined;
}

/** @param groups of each entry that is shown. Of a list only the first page is read; what is deleted has no name any more. */
export function useNames(groups: readonly string[]): Names {
  // A kind that was read stays, whatever is shown after it.
  const [asked, setAsked] = useState<readonly string[]>([]);
  const kinds = rankKinds(groups);
  const first = kinds
    .filter((kind) => kind !== TWO_READS)
    .slice(0, MAX_AT_FIRST)
    .join();
  useEffect(() => {
    if (asked.length === 0 && first) setAsked(first.split(","));
  }, [first]);
  const missing = kinds.filter((kind) => !asked.includes(kind));
  const is = (kind: string) => ({ when: asked.includes(kind) });
  const campaigns = useQuery("campaigns.list", [{ page_size: 100 }], is("campaigns"));
  const journeys = useQuery("journeys.list", [], is("journeys"));
  const templates = useQuery("templates.list", [{ per_page: 100 }], is("templates"));
  const segments = useQuery("segments.list", [], is("segments"));
  const lists = useQuery("lists.list", [{ page_size: 100 }], is("lists"));
  const channels = useQuery("channels.list", [], is("channels"));
  const experiences = useQuery("experiences.list", [{ page: 1, page_size: 50 }], is("experiences"));
  const sends = useQuery("notifications.list", [{ limit: 100 }], is("notifications"));
  const webhooks = useQuery("webhooks.list", [], is("webhooks"));
  const topics = useQuery("topics.list", [], is("topics"));
  const serverKeys = useQuery("account.listServerKeys", [], is("account"));
  const agentKeys = useQuery("account.listAgentKeys", [], is("account"));
  const found: readonly Named[] = [
    ...(campaigns.data?.items ?? []),
    ...(journeys.data?.journeys ?? []),
    ...(templates.data?.data ?? []),
    ...(segments.data?.segments ?? []),
    ...(lists.data?.items ?? []),
    ...(channels.data?.channels ?? []),
    ...(experiences.data?.items ?? []),
    ...(sends.data?.items ?? []).map(({ id, name, title }) => ({ id, name: name ?? title ?? "" })),
    ...(serverKeys.data?.items ?? []),
    ...(agentKeys.data?.items ?? []),
    ...(topics.data?.items ?? []).map(({ key, name }) => ({ id: key, name })),
    ...(webhooks.data?.items ?? []).map(({ id, target_url }) => ({ id, name: new URL(target_url).host })),
  ];
  return {
    byId: new Map(found.map(({ id, name }) => [id, name])),
    readAll: asked.length > 0 && missing.length > 0 ? () => setAsked([...asked, ...missing]) : undefined,
  };
}
