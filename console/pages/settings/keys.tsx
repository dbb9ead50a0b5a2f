// The publishable key of apps and browsers, and the keys of servers with their scopes.
import { useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Card, Code, Confirm, Dialog, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const STALE = ["account."];

export function Keys() {
  const sdk = useQuery("account.getSdkKey", []);
  const keys = useQuery("account.listServerKeys", []);
  const create = useAction("account.createServerKey", { stale: STALE });
  const revoke = useAction("account.deleteServerKey", { stale: STALE });
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState("");
  const [ending, setEnding] = useState<{ id: string; name: string }>();
  const close = () => {
    setMaking(false);
    setMade("");
  };
  return (
    <>
      <Card title="Publishable key">
        <p class="dim">For apps and browsers. It can register devices and read inboxes; it is no secret.</p>
        <Loaded query={sdk} skeleton={<Skeleton rows={1} />}>
          {({ sdk_key }) => <Code text={sdk_key} />}
        </Loaded>
      </Card>
      {revoke.error && <Failure error={revoke.error} />}
      <Card
        title="Server keys"
        flush
        actions={
          <Button icon="plus" needs="account.createServerKey" onClick={() => setMaking(true)}>
            New key
          </Button>
        }
      >
        <Loaded query={keys} skeleton={<Skeleton table rows={2} />}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="There are no server keys yet." />
            ) : (
              <Table
                caption="Server keys"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Name", cell: ({ name }) => name },
                  { title: "Prefix", cell: ({ prefix }) => <code>{prefix}</code> },
                  { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
                  { title: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
                  {
                    title: "",
                    cell: ({ id, name, revoked_at }) =>
                      revoked_at ? (
                        <Badge state="canceled" word="revoked" />
                      ) : (
                        <Button
                          kind="quiet"
                          icon="trash"
                          label={`Revoke ${name}`}
                          needs="account.deleteServerKey"
                          onClick={() => setEnding({ id, name })}
                        />
                      ),
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      {isMaking && (
        <Dialog title={made ? "The new key" : "New server key"} close={close}>
          {made ? (
            <>
              <p>It is shown only now. Store it where your server keeps its secrets.</p>
              <Code text={made} />
            </>
          ) : (
            <SchemaForm
              cancel={close}
              schema={forms["account.createServerKey"]}
              submit="Create the key"
              needs="account.createServerKey"
              action={create}
              onSubmit={async (values) => {
                // The schema of the API names what the form asks for, hence the cast.
                const done = await create.run(values as never);
                if (done) setMade(done.answer.key);
              }}
            />
          )}
        </Dialog>
      )}
      {ending && (
        <Confirm
          title={`Revoke ${ending.name}?`}
          name={ending.name}
          act="Revoke the key"
          isBusy={revoke.isBusy}
          close={() => setEnding(undefined)}
          onConfirm={async () => {
            const done = await revoke.run(ending.id);
            setEnding(undefined);
            if (done) say(`${ending.name} is revoked.`);
          }}
        >
          Servers that use it are refused at once.
        </Confirm>
      )}
    </>
  );
}
