// The variables of a person, with what they are for somebody: a press puts one where the text was written last.
import { useRef, useState } from "preact/hooks";
import { liquidOf } from "../../shared/rules/placeholders.ts";
import { useQuery } from "../app/query.ts";
import { clipped } from "../app/time.ts";
import { TextField } from "./field.tsx";

type TextControl = HTMLInputElement | HTMLTextAreaElement;

const isWritten = (target: EventTarget | null): target is TextControl =>
  target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type === "text");

/** Where a text was written last, among the inputs inside; at the end of the first one before that, of a long one where there is any. */
export function useLastWritten() {
  const inside = useRef<HTMLDivElement>(null);
  const last = useRef<TextControl | undefined>(undefined);
  const note = ({ target }: FocusEvent) => {
    if (isWritten(target)) last.current = target;
  };
  const insert = (text: string) => {
    const written = last.current?.isConnected ? last.current : undefined;
    const input =
      written ??
      inside.current?.querySelector<TextControl>("textarea") ??
      inside.current?.querySelector<TextControl>("input[type=text]");
    if (!input) return;
    const end = input.value.length;
    // Where nobody put it, it is a word of its own.
    const blank = written || /(^|\s)$/.test(input.value) ? "" : " ";
    input.setRangeText(blank + text, written?.selectionStart ?? end, written?.selectionEnd ?? end, "end");
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  };
  return { inside, note, insert };
}

const FIXED = ["external_id", "email"];
const MAX_SHOWN = 40;
const MAX_SAMPLE = 24;

export function Variables({ insert }: { insert: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Insert a variable</summary>
      {isOpen && <Known insert={insert} />}
    </details>
  );
}

function Known({ insert }: { insert: (text: string) => void }) {
  const [fallback, setFallback] = useState("");
  const keys = useQuery("segments.listAttributeKeys", []).data?.keys ?? [];
  const person = useQuery("subscribers.list", [{ limit: 1 }]).data?.items[0];
  // The API has them as JSON.
  const attributes = (person ? JSON.parse(person.attributes) : {}) as Record<string, unknown>;
  const known: Record<string, unknown> = {
    ...attributes,
    external_id: person?.external_id,
    email: person?.email,
  };
  const filter = fallback && ` | default: '${fallback.replaceAll("'", "’")}'`;
  return (
    // What stands for an empty variable is no place to put one.
    <div class="stack tight" onFocusIn={(event) => event.stopPropagation()}>
      <TextField
        label="Fallback"
        value={fallback}
        onInput={setFallback}
        placeholder="there"
        hint="Shown to people who have no value."
      />
      <div class="variables">
        {[...new Set([...FIXED, ...Object.keys(attributes), ...keys])].slice(0, MAX_SHOWN).map((key) => (
          <button key={key} type="button" onClick={() => insert(`{{ ${liquidOf(`subscriber.${key}`)}${filter} }}`)}>
            <b>{key}</b>
            <span>{sampleOf(known[key])}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

function sampleOf(value: unknown): string {
  if (value === undefined || value === null || value === "") return "empty";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return clipped(text, MAX_SAMPLE);
}
