// The brake of a send (F21): with how many it begins, and at which rates it halts.
import type { NotificationsCreateBody } from "../../sdk/src/types.gen.ts";
import { Choices, TextField } from "./field.tsx";

/** What a client may set; left out, a limit is not applied. */
export type Safety = NonNullable<NotificationsCreateBody["safety"]>;

type FaultAt = (path: string) => string | undefined;

const rates = [
  ["max_error_rate", "Refused or unanswered, %"],
  ["max_bounce_rate", "Bounced emails, %"],
  ["max_complaint_rate", "Spam complaints, %"],
  ["max_opt_out_rate", "Opt-outs by email, %"],
] as const;

/** The API has shares of one, people read percent. */
const asPercent = (rate: number | undefined): string =>
  rate === undefined ? "" : String(Number((100 * rate).toFixed(4)));
const asRate = (text: string): number | undefined =>
  text === "" ? undefined : Number((Number(text) / 100).toFixed(6));
const asNumber = (text: string): number | undefined => (text === "" ? undefined : Number(text));

interface FieldsProps<T extends Safety> {
  safety: T;
  onInput: (safety: T) => void;
  faultAt: FaultAt;
  /** What an empty field means. */
  empty: string;
  /** What it stops. */
  what?: "send" | "step";
}

export function SafetyFields<T extends Safety>({ safety, onInput, faultAt, empty, what = "send" }: FieldsProps<T>) {
  return (
    <>
      <div class="row">
        <TextField
          label={what === "send" ? "Canary, % of the audience" : "Canary, % of the people"}
          type="number"
          value={String(safety.canary_percent ?? "")}
          onInput={(text) => onInput({ ...safety, canary_percent: asNumber(text) })}
          placeholder="no canary"
          fault={faultAt("canary_percent")}
        />
        <TextField
          label="Canary wait, minutes"
          type="number"
          value={String(safety.canary_wait_minutes ?? "")}
          placeholder="30"
          onInput={(text) => onInput({ ...safety, canary_wait_minutes: asNumber(text) })}
          fault={faultAt("canary_wait_minutes")}
        />
      </div>
      <RateFields safety={safety} onInput={onInput} faultAt={faultAt} />
      <p class="hint">
        The {what} halts once a rate is surely above its limit. You resume or cancel it. {empty}
      </p>
    </>
  );
}

function RateFields<T extends Safety>({
  safety,
  onInput,
  faultAt,
}: Pick<FieldsProps<T>, "safety" | "onInput" | "faultAt">) {
  return (
    <div class="row pairs">
      {rates.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          type="number"
          step="any"
          value={asPercent(safety[name])}
          onInput={(text) => onInput({ ...safety, [name]: asRate(text) })}
          fault={faultAt(name)}
        />
      ))}
    </div>
  );
}

interface PickerProps {
  /** Undefined: the workspace's, or as it was. Null: none. */
  safety: Safety | null | undefined;
  onInput: (safety: Safety | null | undefined) => void;
  /** Paths begin at `safety`. */
  faultAt: FaultAt;
  /** Of what was halted: the limit that was exceeded, with which other limits begin. */
  exceeded?: Safety;
}

function kindOf(safety: Safety | null | undefined) {
  if (safety === undefined) return "same";
  return safety === null ? "none" : "own";
}

/** The brake of one send or campaign, or the limits from now on of what was halted. */
export function SafetyPicker({ safety, onInput, faultAt, exceeded }: PickerProps) {
  const kind = kindOf(safety);
  const start = { same: undefined, none: null, own: exceeded ?? {} };
  const fields = { onInput, faultAt: (name: string) => faultAt(`.${name}`) };
  return (
    <>
      <Choices
        legend={exceeded ? "Limits from now on" : "Brake"}
        name="safety"
        value={kind}
        options={[
          { value: "same", label: exceeded ? "Unchanged" : "Workspace default" },
          { value: "own", label: "Custom limits" },
          { value: "none", label: "Off" },
        ]}
        onInput={(value) => onInput(start[value as typeof kind])}
        {...(!exceeded && { hint: "Halts the send when too many messages fail, bounce or draw complaints." })}
        fault={faultAt("")}
      />
      {safety && !exceeded && (
        <SafetyFields safety={safety} {...fields} empty="Empty fields use the workspace default." />
      )}
      {safety && exceeded && (
        <>
          <RateFields safety={safety} {...fields} />
          <p class="hint">Empty fields stay unchanged.</p>
        </>
      )}
    </>
  );
}
