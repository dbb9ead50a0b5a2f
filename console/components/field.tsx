// Labelled inputs: the label, the input, a hint, and what the API says is wrong with it.
import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";

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

/** Offered while it is typed, by the id of the list. */
export const Known = ({ id, values }: { id: string; values: readonly (string | Option)[] }) => (
  <datalist id={id}>
    {values.map((one) =>
      typeof one === "string" ? (
        <option key={one} value={one} />
      ) : (
        <option key={one.value} value={one.value}>
          {one.label}
        </option>
      ),
    )}
  </datalist>
);

export interface TextProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: ComponentChildren;
  fault?: string | undefined;
  type?: "text" | "email" | "password" | "search" | "number" | "date" | "datetime-local" | "url" | "time";
  autocomplete?: string;
  placeholder?: string;
  /** By which it is found; unlike that of any other of its card. */
  name?: string;
  required?: boolean;
  rows?: number;
  code?: boolean;
  autofocus?: boolean;
  min?: number | string;
  max?: number | string;
  step?: number | "any";
  /** What is offered; another value may be typed. */
  known?: readonly (string | Option)[] | undefined;
}

/** Without an end, browsers wait for two more digits of the year before they go on to the hour. */
const ENDS: Readonly<Record<string, string>> = { date: "9999-12-31", "datetime-local": "9999-12-31T23:59" };

export function TextField({ label, value, onInput, hint, fault, rows, code, autocomplete, known, ...rest }: TextProps) {
  const [typed, setTyped] = useState<string>();
  // `0.0` is the number 0 on its way to `0.05`, and an emptied input is on its way to `5`: the number alone does not tell.
  const isSame = rest.type === "number" && typed !== undefined && Number(typed) === Number(value);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(props) =>
        rows ? (
          <textarea
            {...props}
            dir="auto"
            rows={rows}
            class={code ? "code" : undefined}
            name={rest.name}
            placeholder={rest.placeholder}
            required={rest.required}
            value={value}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <>
            <input
              {...props}
              dir="auto"
              {...({ max: ENDS[rest.type ?? ""], ...rest, ...(known && { list: `${props.id}-known` }) } as object)}
              autocomplete={autocomplete as "on"}
              class={code ? "code" : undefined}
              value={isSame ? typed : value}
              onKeyDown={(event) => {
                // What is looked for appears by itself: the form around it is not finished yet.
                if (rest.type === "search" && event.key === "Enter") event.preventDefault();
              }}
              onInput={({ currentTarget }) => {
                setTyped(currentTarget.value);
                onInput(currentTarget.value);
              }}
            />
            {known && <Known id={`${props.id}-known`} values={known} />}
          </>
        )
      }
    </Field>
  );
}

interface Option<V extends string = string> {
  value: V;
  label: string;
  /** Beside the choice. */
  note?: string;
  disabled?: boolean;
}

/** What each value is called: by value, or as a list where the values are not known before. */
export type Options<V extends string = string> = readonly Option<V>[] | Readonly<Record<V, string>>;

const listOf = <V extends string>(options: Options<V>): readonly Option<V>[] =>
  Array.isArray(options)
    ? (options as readonly Option<V>[])
    : (Object.entries(options) as [V, string][]).map(([value, label]) => ({ value, label }));

interface SelectProps<V extends string> {
  /** Where it has no label that can be seen. */
  label?: string;
  value: V;
  options: Options<V>;
  onInput: (value: V) => void;
  class?: string | undefined;
}

export function Select<V extends string>({ label, value, options, onInput, ...described }: SelectProps<V>) {
  return (
    <select
      aria-label={label}
      {...described}
      value={value}
      // What is chosen is one of the options, hence the cast.
      onInput={({ currentTarget }) => onInput(currentTarget.value as V)}
    >
      {listOf(options).map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

interface SelectFieldProps<V extends string> extends SelectProps<V> {
  label: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
}

export function SelectField<V extends string>({ label, hint, fault, ...select }: SelectFieldProps<V>) {
  // In the API's words nothing is no ID.
  const reason = select.value === "" && fault === "must be a UUID" ? "choose one" : fault;
  return (
    <Field label={label} hint={hint} fault={reason}>
      {(props) => <Select {...select} {...props} />}
    </Field>
  );
}

/** `held_out` as `held out`. */
export const inWords = (value: string): string => value.replaceAll("_", " ");

/** Values that are called what they are. */
export const asOptions = <V extends string>(values: readonly V[]): readonly Option<V>[] =>
  values.map((value) => ({ value, label: inWords(value) }));

interface ChoicesProps<V extends string> {
  legend: string;
  name: string;
  /** One value, or several with check boxes. */
  value: V | readonly V[];
  options: Options<V>;
  onInput: (value: V) => void;
  fault?: string | undefined;
  hint?: ComponentChildren;
  /** Below each other, with their notes in line. */
  isListed?: boolean;
}

export function Choices<V extends string>(props: ChoicesProps<V>) {
  const { legend, name, value, options, onInput, fault, hint, isListed } = props;
  const isMany = typeof value !== "string";
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      <div class={isListed ? "choices listed" : "choices"}>
        {listOf(options).map((option) => (
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

interface CheckProps {
  label: string;
  note?: string;
  checked: boolean;
  onInput: (is: boolean) => void;
}

export function Check({ label, note, checked, onInput }: CheckProps) {
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
