// One of what has a name: the newest are offered, older ones are found by their name.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AnswerOf, ArgumentsOf, Operation } from "../app/api.ts";
import { type Find, forgetNames, type NamedChoice } from "../app/named.ts";
import { type Query, useQuery } from "../app/query.ts";
import { goesOn } from "../app/rows.ts";
import { sentenceOf } from "../app/session.ts";
import { useSettled } from "../app/settled.ts";
import { number } from "../app/time.ts";
import { SelectField, TextField } from "./field.tsx";
import { Loaded } from "./states.tsx";

const WAIT_MS = 250;

const NONE = { value: "", label: "Choose…" };

interface OneOfProps {
  /** Empty until one is chosen. */
  value: string;
  onInput: (id: string) => void;
  fault?: string | undefined;
}

interface Kind<O extends Operation, G extends Operation> {
  noun: string;
  list: O;
  given: NoInfer<ArgumentsOf<O>>;
  itemsOf: (answer: AnswerOf<O>) => readonly NamedChoice[];
  /** The operation that reads one by its id. */
  get: G;
  asNamed: (answer: AnswerOf<G>) => NamedChoice;
  find: Find;
  /** In place of a choice where there is nothing to choose. */
  empty?: () => JSX.Element;
}

interface SelectProps extends OneOfProps {
  /** The noun, unless it is called differently. */
  label?: string;
  /** In place of none. */
  none?: typeof NONE;
}

/** Whether what is chosen is to be asked for by itself. */
export const isElsewhere = (query: Query<unknown>, items: readonly NamedChoice[], id: string, none = ""): boolean =>
  id !== none && query.data !== undefined && items.every((one) => one.id !== id);

const labelOf = ({ name, count }: NamedChoice): string => (count === undefined ? name : `${name} (${number(count)})`);

/** @returns the component that chooses one of a kind */
export const selectOf = <O extends Operation, G extends Operation>(kind: Kind<O, G>) =>
  function OneOf({
    label = kind.noun.charAt(0).toUpperCase() + kind.noun.slice(1),
    none = NONE,
    ...field
  }: SelectProps) {
    const query = useQuery(kind.list, kind.given);
    const items = query.data === undefined ? [] : kind.itemsOf(query.data);
    const isApart = isElsewhere(query, items, field.value, none.value);
    // One that is got by its id takes no more than that, hence the cast.
    const { data: one, error } = useQuery(kind.get, [field.value] as unknown as ArgumentsOf<G>, { when: isApart });
    const unread = isApart ? { id: field.value, name: "…" } : undefined;
    const [text, setText] = useState("");
    const found = useFound(kind.find, text.trim());
    const shown = text.trim() ? found.all : items;
    const own = one === undefined ? (items.find(({ id }) => id === field.value) ?? unread) : kind.asNamed(one);
    const all = own && shown.every(({ id }) => id !== own.id) ? [own, ...shown] : shown;
    const options = all.map((each) => ({ value: each.id, label: labelOf(each) }));
    if (query.data !== undefined && items.length === 0 && kind.empty) return kind.empty();
    return (
      <Loaded query={query}>
        {(first) => (
          <>
            <SelectField
              label={label}
              options={[none, ...options]}
              {...field}
              fault={field.fault ?? (error && sentenceOf(error))}
            />
            {goesOn(first, items.length) && (
              <TextField
                label={`Find a ${kind.noun}`}
                type="search"
                value={text}
                onInput={setText}
                fault={found.fault}
                hint={found.hint}
              />
            )}
          </>
        )}
      </Loaded>
    );
  };

interface SearchResult {
  text: string;
  all: readonly NamedChoice[];
  isPart?: boolean;
  fault?: string;
}

const NOTHING: SearchResult = { text: "", all: [] };

function useFound(find: Find, wanted: string) {
  const settled = useSettled(wanted, WAIT_MS) ?? "";
  const [found, setFound] = useState(NOTHING);
  useEffect(() => forgetNames(), []);
  useEffect(() => {
    if (settled === "") return undefined;
    const abort = new AbortController();
    const show = (next: Omit<SearchResult, "text">) => {
      if (!abort.signal.aborted) setFound({ text: settled, ...next });
    };
    void find(settled, abort).then(show, (cause: unknown) => show({ all: [], fault: sentenceOf(cause) }));
    return () => abort.abort();
  }, [settled]);
  if (wanted === "")
    return { all: [], fault: undefined, hint: "The newest are offered; others are found by their names." };
  if (found.text !== wanted) return { all: [], fault: undefined, hint: "Searching …" };
  const { all, isPart, fault } = found;
  const among = isPart ? " Only the newest were looked at." : "";
  return {
    all,
    fault,
    hint: !fault && `${all.length > 0 ? `${all.length} found: choose from them.` : "None is called that."}${among}`,
  };
}
