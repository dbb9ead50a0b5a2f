// Who something goes to, by the name of the list or segment.
import type { Target } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { Awaited, isAwaited } from "./states.tsx";

/** Of a list or segment beyond the first hundred: its kind. */
export function AudienceName({ of }: { of: Target }) {
  const lists = useQuery("lists.list", [{ page_size: 100 }], { when: of.type === "list" });
  const segments = useQuery("segments.list", [], { when: of.type === "segment" });
  if (of.type === "all") return <>Everyone</>;
  if (isAwaited(lists) || isAwaited(segments)) return <Awaited />;
  const found =
    of.type === "list"
      ? lists.data?.items.find(({ id }) => id === of.list_id)
      : segments.data?.segments.find(({ id }) => id === of.segment_id);
  return <span class={found ? undefined : "dim"}>{found?.name ?? of.type}</span>;
}
