// Adds one person by hand, as an app of the workspace does.
import { useState } from "preact/hooks";
import { useAction } from "../app/action.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Form, FormFault } from "./form.tsx";

export function AddPerson({ close }: { close: () => void }) {
  const upsert = useAction("subscribers.upsert", { stale: ["subscribers.", "billing."] });
  const [values, setValues] = useState({ external_id: "", email: "", first_name: "" });
  const set = (name: keyof typeof values) => (value: string) => setValues((old) => ({ ...old, [name]: value }));
  const fields = upsert.error?.fields;
  const add = async () => {
    const { external_id, email, first_name } = values;
    const done = await upsert.run({
      external_id,
      ...(email && { email }),
      ...(first_name && { attributes: { first_name } }),
    });
    if (!done) return;
    say(`${first_name || external_id} is added.`);
    close();
  };
  return (
    <Dialog title="Add a person" close={close}>
      <Form
        error={upsert.error}
        onSubmit={() => {
          void add();
        }}
      >
        <TextField
          label="External ID"
          required
          value={values.external_id}
          onInput={set("external_id")}
          fault={fields?.external_id}
          hint="The ID in your product. The same ID is the same person."
        />
        <TextField
          label="First name (optional)"
          value={values.first_name}
          onInput={set("first_name")}
          fault={fields?.["attributes.first_name"]}
        />
        <TextField
          label="Email (optional)"
          type="email"
          value={values.email}
          onInput={set("email")}
          fault={fields?.email}
        />
        <FormFault error={upsert.error} placed={["external_id", "email", "attributes.first_name"]} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={upsert.isBusy}>
            Add
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
