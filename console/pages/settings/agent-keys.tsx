// The keys of AI agents, with what each may do and until when.
import { useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useRows } from "../../app/rows.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Code, Time } from "../../components/page.tsx";

export function AgentKeys() {
  const rows = useRows("account.listAgentKeys", [], ({ items }) => items);
  return (
    <Collection
      noun="agent key"
      card="Agent keys"
      rows={rows}
      usual={2}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      empty={{ about: "An AI agent reads, drafts or plans sends with a key of its own, by MCP.", action: null }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Prefix", isMinor: true, cell: ({ prefix }) => <code>{prefix}</code> },
        { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
        { title: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> },
        { title: "Last used", isMinor: true, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
      ]}
      actions={({ revoked_at }) => revoked_at && <Badge state="canceled" word="revoked" />}
      add={{
        operation: "account.createAgentKey",
        label: "New agent key",
        isMinor: true,
        by: (close) => <NewAgentKey close={close} />,
      }}
      remove={{
        operation: "account.deleteAgentKey",
        verb: "Revoke",
        isOff: ({ revoked_at }) => Boolean(revoked_at),
        about: "The agent that uses it is refused at once.",
        title: ({ name }) => `Revoke ${name}?`,
        act: "Revoke the key",
        said: ({ name }) => `${name} is revoked.`,
      }}
    />
  );
}

function NewAgentKey({ close }: { close: () => void }) {
  const create = useAction("account.createAgentKey");
  const [made, setMade] = useState("");
  if (made)
    return (
      <Dialog title="The new agent key" close={close}>
        <p>It is shown only now. Give it to the agent as its bearer token.</p>
        <Code text={made} />
      </Dialog>
    );
  return (
    <Dialog title="New agent key" close={close}>
      <SchemaForm
        cancel={close}
        schema={forms["account.createAgentKey"]}
        texts={{
          scopes: {
            options: {
              read: "Read, without personal data",
              "read:pii": "Read, with personal data",
              "write:drafts": "Make drafts",
              "write:send": "Plan sends and confirm them",
            },
          },
          expires_in_days: { label: "Ends after days" },
        }}
        submit="Create the key"
        action={create}
        onSubmit={async (values) => {
          // The schema of the API names what the form asks for, hence the cast.
          const done = await create.run(values as never);
          if (done) setMade(done.answer.key);
        }}
      />
    </Dialog>
  );
}
