// A person by the id that the workspace knows, with a link to the profile.
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";

export function PersonLink({ id }: { id: string }) {
  const found = useQuery("subscribers.get", [id]);
  return <a href={pathTo("people", id)}>{found.data?.external_id ?? `${id.slice(0, 8)}…`}</a>;
}
