// The keys with which a backend proves who its user is; two at once, so that they can be rotated.
import { useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { useRows } from "../../app/rows.ts";
import { Collection } from "../../components/collection.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Code, Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";

export function IdentityKeys() {
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
