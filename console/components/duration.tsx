// A duration is entered as a number and its unit.
import { useState } from "preact/hooks";
import { partsOf, type Unit, units } from "../app/duration.ts";
import { Field, Select } from "./field.tsx";

interface InputProps {
  label: string;
  /** Empty without a number. */
  value: string;
  onInput: (value: string) => void;
  placeholder?: string | undefined;
}

/** Both inputs, where the label is not shown. */
export function DurationInput({ label, value, onInput, placeholder, ...described }: InputProps) {
  const parts = partsOf(value);
  const [lastUnit, setLastUnit] = useState<Unit>("d");
  const unit = parts?.unit ?? lastUnit;
  const amount = parts?.amount ?? "";
  const change = (nextAmount: string, nextUnit: Unit) => {
    setLastUnit(nextUnit);
    onInput(nextAmount && `${nextAmount}${nextUnit}`);
  };
  const shown: readonly Unit[] = unit === "s" ? ["s", "m", "h", "d"] : ["m", "h", "d"];
  return (
    <span class="duration">
      <input
        aria-label={label}
        {...described}
        type="number"
        min={1}
        placeholder={placeholder}
        value={amount}
        onInput={(event) => change(event.currentTarget.value, unit)}
      />
      <Select
        label={`${label}: unit`}
        value={unit}
        options={shown.map((value) => ({ value, label: `${units[value].name}s` }))}
        onInput={(next) => change(amount, next)}
      />
    </span>
  );
}

interface FieldProps extends InputProps {
  hint?: string | undefined;
  fault?: string | undefined;
}

export function DurationField({ hint, fault, ...input }: FieldProps) {
  return (
    <Field label={input.label} hint={hint} fault={fault}>
      {(props) => <DurationInput {...input} {...props} />}
    </Field>
  );
}
