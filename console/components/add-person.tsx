// Adds one person by hand, as an app of the workspace does.
import { useAction } from "../app/action.ts";
import { useFields } from "../app/fields.ts";
import { ActionDialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";

export function AddPerson({ close }: { close: () => void }) {
  const upsert = useAction("subscribers.upsert", { stale: ["subscribers.", "billing."] });
  const form = useFields({ external_id: "", email: "", first_name: "" }, upsert);
  const { values, field } = form;
  const { email, first_name } = values;
  const external_id = values.external_id || email;
  return (
    <ActionDialog
      title="Add a person"
      form={form}
      submit="Add"
      refusal={external_id ? undefined : "Give an email address or an external ID."}
      close={close}
      run={() =>
        upsert.run({ external_id, ...(email && { email }), ...(first_name && { attributes: { first_name } }) })
      }
      said={() => `${first_name || external_id} is added.`}
    >
      <TextField label="First name (optional)" {...field("first_name", "attributes.first_name")} />
      <TextField label="Email" type="email" {...field("email")} />
      <TextField
        label="External ID"
        {...field("external_id")}
        placeholder={email}
        hint="The ID in your product: the same ID is the same person. Empty: the email address."
      />
    </ActionDialog>
  );
}
