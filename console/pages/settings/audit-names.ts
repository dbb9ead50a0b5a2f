// The names of what the audit trail names by id: each kind is read once, when the trail shows one of it.
import { useQuery } from "../../app/query.ts";

interface Named {
  id: string;
  name: string;
}

/** @returns the names by id. Of a list only the first page is read; what is deleted has no name any more. */
export function useNames(groups: ReadonlySet<string>): ReadonlyMap<string, string> {
  const is = (...names: string[]) => ({ when: names.some((name) => groups.has(name)) });
  const campaigns = useQuery("campaigns.list", [{ page_size: 100 }], is("campaigns"));
  const journeys = useQuery("journeys.list", [], is("journeys", "brakes"));
  const templates = useQuery("templates.list", [{ per_page: 100 }], is("templates"));
  const segments = useQuery("segments.list", [], is("segments"));
  const lists = useQuery("lists.list", [{ page_size: 100 }], is("lists"));
  const channels = useQuery("channels.list", [], is("channels"));
  const experiences = useQuery("experiences.list", [{ page: 1, page_size: 50 }], is("experiences"));
  const sends = useQuery("notifications.list", [{ limit: 100 }], is("notifications"));
  const found: readonly Named[] = [
    ...(campaigns.data?.items ?? []),
    ...(journeys.data?.journeys ?? []),
    ...(templates.data?.data ?? []),
    ...(segments.data?.segments ?? []),
    ...(lists.data?.items ?? []),
    ...(channels.data?.channels ?? []),
    ...(experiences.data?.items ?? []),
    ...(sends.data?.items ?? []).map(({ id, name, title }) => ({ id, name: name ?? title ?? "" })),
  ];
  return new Map(found.map(({ id, name }) => [id, name]));
}
