// A person by name, else by the id that the workspace knows, with a link to the profile.
import { personName } from "../app/person-name.ts";
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";

/** Who is not found was erased; of any other error nobody knows. */
export function usePersonName(id: string): string {
  const { data, error } = useQuery("subscribers.get", [id]);
  if (data) return personName(data);
  return error?.status === 404 ? "erased" : "…";
}

export const PersonLink = ({ id }: { id: string }) => <a href={pathTo("people", id)}>{usePersonName(id)}</a>;
