// The publishable key of apps and browsers, and the keys of servers with their scopes.
import { useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { useRows } from "../../app/rows.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Card, Code, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { AgentKeys } from "./agent-keys.tsx";

export function Keys() {
  const sdk = useQuery("account.getSdkKey", []);
  const rows = useRows("account.listServerKeys", [], ({ items }) => items);
  return (
    <>
      <Card title="Publishable key">
        <p class="dim">For apps and browsers. It can register devices and read inboxes; it is no secret.</p>
        <Loaded query={sdk} skeleton={<Skeleton rows={1} />}>
          {({ sdk_key }) => <Code text={sdk_key} />}
        </Loaded>
      </Card>
      <Collection
        noun="server key"
        card="Server keys"
        rows={rows}
        usual={2}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "Prefix", isMinor: true, cell: ({ prefix }) => <code>{prefix}</code> },
          { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
          { title: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
        ]}
        actions={({ revoked_at }) => revoked_at && <Badge state="canceled" word="revoked" />}
        add={{
          operation: "account.createServerKey",
          label: "New key",
          isMinor: true,
          by: (close) => <NewKey close={close} />,
        }}
        remove={{
          operation: "account.deleteServerKey",
          verb: "Revoke",
          isOff: ({ revoked_at }) => Boolean(revoked_at),
          about: "Servers that use it are refused at once.",
          title: ({ name }) => `Revoke ${name}?`,
          act: "Revoke the key",
          said: ({ name }) => `${name} is revoked.`,
        }}
      />
      <AgentKeys />
      <IdentityKeys />
    </>
  );
}

function NewKey({ close }: { close: () => void }) {
  const create = useAction("account.createServerKey");
  const [made, setMade] = useState("");
  if (made)
    return (
      <Dialog title="The new key" close={close}>
        <p>It is shown only now. Store it where your server keeps its secrets.</p>
        <Code text={made} />
      </Dialog>
    );
  return (
    <Dialog title="New server key" close={close}>
      <SchemaForm
        cancel={close}
        schema={forms["account.createServerKey"]}
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

function IdentityKeys() {
  const rows = useRows("account.listIdentityKeys", [], ({ items }) => items);
  const create = useAction("account.createIdentityKey");
  const [made, setMade] = useState("");
  const press = async () => {
    const done = await create.run();
    if (done) setMade(done.answer.key);
  };
  return (
    <Collection
      noun="identity key"
      card="Identity keys"
      rows={rows}
      usual={1}
      keyOf={({ id }) => id}
      nameOf={({ id }) => `the key ${id.slice(-4)}`}
      empty={{
        about: "Your backend signs the ID of a user with it, so that nobody reads another's inbox.",
        action: null,
      }}
      columns={[
        { title: "Key", cell: ({ id }) => <code>…{id.slice(-4)}</code> },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{
        operation: "account.createIdentityKey",
        label: "New identity key",
        isMinor: true,
        by: { press: () => void press(), isBusy: create.isBusy },
      }}
      remove={{
        operation: "account.deleteIdentityKey",
        about: "Hashes under it are refused at once. Let your backend use the other key first.",
        act: "Delete the key",
        typed: () => undefined,
      }}
    >
      {create.error && <Failure error={create.error} />}
      {made && (
        <Dialog title="The new identity key" close={() => setMade("")}>
          <p>It is shown only now. Your backend keeps it as a secret, and sends X-User-Hash.</p>
          <Code text={made} />
        </Dialog>
      )}
    </Collection>
  );
}
