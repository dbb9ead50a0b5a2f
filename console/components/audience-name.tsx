// Who something goes to, by the name of the list or segment.
import type { Target } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { isElsewhere } from "./one-of.tsx";
import { Awaited, isAwaited } from "./states.tsx";

/** Of a list or segment that is deleted: its kind. */
export function AudienceName({ of }: { of: Target }) {
  const [list, segment] = [of.type === "list" ? of.list_id : "", of.type === "segment" ? of.segment_id : ""];
  const lists = useQuery("lists.list", [{ page_size: 100 }], { when: list !== "" });
  const segments = useQuery("segments.list", [], { when: segment !== "" });
  const all = lists.data?.items ?? segments.data?.segments ?? [];
  const oneList = useQuery("lists.get", [list], { when: isElsewhere(lists, all, list) });
  const oneSegment = useQuery("segments.get", [segment], { when: isElsewhere(segments, all, segment) });
  if (of.type === "all") return <>Everyone</>;
  if ([lists, segments, oneList, oneSegment].some(isAwaited)) return <Awaited />;
  const found = all.find(({ id }) => id === list || id === segment) ?? oneList.data ?? oneSegment.data;
  return <span class={found ? undefined : "dim"}>{found?.name ?? of.type}</span>;
}
