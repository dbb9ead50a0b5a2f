// Finds pages, actions, people and whatever has a name by what is typed.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { folded } from "../../shared/rules/folded.ts";
import { Icon, type IconName } from "../components/icon.tsx";
import { pages } from "../pages/index.ts";
import { api } from "./api.ts";
import { panel } from "./keys.ts";
import { go, pathTo } from "./router.ts";
import { signOut } from "./session.ts";

interface Hit {
  id: string;
  title: string;
  /** Finds it, and is not shown. */
  note: string;
  /** What it is, beside its title. */
  noun?: string | undefined;
  icon: IconName;
  run: () => void;
}

const places: readonly Hit[] = pages.map(({ name, title, icon, words }) => {
  return { id: `page-${name}`, title, note: words, icon, run: () => go(pathTo(name)) };
});

const open = (name: "drawer" | "keys") => () => {
  panel.value = name;
};

const actions: readonly Hit[] = [
  { id: "calls", title: "API calls", note: "developer curl SDK", icon: "code", run: open("drawer") },
  { id: "keys", title: "Keyboard", note: "help shortcuts", icon: "dots", run: open("keys") },
  { id: "leave", title: "Sign out", note: "", icon: "leave", run: () => void signOut() },
];

const WAIT_MS = 250;
const MAX_FOUND = 5;
/** Of what the API does not search, so many pages are looked through: 2,000 of each kind. */
const MAX_PAGES = 20;

type Found = readonly { id: string; name: string; email?: string | null | undefined }[];

interface NamedPage {
  named: Found;
  /** Empty on the last page. */
  next_cursor: string;
}

/** Pages that were read since the palette was opened, by kind: each is read once, however much is typed. */
const readPages = new Map<string, Promise<NamedPage>[]>();

/** What has a text in its name, newest first: page by page, until there is enough. */
async function lookThrough(kind: string, text: string, read: (cursor?: string) => Promise<NamedPage>): Promise<Found> {
  const pages = readPages.get(kind) ?? [];
  readPages.set(kind, pages);
  const wanted = folded(text);
  const found: Found[number][] = [];
  let cursor: string | undefined;
  for (let n = 0; n < MAX_PAGES; n++) {
    const page = pages[n] ?? read(cursor);
    pages[n] = page;
    // What was refused is asked for again by the next search.
    const { named, next_cursor } = await page.catch((cause) => {
      pages.length = n;
      throw cause;
    });
    found.push(...named.filter(({ name }) => folded(name).includes(wanted)));
    if (next_cursor === "" || found.length >= MAX_FOUND) return found;
    cursor = next_cursor;
  }
  return found;
}

/** What has a name, by the page that shows it. A search that fails finds nothing; the call log has the error. */
const searches: readonly {
  page: string;
  icon: IconName;
  noun: string;
  find: (text: string, options: { signal: AbortSignal }) => Promise<Found>;
  hrefOf: (id: string) => string;
}[] = [
  {
    page: "people",
    icon: "people",
    noun: "",
    find: async (q, options) =>
      (await api.subscribers.list({ q, limit: MAX_FOUND }, options)).items.map(({ id, external_id: name }) => ({
        id,
        name,
      })),
    hrefOf: (id) => pathTo("people", id),
  },
  {
    page: "campaigns",
    icon: "campaign",
    noun: "campaign",
    find: async (q, options) => (await api.campaigns.list({ q, page_size: MAX_FOUND }, options)).items,
    hrefOf: (id) => pathTo("campaigns", id),
  },
  {
    page: "journeys",
    icon: "journey",
    noun: "journey",
    find: (text) =>
      lookThrough("journeys", text, async (cursor) => {
        const { journeys, next_cursor } = await api.journeys.list({ cursor });
        return { named: journeys, next_cursor };
      }),
    hrefOf: (id) => pathTo("journeys", id),
  },
  {
    page: "segments",
    icon: "segment",
    noun: "segment",
    find: (text) =>
      lookThrough("segments", text, async (cursor) => {
        const { segments, next_cursor } = await api.segments.list({ cursor });
        return { named: segments, next_cursor };
      }),
    hrefOf: (id) => pathTo("segments", id),
  },
  {
    page: "templates",
    icon: "content",
    noun: "template",
    find: async (name, options) => (await api.templates.list({ name, per_page: MAX_FOUND }, options)).data,
    hrefOf: (id) => pathTo("content", `templates/${id}`),
  },
  {
    page: "lists",
    icon: "content",
    noun: "list",
    find: async (name, options) => (await api.lists.list({ name, page_size: MAX_FOUND }, options)).items,
    hrefOf: (id) => pathTo("content", `lists/${id}`),
  },
];

/** People whose external ID, email, phone or last name begins with what was typed, and what has it in its name. */
function useFound(text: string): Hit[] {
  const [found, setFound] = useState<Hit[]>([]);
  useEffect(() => {
    setFound([]);
    if (text.length < 2) return;
    const abort = new AbortController();
    const look = async ({ page, icon, noun, find, hrefOf }: (typeof searches)[number]): Promise<Hit[]> => {
      const all = await find(text, { signal: abort.signal }).catch((): Found => []);
      return all.slice(0, MAX_FOUND).map(({ id, name, email }) => ({
        id: `${page}-${id}`,
        title: name,
        note: "",
        noun: email ?? noun,
        icon,
        run: () => go(hrefOf(id)),
      }));
    };
    const timer = setTimeout(async () => {
      const hits = await Promise.all(searches.map(look));
      if (!abort.signal.aborted) setFound(hits.flat());
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return found;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => {
    readPages.clear();
    dialog.current?.showModal();
  }, []);
  const found = useFound(text.trim());
  const wanted = text.trim().toLowerCase();
  const fixed = [...places, ...actions].filter(({ title, note }) => `${title} ${note}`.toLowerCase().includes(wanted));
  const hits = [...fixed, ...found];
  const chosen = hits[Math.min(at, hits.length - 1)];
  const close = () => {
    if (panel.value === "palette") panel.value = "";
  };
  const run = (hit: Hit | undefined) => {
    close();
    hit?.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(hits.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Find" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label="Find pages, people and more"
        aria-expanded="true"
        aria-controls="palette-hits"
        aria-activedescendant={chosen && `hit-${chosen.id}`}
        placeholder="Find a page, a person, a campaign, a journey, a segment …"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Hits hits={hits} chosen={chosen} run={run} />
    </dialog>
  );
}

interface HitsProps {
  hits: readonly Hit[];
  chosen: Hit | undefined;
  run: (hit: Hit) => void;
}

const Hits = ({ hits, chosen, run }: HitsProps) => (
  <div id="palette-hits" role="listbox" aria-label="Found">
    {hits.map((hit) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the focus and handles the keys
      <div
        key={hit.id}
        id={`hit-${hit.id}`}
        role="option"
        aria-selected={hit === chosen}
        tabIndex={-1}
        onClick={() => run(hit)}
      >
        <Icon name={hit.icon} />
        {hit.title}
        {hit.noun && <small>{hit.noun}</small>}
      </div>
    ))}
  </div>
);
