// Labelled inputs: the label, the input, a hint, and what the API says is wrong with it.
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
  children: (props: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": "true" | undefined;
  }) => JSX.Element;
}

export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": described, "aria-invalid": fault ? "true" : undefined })}
      {fault && (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  fault?: string | undefined;
  type?: "text" | "email" | "password" | "search" | "number" | "datetime-local" | "url" | "time";
  autocomplete?: string;
  placeholder?: string;
  required?: boolean;
  rows?: number;
  code?: boolean;
  autofocus?: boolean;
  min?: number | string;
  max?: number | string;
  step?: number | "any";
}

export function TextField({ label, value, onInput, hint, fault, rows, code, autocomplete, ...rest }: TextProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(props) =>
        rows ? (
          <textarea
            {...props}
            rows={rows}
            class={code ? "code" : undefined}
            placeholder={rest.placeholder}
            required={rest.required}
            value={value}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <input
            {...props}
            {...(rest as object)}
            autocomplete={autocomplete as "on"}
            class={code ? "code" : undefined}
            value={value}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

export interface Option {
  value: string;
  label: string;
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly Option[];
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  fault?: string | undefined;
}

export function SelectField({ label, value, options, onInput, hint, fault }: SelectProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(props) => (
        <select {...props} value={value} onInput={(event) => onInput(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface ChoicesProps {
  legend: string;
  name: string;
  /** One value, or several with check boxes. */
  value: string | readonly string[];
  options: readonly (Option & { disabled?: boolean; note?: string })[];
  onInput: (value: string) => void;
  fault?: string | undefined;
  hint?: string;
}

export function Choices({ legend, name, value, options, onInput, fault, hint }: ChoicesProps) {
  const isMany = typeof value !== "string";
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      <div class="choices">
        {options.map((option) => (
          <label key={option.value} class="choice" title={option.note}>
            <input
              type={isMany ? "checkbox" : "radio"}
              name={name}
              checked={isMany ? value.includes(option.value) : value === option.value}
              disabled={option.disabled}
              onInput={() => onInput(option.value)}
            />
            {option.label}
            {option.note && <span class="hint">{option.note}</span>}
          </label>
        ))}
      </div>
      {fault && <span class="fault">{fault}</span>}
      {hint && <span class="hint">{hint}</span>}
    </fieldset>
  );
}

export function Check({
  label,
  note,
  checked,
  onInput,
}: {
  label: string;
  note?: string;
  checked: boolean;
  onInput: (is: boolean) => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onInput={(event) => onInput(event.currentTarget.checked)} />
      <span>
        {label}
        {note && <small>{note}</small>}
      </span>
    </label>
  );
}
