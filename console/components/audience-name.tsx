// Who something goes to, by the name of the list or segment.
import type { Target } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";

/** Of a list or segment beyond the first hundred: its kind. */
export function AudienceName({ of }: { of: Target }) {
  const lists = useQuery("lists.list", [{ page_size: 100 }], { when: of.type === "list" }).data;
  const segments = useQuery("segments.list", [], { when: of.type === "segment" }).data;
  if (of.type === "all") return <span class="dim">everyone</span>;
  const found =
    of.type === "list"
      ? lists?.items.find(({ id }) => id === of.list_id)
      : segments?.segments.find(({ id }) => id === of.segment_id);
  return <span class={found ? undefined : "dim"}>{found?.name ?? of.type}</span>;
}
