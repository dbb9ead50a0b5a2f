// Templates by their ids, wherever they stand among the others.
import { useEffect, useState } from "preact/hooks";
import { call } from "../app/api.ts";
import { PAGE } from "../app/lookup.ts";
import { useQuery } from "../app/query.ts";

/** Of the newest by one read, and of each that is older by one more. @returns undefined for one that is deleted, or not read yet */
export function useTemplateNames(ids: readonly string[]): (id: string) => string | undefined {
  const newest = useQuery("templates.list", [{ per_page: PAGE }], { when: ids.length > 0 }).data?.data;
  const [older, setOlder] = useState<Readonly<Record<string, string>>>({});
  const nameOf = (id: string) => newest?.find((one) => one.id === id)?.name ?? older[id];
  const missing = newest ? [...new Set(ids)].filter((id) => nameOf(id) === undefined) : [];
  useEffect(() => {
    for (const id of missing)
      void call("templates.get", [id]).then(
        ({ name }) => setOlder((known) => ({ ...known, [id]: name })),
        // It is shown without its name.
        () => undefined,
      );
    // Not by what is missing: each answer would ask for the others once more.
  }, [newest === undefined, ids.join()]);
  return nameOf;
}
