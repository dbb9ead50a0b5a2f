// The workspaces of an agency's clients: made here, and opened with the rights that one has in the agency.
import { useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { workspacePath } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { openClient } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Time } from "../../components/page.tsx";

export function Clients() {
  const rows = usePages("agency.listWorkspaces", [{}], ({ items }) => items);
  const [opening, setOpening] = useState("");
  const open = (id: string) => {
    setOpening(id);
    openClient(id);
    location.assign(workspacePath(id, "home"));
  };
  return (
    <Collection
      noun="client"
      caption="Workspaces of clients"
      rows={rows}
      usual={4}
      keyOf={({ id }) => id}
      empty={{ about: "Each client has a workspace of its own, with people, channels and a plan of its own." }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Plan", isWord: true, cell: ({ plan }) => plan },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      actions={({ id, name }) => (
        <Button
          needs="auth.sessionAgencyWorkspace"
          label={`Open ${name}`}
          isBusy={opening === id}
          onClick={() => open(id)}
        >
          Open
        </Button>
      )}
      add={{ operation: "agency.createWorkspace", label: "New client", by: (close) => <Add close={close} /> }}
    />
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("agency.createWorkspace");
  const form = useFields({ name: "" }, create);
  const { values, field } = form;
  return (
    <ActionDialog
      title="New client"
      form={form}
      submit="Create the workspace"
      close={close}
      run={() => create.run(values)}
      said={() => `${values.name} has a workspace.`}
    >
      <TextField label="Name of the client" {...field("name")} required />
    </ActionDialog>
  );
}
