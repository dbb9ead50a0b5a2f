// What a person chose, and a button for each other choice.
import type { ComponentChildren } from "preact";
import type { RunningAction } from "../../app/action.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { inWords } from "../../components/field.tsx";

type Choice = "opted_in" | "opted_out";

const CHOICES = [
  { choice: "opted_in", label: "Opt in", to: "to" },
  { choice: "opted_out", label: "Opt out", to: "of" },
] as const;

interface OptProps {
  name: string;
  /** Undefined or another word: nothing was chosen. */
  status: string | undefined;
  since: ComponentChildren;
  action: RunningAction;
  record: (choice: Choice) => Promise<unknown>;
  /** Below the name. */
  children?: ComponentChildren;
}

export function Opt({ name, status = "unknown", since, action, record, children }: OptProps) {
  const choose = async (choice: Choice) => {
    const done = await record(choice);
    if (done) say(`${name}: ${inWords(choice)}.`);
  };
  return (
    <li class="usage opt">
      <span>
        {name} <Badge state={status} /> {since && <span class="dim">{since}</span>}
        {children}
      </span>
      <span class="actions">
        {CHOICES.filter(({ choice }) => choice !== status).map(({ choice, label, to }) => (
          <Button
            key={choice}
            kind="quiet"
            label={`${label} ${to} ${name}`}
            needs={action.operation}
            isBusy={action.isBusy}
            onClick={() => void choose(choice)}
          >
            {label}
          </Button>
        ))}
      </span>
    </li>
  );
}
