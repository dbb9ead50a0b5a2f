// One person, chosen among those who are found by name, external ID, email or phone.
import { useId, useState } from "preact/hooks";
import type { SubscriberPage } from "../../sdk/src/types.gen.ts";
import { fullName } from "../app/person-name.ts";
import { useQuery } from "../app/query.ts";
import { useSettled } from "../app/settled.ts";
import { plural } from "../app/time.ts";
import { Button } from "./button.tsx";
import { Field, Known, TextField, type TextProps } from "./field.tsx";

const WAIT_MS = 250;
const MAX_OFFERED = 8;

type Person = SubscriberPage["items"][number];

interface PersonPick {
  text: string;
  setText: (text: string) => void;
  /** Whose external ID or email it is, or the only one who is found. */
  person: Person | undefined;
  offered: readonly Person[];
  /** Whether what is offered belongs to what is typed. */
  isSettled: boolean;
  /** Why nobody is chosen yet; undefined where nothing is typed. */
  reason: string | undefined;
}

export function usePicked(): PersonPick {
  const [text, setText] = useState("");
  const wanted = text.trim();
  const q = useSettled(wanted, WAIT_MS) ?? "";
  const found = useQuery("subscribers.list", [{ q, limit: MAX_OFFERED }], { when: q !== "" });
  const offered = q === "" ? [] : (found.data?.items ?? []);
  const isSettled = q === wanted && (q === "" || !found.isLoading);
  const exact = offered.find(({ external_id, email }) => external_id === wanted || email === wanted);
  const person = isSettled && wanted !== "" ? (exact ?? (offered.length === 1 ? offered[0] : undefined)) : undefined;
  return {
    text,
    setText,
    person,
    offered,
    isSettled,
    reason: person ? undefined : reasonOf(wanted, isSettled, offered.length),
  };
}

function reasonOf(wanted: string, isSettled: boolean, count: number): string | undefined {
  if (wanted === "") return undefined;
  if (!isSettled) return "Looking for the person.";
  if (count === 0) return "There is no such person.";
  return count < MAX_OFFERED ? `Choose one of ${plural(count, "person", "people")}.` : "Choose one, or type more.";
}

const aboutOf = (person: Person): string => [fullName(person), person.email].filter(Boolean).join(", ");

interface PersonFieldProps {
  label: string;
  picked: PersonPick;
  placeholder?: string;
  fault?: string | undefined;
  /** Where nothing is typed. */
  hint?: string;
  /** A button beside it says why nobody is chosen yet. */
  hasButton?: boolean;
}

/** The field in which somebody is looked for: those who are found are offered below it. */
export function PersonField({ label, picked, placeholder, fault, hint, hasButton }: PersonFieldProps) {
  const { text, setText, person, offered, reason } = picked;
  const list = useId();
  const found = person && (aboutOf(person) || person.external_id);
  return (
    <Field
      label={label}
      fault={fault}
      hint={found ?? (hasButton ? undefined : reason) ?? hint ?? "Name, external ID, email or phone."}
    >
      {(props) => (
        <>
          <input
            {...props}
            list={list}
            autocomplete="off"
            placeholder={placeholder}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Known
            id={list}
            values={offered.map((one) => ({ value: one.external_id, label: aboutOf(one) || one.external_id }))}
          />
        </>
      )}
    </Field>
  );
}

/** An ID may have a space. */
export const idsIn = (text: string): string[] => text.split(/[\n\t,;]+/).flatMap((id) => id.trim() || []);

type PeopleFieldProps = Pick<TextProps, "label" | "value" | "onInput" | "fault">;

/** Several people: their external IDs, separated by commas or line breaks, are pasted, or found one by one. */
export function PeopleField({ label, value, onInput, fault }: PeopleFieldProps) {
  const picked = usePicked();
  const { person, reason, setText } = picked;
  const add = () => {
    if (person) onInput([value.trim(), person.external_id].filter(Boolean).join("\n"));
    setText("");
  };
  return (
    <>
      <TextField
        label={label}
        rows={3}
        value={value}
        onInput={onInput}
        fault={fault}
        hint="Separated by commas or line breaks."
      />
      <div class="row">
        <PersonField label="Find a person" picked={picked} hasButton />
        <Button icon="plus" refusal={person ? undefined : (reason ?? "Choose a person first.")} onClick={add}>
          Add this person
        </Button>
      </div>
    </>
  );
}
