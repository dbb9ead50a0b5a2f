// Finds pages, actions and people by what is typed.
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
  note: string;
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
const MAX_PEOPLE = 5;

/** Subscribers whose external ID, email or last name begins with what was typed. */
function usePeople(text: string): Hit[] {
  const [people, setPeople] = useState<Hit[]>([]);
  useEffect(() => {
    setPeople([]);
    if (text.length < 2) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      // A search that fails shows no people; the call log has the error.
      const found = await api.subscribers
        .list({ q: text, limit: MAX_PEOPLE }, { signal: abort.signal })
        .catch(() => undefined);
      setPeople(
        (found?.items ?? []).map(({ id, external_id, email }) => ({
          id,
          title: external_id,
          note: email ?? "",
          icon: "people",
          run: () => go(pathTo("people", id)),
        })),
      );
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return people;
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const people = usePeople(text.trim());
  const wanted = text.trim().toLowerCase();
  const fixed = [...places, ...actions].filter(({ title, note }) => `${title} ${note}`.toLowerCase().includes(wanted));
  const hits = [...fixed, ...people];
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
        aria-label="Find pages, actions and people"
        aria-expanded="true"
        aria-controls="palette-hits"
        aria-activedescendant={chosen && `hit-${chosen.id}`}
        placeholder="Find a page, an action, or a person by external ID, email or last name"
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
        {hit.icon === "people" && <small>{hit.note}</small>}
      </div>
    ))}
  </div>
);
