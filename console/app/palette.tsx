// Finds pages, actions, people and whatever has a name by what is typed.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { pages } from "../pages/index.ts";
import { api } from "./api.ts";
import { panel } from "./keys.ts";
import { createLookup, numbered } from "./lookup.ts";
import { personName } from "./person-name.ts";
import { go, pathTo } from "./router.ts";
import { sendName } from "./send-name.ts";
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
const PAGE = 100;
/** What started a send that stands for itself. */
const OWN_SENDS = ["api", "notification", "schedule"];

type Named = readonly { id: string; name: string; email?: string | null | undefined }[];

/** Since the palette was opened. */
const lookup = createLookup<Named[number]>(MAX_FOUND);

type Find = (text: string, options: { signal: AbortSignal }) => Promise<Named>;

/** What the API finds in all, and before it what is found without its marks. */
const byBoth =
  (kind: string, read: (page: number) => Promise<Named>, search: Find): Find =>
  async (text, options) => {
    const [near, far] = await Promise.all([lookup.find(kind, text, numbered(read, PAGE)), search(text, options)]);
    return [...new Map([...near, ...far].map((one) => [one.id, one])).values()];
  };

/** What has a name, by the page that shows it. A search that fails finds nothing; the call log has the error. */
const searches: readonly {
  page: string;
  icon: IconName;
  noun: string;
  find: Find;
  hrefOf: (id: string) => string;
}[] = [
  {
    page: "people",
    icon: "people",
    noun: "",
    find: async (q, options) =>
      (await api.subscribers.list({ q, limit: MAX_FOUND }, options)).items.map((person) => ({
        id: person.id,
        // Several people have one name.
        name: [personName(person), person.email].filter(Boolean).join(", "),
      })),
    hrefOf: (id) => pathTo("people", id),
  },
  {
    page: "campaigns",
    icon: "campaign",
    noun: "campaign",
    find: byBoth(
      "campaigns",
      async (page) => (await api.campaigns.list({ page, page_size: PAGE })).items,
      async (q, options) => (await api.campaigns.list({ q, page_size: MAX_FOUND }, options)).items,
    ),
    hrefOf: (id) => pathTo("campaigns", id),
  },
  {
    page: "activity",
    icon: "send",
    noun: "send",
    find: async (q, options) =>
      (await api.notifications.list({ q, limit: MAX_FOUND, exclude_source_type: "journey" }, options)).items
        // Those of a campaign and of an experience are found by that.
        .filter(({ source }) => OWN_SENDS.includes(source.type))
        .map((send) => ({ id: send.id, name: sendName(send) })),
    hrefOf: (id) => pathTo("activity", id),
  },
  {
    page: "experiences",
    icon: "content",
    noun: "experience",
    find: (text) =>
      lookup.find(
        "experiences",
        text,
        numbered(async (page) => (await api.experiences.list({ page, page_size: PAGE })).items, PAGE),
      ),
    hrefOf: (id) => pathTo("content", `experiences/${id}`),
  },
  {
    page: "journeys",
    icon: "journey",
    noun: "journey",
    find: (text) =>
      lookup.find("journeys", text, async (cursor) => {
        const { journeys: items, next_cursor } = await api.journeys.list({ cursor });
        return { items, next_cursor };
      }),
    hrefOf: (id) => pathTo("journeys", id),
  },
  {
    page: "segments",
    icon: "segment",
    noun: "segment",
    find: (text) =>
      lookup.find("segments", text, async (cursor) => {
        const { segments: items, next_cursor } = await api.segments.list({ cursor });
        return { items, next_cursor };
      }),
    hrefOf: (id) => pathTo("segments", id),
  },
  {
    page: "templates",
    icon: "content",
    noun: "template",
    find: byBoth(
      "templates",
      async (page) => (await api.templates.list({ page, per_page: PAGE })).data,
      async (name, options) => (await api.templates.list({ name, per_page: MAX_FOUND }, options)).data,
    ),
    hrefOf: (id) => pathTo("content", `templates/${id}`),
  },
  {
    page: "lists",
    icon: "content",
    noun: "list",
    find: byBoth(
      "lists",
      async (page) => (await api.lists.list({ page, page_size: PAGE })).items,
      async (name, options) => (await api.lists.list({ name, page_size: MAX_FOUND }, options)).items,
    ),
    hrefOf: (id) => pathTo("content", `lists/${id}`),
  },
];

/** People whose external ID, email, phone or last name begins with what was typed, and what has it in its name. */
function useFound(text: string): { hits: readonly Hit[]; isSearching: boolean } {
  const [found, setFound] = useState<Readonly<Record<number, Hit[]>>>({});
  useEffect(() => {
    setFound({});
    if (text.length < 2) return;
    const abort = new AbortController();
    const look = async ({ page, icon, noun, find, hrefOf }: (typeof searches)[number]): Promise<Hit[]> => {
      const all = await find(text, { signal: abort.signal }).catch((): Named => []);
      return all.slice(0, MAX_FOUND).map(({ id, name, email }) => ({
        id: `${page}-${id}`,
        title: name,
        note: "",
        noun: email ?? noun,
        icon,
        run: () => go(hrefOf(id)),
      }));
    };
    const timer = setTimeout(() => {
      for (const [n, search] of searches.entries())
        void look(search).then((hits) => {
          if (!abort.signal.aborted) setFound((old) => ({ ...old, [n]: hits }));
        });
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  // Only what stands before what is still awaited, so that nothing moves under the key.
  const awaited = searches.findIndex((_, n) => !found[n]);
  const known = awaited === -1 ? searches.length : awaited;
  const hits = searches.slice(0, known).flatMap((_, n) => found[n] ?? []);
  return { hits, isSearching: text.length >= 2 && awaited !== -1 };
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => {
    lookup.forget();
    dialog.current?.showModal();
  }, []);
  const found = useFound(text.trim());
  const wanted = text.trim().toLowerCase();
  const has = (words: string) => ` ${words}`.toLowerCase().includes(` ${wanted}`);
  const known = [...places, ...actions];
  // What is called so comes before what is only about it.
  const fixed = [
    ...known.filter(({ title }) => has(title)),
    ...known.filter(({ title, note }) => !has(title) && has(note)),
  ];
  const hits = [...fixed, ...found.hits];
  const chosen = hits[Math.min(at, hits.length - 1)];
  const close = () => {
    if (panel.value === "palette") panel.value = "";
  };
  const run = (hit: Hit) => {
    close();
    hit.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(hits.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter" && chosen) run(chosen);
    else if (event.key !== "Enter") return;
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
      {found.isSearching && <p class="dim">Searching …</p>}
      {!found.isSearching && hits.length === 0 && <p class="dim">Nothing has that name.</p>}
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
