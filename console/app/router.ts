// The address as a signal: `/console/w/<tenant_id>/<page>/<id>?<filters>`, and links that change it without a load.
import { signal } from "@preact/signals";

const ROOT = "/console";

export interface Address {
  /** Empty before a workspace is chosen. */
  tenant: string;
  page: string;
  /** The rest of the path: ids and names of parts. */
  parts: string[];
  query: URLSearchParams;
  hash: string;
}

function segmentOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Some mail programs cut off long addresses.
    return text;
  }
}

const readPlace = ({ pathname, search, hash }: Location): Address => {
  const segments = pathname.slice(ROOT.length).split("/").filter(Boolean).map(segmentOf);
  const query = new URLSearchParams(search);
  const [scope, tenant = "", page = "", ...parts] = segments;
  if (scope === "w") return { tenant, page, parts, query, hash };
  return { tenant: "", page: scope ?? "", parts: segments.slice(1), query, hash };
};

export const place = signal<Address>(readPlace(location));

addEventListener("popstate", () => {
  place.value = readPlace(location);
});

export function go(path: string, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", path);
  place.value = readPlace(location);
  if (!replace) scrollTo(0, 0);
}

/** What follows on the answer to a call: nothing, if the person went elsewhere meanwhile. */
export function meanwhile(): (then: () => void) => void {
  const { pathname } = location;
  return (then) => {
    if (location.pathname === pathname) then();
  };
}

/** Where a call leads once it is answered, by the same rule. */
export function onward(): (path: string) => void {
  const ifHere = meanwhile();
  return (path) => ifHere(() => go(path));
}

export function pathTo(page: string, id = "", query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : [])),
  ).toString();
  const path = [ROOT, "w", place.value.tenant, page, id].filter(Boolean).join("/");
  return search ? `${path}?${search}` : path;
}

export const workspacePath = (tenant: string, page = ""): string => [ROOT, "w", tenant, page].filter(Boolean).join("/");
export const signInPath = (): string => `${ROOT}/sign-in`;

/** Changes filters in the address; undefined removes one. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const search = query.toString();
  go(location.pathname + (search ? `?${search}` : ""), { replace: true });
}

/** Plain clicks on links of the console stay in the page. */
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
  if (!link.pathname.startsWith(`${ROOT}/`) && link.pathname !== ROOT) return;
  event.preventDefault();
  if (link.hash && link.pathname === location.pathname) return document.querySelector<HTMLElement>(link.hash)?.focus();
  go(link.pathname + link.search);
});
