// Finds pages, actions, people and whatever has a name by what is typed.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
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
/** The newest ones are looked through here: the API finds no name without its marks. */
const PAGE = 100;

type Found = readonly { id: string; name: string; email?: string | null | undefined }[];

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
    find: async (_, options) => (await api.campaigns.list({ page_size: PAGE }, options)).items,
    hrefOf: (id) => pathTo("campaigns", id),
  },
  {
    page: "journeys",
    icon: "journey",
    noun: "journey",
    find: async (_, options) => (await api.journeys.list({}, options)).journeys,
    hrefOf: (id) => pathTo("journeys", id),
  },
  {
    page: "segments",
    icon: "segment",
    noun: "segment",
    find: async (_, options) => (await api.segments.list({}, options)).segments,
    hrefOf: (id) => pathTo("segments", id),
  },
  {
    page: "templates",
    icon: "content",
    noun: "template",
    find: async (_, options) => (await api.templates.list({ per_page: PAGE }, options)).data,
    hrefOf: (id) => pathTo("content", `templates/${id}`),
  },
  {
    page: "lists",
    icon: "content",
    noun: "list",
    find: async (_, options) => (await api.lists.list({ page_size: PAGE }, options)).items,
    hrefOf: (id) => pathTo("content", `lists/${id}`),
  },
];

/** A text without case and marks: `muller` finds Müller. */
const folded = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "ss").toLowerCase();

/** People whose external ID, email, phone or last name begins with what was typed, and what has it in its name. */
function useFound(text: string): Hit[] {
  const [found, setFound] = useState<Hit[]>([]);
  useEffect(() => {
    setFound([]);
    if (text.length < 2) return;
    const abort = new AbortController();
    const look = async ({ page, icon, noun, find, hrefOf }: (typeof searches)[number]): Promise<Hit[]> => {
      const all = await find(text, { signal: abort.signal }).catch((): Found => []);
      const named = page === "people" ? all : all.filter(({ name }) => folded(name).includes(folded(text)));
      return named.slice(0, MAX_FOUND).map(({ id, name, email }) => ({
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
  useLayoutEffect(() => dialog.current?.showModal(), []);
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
