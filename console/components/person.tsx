// A person by name, else by the id that the workspace knows, with a link to the profile.
import { personName } from "../app/person-name.ts";
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";

export function PersonLink({ id }: { id: string }) {
  const found = useQuery("subscribers.get", [id]);
  const name = found.data && personName(found.data);
  return <a href={pathTo("people", id)}>{name ?? (found.error ? "erased" : "…")}</a>;
}
