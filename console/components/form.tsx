// A form made from the schema of a flat body. Refused fields are marked by their path, and the first one has the focus.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ServiceError } from "../../sdk/src/errors.ts";
import type { RunningAction } from "../app/action.ts";
import { durationOf, secondsOf } from "../app/duration.ts";
import { unsavedOf } from "../app/merge.ts";
import { refusalText } from "../app/refusal.ts";
import { Button } from "./button.tsx";
import { DurationField } from "./duration.tsx";
import { asOptions, Check, Choices, inWords, SelectField, TextField } from "./field.tsx";
import type { IconName } from "./icon.tsx";
import { ConfirmAgain, reasonOf, titleOf } from "./states.tsx";

interface FieldSchema {
  type?: string | readonly string[];
  enum?: readonly string[];
  items?: FieldSchema;
  format?: string;
  default?: unknown;
  properties?: Record<string, FieldSchema>;
}

export interface FormSchema {
  type?: string;
  properties?: Record<string, FieldSchema>;
  required?: readonly string[];
}

export interface FieldText {
  label?: string;
  /** Where to find the value. */
  hint?: string;
  secret?: boolean;
  rows?: number;
  /** A number of seconds, entered with a unit. */
  isDuration?: boolean;
  /** Required where it is asked for, though not by the schema. */
  required?: boolean;
  /** The field, and its value, with which this one is asked for and sent. */
  when?: readonly [field: string, value: string];
  /** What each value of a choice is called. */
  options?: Record<string, string>;
  /** What is offered while it is typed. */
  known?: readonly string[];
}

type Values = Record<string, unknown>;

export interface SchemaFormProps {
  schema: FormSchema;
  /** By field; a field that is missing here gets its name in words. */
  texts?: Record<string, FieldText>;
  /** Fields that are not asked for, in this form. */
  omit?: readonly string[];
  initial?: Values;
  submit: string;
  /** Closes the dialog around it. */
  cancel?: (() => unknown) | undefined;
  action: RunningAction;
  /** Its button stays in sight while something is not saved. */
  isLong?: boolean;
  /** With what the schema asks for. @returns whether it was done */
  onSubmit: (values: never) => unknown;
  children?: ComponentChildren;
}

