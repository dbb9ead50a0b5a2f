// What a person chose, and a button for the other choice.
import type { ComponentChildren } from "preact";
import type { Running } from "../../app/action.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { inWords } from "../../components/field.tsx";

export type Choice = "opted_in" | "opted_out";

interface OptProps {
  name: string;
  /** Undefined or another word: nothing was chosen. */
  status: string | undefined;
  since: ComponentChildren;
  action: Running;
  record: (choice: Choice) => Promise<unknown>;
  /** Below the name. */
  children?: ComponentChildren;
}

export function Opt({ name, status = "unknown", since, action, record, children }: OptProps) {
  const isIn = status === "opted_in";
  const choose = async () => {
    const other = isIn ? "opted_out" : "opted_in";
    const done = await record(other);
    if (done) say(`${name}: ${inWords(other)}.`);
  };
  return (
    <li class="usage opt">
      <span>
        {name} <Badge state={status} /> {since && <span class="dim">{since}</span>}
        {children}
      </span>
      <Button
        kind="quiet"
        label={`${isIn ? "Opt out of" : "Opt in to"} ${name}`}
        needs={action.operation}
        isBusy={action.isBusy}
        onClick={() => void choose()}
      >
        {isIn ? "Opt out" : "Opt in"}
      </Button>
    </li>
  );
}
