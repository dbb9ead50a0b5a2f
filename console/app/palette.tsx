// Finds pages, actions, people and whatever has a name by what is typed.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../components/icon.tsx";
import { pages } from "../pages/index.ts";
import { panel } from "./keys.ts";
import {
  type Find,
  findCampaign,
  findChannel,
  findEndpoint,
  findExperience,
  findImage,
  findJourney,
  findList,
  findMember,
  findPerson,
  findSegment,
  findSend,
  findTemplate,
  findTopic,
  forgetNames,
} from "./named.ts";
import { go, pathTo } from "./router.ts";
import { leave } from "./session.ts";
import { listed } from "./time.ts";

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
  { id: "leave", title: "Sign out", note: "", icon: "leave", run: leave },
];

const WAIT_MS = 250;
const MAX_FOUND = 5;
/** Thirteen kinds are looked through for every word. */
const MAX_PAGES = 2;
/** What started a send that stands for itself. */
const OWN_SENDS = ["api", "notification", "schedule"];

/** What has a name: its icon, what it is, how it is found, and the page of one. A search that fails finds nothing; the call log has the error. */
const searches: readonly (readonly [icon: IconName, noun: string, find: Find, hrefOf: (id: string) => string])[] = [
  ["people", "", findPerson, (id) => pathTo("people", id)],
  ["campaign", "campaign", findCampaign, (id) => pathTo("campaigns", id)],
  ["send", "send", findSend(OWN_SENDS), (id) => pathTo("activity", id)],
  ["content", "experience", findExperience, (id) => pathTo("content", `experiences/${id}`)],
  ["journey", "journey", findJourney, (id) => pathTo("journeys", id)],
  ["segment", "segment", findSegment, (id) => pathTo("segments", id)],
  ["content", "template", findTemplate, (id) => pathTo("content", `templates/${id}`)],
  ["content", "list", findList, (id) => pathTo("content", `lists/${id}`)],
  ["content", "topic", findTopic, () => pathTo("content", "topics")],
  ["content", "image", findImage, () => pathTo("content", "assets")],
  ["channel", "channel", findChannel, (id) => pathTo("channels", id)],
  ["webhook", "endpoint", findEndpoint, (id) => pathTo("webhooks", id)],
  ["settings", "member", findMember, () => pathTo("settings", "team")],
];

const NOTHING: Awaited<ReturnType<Find>> = { all: [] };

interface KindFound {
  hits: readonly Hit[];
  isPart: boolean;
}

/** What has what was typed in its name. `parts`: the kinds of which only the newest were looked at */
function useFound(text: string): { hits: readonly Hit[]; isSearching: boolean; parts: readonly string[] } {
  const [found, setFound] = useState<Readonly<Record<number, KindFound>>>({});
  useEffect(() => {
    setFound({});
    if (text.length < 2) return;
    const abort = new AbortController();
    const look = async ([icon, noun, find, hrefOf]: (typeof searches)[number]): Promise<KindFound> => {
      const { all, isPart = false } = await find(text, { signal: abort.signal, most: MAX_PAGES }).catch(() => NOTHING);
      const hits = all.slice(0, MAX_FOUND).map(({ id, name }) => ({
        id: `${noun}-${id}`,
        title: name,
        note: "",
        noun,
        icon,
        run: () => go(hrefOf(id)),
      }));
      return { hits, isPart };
    };
    const timer = setTimeout(() => {
      for (const [n, search] of searches.entries())
        void look(search).then((one) => {
          if (!abort.signal.aborted) setFound((old) => ({ ...old, [n]: one }));
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
  const hits = searches.slice(0, known).flatMap((_, n) => found[n]?.hits ?? []);
  const parts = searches.flatMap(([, noun], n) => (found[n]?.isPart ? [`${noun}s`] : []));
  return { hits, isSearching: text.length >= 2 && awaited !== -1, parts };
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => {
    forgetNames();
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
    // A word is being chosen, as of Japanese.
    if (event.isComposing) return;
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
      {!found.isSearching && hits.length === 0 && <p class="dim">Nothing is called that.</p>}
      {!found.isSearching && found.parts.length > 0 && (
        <p class="dim">Of {listed(found.parts)}, only the newest were looked at.</p>
      )}
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
