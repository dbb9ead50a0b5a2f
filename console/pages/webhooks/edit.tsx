// What an endpoint is sent, and where.
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { say } from "../../app/toast.ts";
import { Dialog } from "../../components/dialog.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { texts } from "./texts.ts";

export function Edit({ endpoint, close }: { endpoint: Webhook; close: () => void }) {
  const update = useAction("webhooks.update");
  const { target_url, events, description } = endpoint;
  return (
    <Dialog title="Edit the endpoint" close={close}>
      <SchemaForm
        cancel={close}
        schema={forms["webhooks.create"]}
        texts={texts}
        omit={["active"]}
        initial={{ target_url, events, description: description ?? "" }}
        submit="Save the endpoint"
        action={update}
        onSubmit={async (values) => {
          // The schema of the API names what the form asks for, hence the cast.
          if (!(await update.run(endpoint.id, { description: null, ...values } as never))) return;
          say("The endpoint is saved.");
          close();
        }}
      />
    </Dialog>
  );
}
