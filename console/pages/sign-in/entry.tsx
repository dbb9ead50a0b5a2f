// The form of every way in: text fields by name, one action, refused fields marked.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ServiceError } from "../../../sdk/src/errors.ts";
import type { Session } from "../../../sdk/src/types.gen.ts";
import { go, place, signInPath, workspacePath } from "../../app/router.ts";
import { begin } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";

/** Opens the workspace, on the page that the address asked for. */
export async function enter(session: Session): Promise<void> {
  const tenant = await begin(session);
  if (place.value.tenant !== tenant) go(workspacePath(tenant, "home"), { replace: true });
}

interface EntryField {
  label: string;
  type?: "email" | "password";
  autocomplete?: string;
  hint?: string;
  initial?: string;
  /** Nobody has to read it. */
  isGiven?: boolean;
}

interface EntryProps<F extends string> {
  /** The head; without it the form stands under another one. */
  title: string | undefined;
  about: string;
  fields: Readonly<Record<F, EntryField>>;
  action: { isBusy: boolean; error: ServiceError | undefined };
  submit: string;
  onSubmit: (values: Record<F, string> & { code?: string }) => Promise<void>;
  /** Below the form. */
  children?: ComponentChildren;
}

export function Entry<F extends string>({ title, about, fields, action, submit, onSubmit, children }: EntryProps<F>) {
  const entries = Object.entries(fields) as [F, EntryField][];
  const shown = entries.filter(([name, { isGiven }]) => !isGiven || action.error?.fields?.[name]);
  const isSpent = action.error?.status === 404 && shown.length < entries.length;
  const initial = Object.fromEntries(entries.map(([name, field]) => [name, field.initial ?? ""]));
  const [values, setValues] = useState(initial as Record<F, string>);
  const [code, setCode] = useState<string>();
  useEffect(() => {
    if (action.error?.code === "SECOND_FACTOR_REQUIRED") setCode("");
  }, [action.error]);
  return (
    <>
      <Form
        error={action.error}
        onSubmit={() => {
          void onSubmit(code === undefined ? values : { ...values, code });
        }}
      >
        {title && (
          <div>
            <h1>{title}</h1>
            <p class="dim">{about}</p>
          </div>
        )}
        {shown.map(([name, { initial: _, isGiven: __, ...field }]) => (
          <TextField
            key={name}
            required
            {...field}
            value={values[name]}
            onInput={(value) => setValues((old) => ({ ...old, [name]: value }))}
            fault={action.error?.fields?.[name]}
          />
        ))}
        {code !== undefined && (
          <TextField
            label="Code"
            autocomplete="one-time-code"
            required
            autofocus
            hint="From your authenticator, or one of your recovery codes."
            value={code}
            onInput={setCode}
            fault={action.error?.fields?.code}
          />
        )}
        {isSpent ? (
          <p class="banner bad" role="alert">
            This link was used already, or it is too old: ask for another one.
          </p>
        ) : (
          <FormFault error={action.error} placed={shown.map(([name]) => name)} />
        )}
        <Button kind="primary" type="submit" wide isBusy={action.isBusy}>
          {submit}
        </Button>
      </Form>
      {children}
    </>
  );
}

/** The token of a mailed link; it can also be typed. */
export function tokenField(label: string): EntryField {
  const token = place.value.query.get("token") ?? "";
  return { label, initial: token, isGiven: token !== "", autocomplete: "off" };
}

export const newPassword: EntryField = {
  label: "New password",
  type: "password",
  autocomplete: "new-password",
  hint: "At least 12 characters; a few words are good.",
};

export const BackToSignIn = () => (
  <p class="dim">
    <a href={signInPath()}>Back to sign-in</a>
  </p>
);
