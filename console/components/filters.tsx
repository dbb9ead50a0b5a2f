// What narrows a list, kept in the address: a choice, and a search by what is typed.
import { useEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "../app/router.ts";
import { type Options, Select } from "./field.tsx";

const WAIT_MS = 300;

interface FilterProps<V extends string> {
  /** In the address. */
  name: string;
  label: string;
  options: Options<V>;
  /** What is chosen, where it is not just what the address says. */
  value?: NoInfer<V> | undefined;
  /** In the head of a card. */
  small?: boolean;
  /** What else of the address no longer counts. */
  clears?: readonly string[];
}

export function Filter<V extends string>({ name, label, options, value, small, clears = [] }: FilterProps<V>) {
  const given = (place.value.query.get(name) ?? "") as V;
  const cleared = Object.fromEntries(["page", ...clears].map((other) => [other, undefined]));
  return (
    <Select
      label={label}
      class={small ? "small" : undefined}
      options={options}
      value={value ?? given}
      onInput={(chosen) => setQuery({ ...cleared, [name]: chosen || undefined })}
    />
  );
}

/** What the address says, where it is one of these. */
export const chosenOf = <V extends string>(name: string, values: readonly V[]): V | undefined =>
  values.find((one) => one === place.value.query.get(name));

const RANGES = ["7", "30", "90"];

/** How many days back figures go, as the address says. */
export const chosenDays = (): number => Number(chosenOf("days", RANGES) ?? 30);

export const DaysFilter = () => (
  <Filter
    name="days"
    label="Range"
    value={String(chosenDays())}
    options={RANGES.map((value) => ({ value, label: `Last ${value} days` }))}
  />
);

/** `q` of the address. */
export const searched = (): string => place.value.query.get("q") ?? "";

export function Search({ label, placeholder = label }: { label: string; placeholder?: string }) {
  const q = searched();
  const [text, setText] = useState(q);
  const asked = useRef(q);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === q) return;

    const timer = setTimeout(() => {
      asked.current = wanted;
      setQuery({ q: wanted || undefined, page: undefined });
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // A link, or the way back, has led to another search, or to none.
  useEffect(() => {
    if (q !== asked.current) setText(q);
    asked.current = q;
  }, [q]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

export const PeopleSearch = () => (
  <Search label="Find by name, external ID, email or phone" placeholder="Name, external ID, email or phone" />
);

/** What that finds, where it found nobody. */
export const FOUND_BY =
  "By the beginning of a last name, full name, external ID or email, or by a whole phone number, without its country code if the settings have a region.";
