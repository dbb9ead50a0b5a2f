// A dialog that asks for the fields of a flat body. A message says its result; a secret is shown, only once, in place of the form.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { SchemaForm, type SchemaFormProps } from "./form.tsx";
import { Code } from "./page.tsx";

interface Secret {
  kind: "secret";
  title: string;
  /** What it is for, and where it belongs. */
  about: string;
  text: string;
}

type Outcome = { kind: "said"; text: string } | Secret;

interface SchemaDialogProps extends Omit<SchemaFormProps, "cancel" | "onSubmit"> {
  title: string;
  close: () => void;
  /** @returns undefined for a refusal, which the form shows */
  run: (values: never) => Promise<Outcome | undefined>;
}

export function SchemaDialog({ title, close, run, ...form }: SchemaDialogProps) {
  const [secret, setSecret] = useState<Secret>();
  const submit = async (values: never) => {
    const done = await run(values);
    if (done?.kind === "secret") setSecret(done);
    if (done?.kind !== "said") return;
    say(done.text);
    close();
  };
  if (secret) return <OnlyNow {...secret} close={close} />;
  return (
    <Dialog title={title} close={close} stays={form.action.isBusy}>
      <SchemaForm {...form} cancel={close} onSubmit={submit} />
    </Dialog>
  );
}

interface OnlyNowProps extends Omit<Secret, "kind"> {
  close: () => void;
  /** Below the secret. */
  children?: ComponentChildren;
}

export const OnlyNow = ({ title, about, text, close, children }: OnlyNowProps) => (
  <Dialog title={title} close={close} stays>
    <p>It is shown only now. {about}</p>
    <Code text={text} />
    {children}
    <div class="actions end">
      <Button kind="primary" onClick={close}>
        I have stored it
      </Button>
    </div>
  </Dialog>
);
