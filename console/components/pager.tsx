// Links to the pages of a numbered list; the number is in the address.
import { pathTo, place } from "../app/router.ts";
import { plural } from "../app/time.ts";

export const pageNumber = (): number => Math.max(1, Number(place.value.query.get("page") ?? 1) || 1);

export function Pager({ total, size, what }: { total: number; size: number; what: string }) {
  const { page: name, parts, query } = place.value;
  const page = pageNumber();
  if (total <= size) return null;
  const to = (n: number) => pathTo(name, parts.join("/"), { ...Object.fromEntries(query), page: String(n) });
  return (
    <nav class="more actions" aria-label="Pages">
      {page > 1 && <a href={to(page - 1)}>Newer</a>}
      <span class="dim">{plural(total, what)}</span>
      {page * size < total && <a href={to(page + 1)}>Older</a>}
    </nav>
  );
}