const wordsOf = (name: string): string => {
  const text = inWords(name)
    .replace("opt in", "opt-in")
    .replace(/\bid\b/g, "ID");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const labelOf = (name: string, { label = wordsOf(name) }: FieldText = {}): string => label;

/** What is wrong with the whole, after the fields that have an input said theirs. */
export function FormFault({ error, placed }: { error: ServiceError | undefined; placed: Iterable<string> }) {
  if (!error) return null;
  const seen = new Set(placed);
  const rest = Object.entries(error.fields ?? {}).filter(([path]) => !seen.has(path));
  if (error.fields && rest.length === 0) return null;
  return (
    <div class="banner bad" role="alert">
      <span>
        {!error.fields && titleOf(error) && <b>{titleOf(error)} </b>}
        {error.fields ? refusalText({ fields: Object.fromEntries(rest), message: "" }) : reasonOf(error)}{" "}
        {error.code === "EMAIL_NOT_CONFIRMED" && <ConfirmAgain />}
      </span>
    </div>
  );
}

interface FormProps {
  /** The last refusal of what the form asks for. */
  error?: ServiceError | undefined;
  kind?: "form" | "row" | "stack" | "composer" | "settings";
  onSubmit: () => unknown;
  children: ComponentChildren;
}

/** A form that is sent by script. After each refusal its first refused input has the focus, or what had it stays in sight. */
export function Form({ error, kind = "form", onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const refused = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (error && refused) refused.focus();
    // What is said of it stands above the button.
    else if (error) document.activeElement?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return (
    <form
      ref={form}
      class={kind}
      onSubmit={(event) => {
        event.preventDefault();
        // A question within a form is not that form.
        event.stopPropagation();
        void onSubmit();
      }}
    >
      {children}
    </form>
  );
}

export const NotSaved = ({ of }: { of: readonly string[] }) => (
  <span class="dim" role="status">
    {of.length > 0 && `Not saved: ${of.join(", ")}`}
  </span>
);

interface FormEndProps {
  action: RunningAction;
  /** The fields that have an input. */
  placed: Iterable<string>;
  submit: string;
  icon?: IconName;
  /** The form is not what the page is there for. */
  isMinor?: boolean;
  refusal?: string | undefined;
  /** Of a long form, which is saved from wherever one is in it. */
  unsaved?: readonly string[] | undefined;
  /** Closes the dialog around it. */
  cancel?: (() => unknown) | undefined;
  /** Further buttons. */
  children?: ComponentChildren;
}

/** What is wrong with the whole of a form, and its buttons. */
export function FormEnd(props: FormEndProps) {
  const { action, placed, submit, icon, isMinor, refusal, unsaved, cancel, children } = props;
  const end = (
    <>
      <FormFault error={action.error} placed={placed} />
      <div class={cancel ? "actions end" : "actions"}>
        {cancel && !action.isBusy && <Button onClick={cancel}>Cancel</Button>}
        <Button
          kind={isMinor ? undefined : "primary"}
          type="submit"
          icon={icon}
          needs={action.operation}
          refusal={refusal}
          isBusy={action.isBusy}
        >
          {submit}
        </Button>
        {children}
        {unsaved && <NotSaved of={unsaved} />}
      </div>
    </>
  );
  return unsaved ? <div class={unsaved.length > 0 ? "form-end save-bar" : "form-end"}>{end}</div> : end;
}

export function SchemaForm({
  schema,
  texts = {},
  omit = [],
  initial = {},
  submit,
  cancel,
  action,
  isLong,
  onSubmit,
  children,
}: SchemaFormProps) {
  const isRequired = (name: string) => schema.required?.includes(name) ?? false;
  const startOf = (name: string, field: FieldSchema) =>
    initial[name] ?? field.default ?? (isRequired(name) ? field.enum?.[0] : undefined);
  const asked = Object.entries(schema.properties ?? {}).filter(([name]) => !omit.includes(name));
  const defaults = Object.fromEntries(asked.map(([name, field]) => [name, startOf(name, field)]));
  const [values, setValues] = useState<Values>(defaults);
  const [begun, setBegun] = useState<Values>(defaults);
  const isShown = (name: string) => {
    const [other, value] = texts[name]?.when ?? [];
    return other === undefined || values[other] === value;
  };
  const fields = asked.filter(([name]) => isShown(name));
  // The schema of the API names what is asked for, hence the cast below.
  const given = () =>
    Object.fromEntries(
      Object.entries(values).filter(([name, value]) => isShown(name) && value !== "" && value !== undefined),
    );
  const labels = Object.fromEntries(fields.map(([name]) => [name, labelOf(name, texts[name])]));
  const submitIt = async () => {
    if (await onSubmit(given() as never)) setBegun(values);
  };
  return (
    <Form error={action.error} onSubmit={submitIt}>
      {fields.map(([name, field]) => (
        <SchemaField
          key={name}
          name={name}
          field={field}
          text={texts[name] ?? {}}
          value={values[name]}
          fault={action.error?.fields?.[name]}
          required={isRequired(name) || (texts[name]?.required ?? false)}
          // Browsers fill several inputs at once.
          onInput={(value) => setValues((old) => ({ ...old, [name]: value }))}
        />
      ))}
      {children}
      <FormEnd
        action={action}
        placed={fields.map(([name]) => name)}
        submit={submit}
        unsaved={isLong ? unsavedOf({ value: values, begun }, labels) : undefined}
        cancel={cancel}
      />
    </Form>
  );
}

interface SchemaFieldProps {
  name: string;
  field: FieldSchema;
  text: FieldText;
  value: unknown;
  fault: string | undefined;
  required: boolean;
  onInput: (value: unknown) => void;
}

function SchemaField({ name, field, text, value, fault, required, onInput }: SchemaFieldProps) {
  const label = labelOf(name, text) + (required || field.type === "boolean" ? "" : " (optional)");
  const { hint } = text;
  const described = { label, hint, fault };
  if (field.type === "array" && field.items?.enum) {
    const chosen = (value ?? []) as string[];
    const toggle = (one: string) =>
      onInput(chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]);
    const options = field.items.enum.map((one) => ({ value: one, label: text.options?.[one] ?? one }));
    return <Choices legend={label} name={name} value={chosen} options={options} onInput={toggle} fault={fault} />;
  }
  if (field.enum) {
    const options = asOptions(field.enum).map((one) => ({ ...one, label: text.options?.[one.value] ?? one.label }));
    const all = required || field.default !== undefined ? options : [{ value: "", label: "–" }, ...options];
    return <SelectField {...described} value={String(value ?? "")} options={all} onInput={onInput} />;
  }
  if (field.type === "boolean")
    return <Check label={label} {...(hint && { note: hint })} checked={value === true} onInput={onInput} />;
  if (text.isDuration)
    return (
      <DurationField
        {...described}
        value={typeof value === "number" ? durationOf(value) : ""}
        onInput={(next) => onInput(secondsOf(next))}
      />
    );
  const isNumber = field.type === "integer" || field.type === "number";
  const inputType = () => {
    if (text.secret) return "password";
    if (isNumber) return "number";
    return field.format === "email" ? "email" : "text";
  };
  return (
    <TextField
      {...described}
      required={required}
      value={String(value ?? "")}
      type={inputType()}
      autocomplete="off"
      {...(text.rows && { rows: text.rows })}
      known={text.known}
      onInput={(next) => onInput(isNumber && next !== "" ? Number(next) : next)}
    />
  );
}
