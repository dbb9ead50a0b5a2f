// Webhooks: did my endpoint get it? Endpoints, then the deliveries of one.
import { useState } from "preact/hooks";
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Code, Dialog, Page, Time } from "../../components/page.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Endpoint } from "./endpoint.tsx";
import { EndpointState } from "./state.tsx";
import { STALE, verification } from "./verification.ts";

const EVERY_MS = 10_000;

export function View() {
  const [id] = place.value.parts;
  return id ? <Endpoint key={id} id={id} /> : <All />;
}

function All() {
  const endpoints = useQuery("webhooks.list", [], { every: EVERY_MS });
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button kind="primary" icon="plus" needs="webhooks.create" onClick={() => setAdding(true)}>
      Add an endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      about="Events are posted to your servers: signed, numbered in sequence, and retried."
      actions={add}
    >
      <Loaded query={endpoints} skeleton={<Skeleton table rows={3} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no endpoints yet." action={add}>
              Add the URL of your server to receive events about deliveries, replies and new subscribers.
            </Empty>
          ) : (
            <Table
              caption="Endpoints"
              rows={items}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => pathTo("webhooks", id)}
              columns={[
                { title: "URL", cell: ({ target_url }: Webhook) => target_url },
                { title: "State", cell: (endpoint: Webhook) => <EndpointState endpoint={endpoint} /> },
                { title: "Events", cell: ({ events }: Webhook) => events.join(", ") },
                { title: "Description", cell: ({ description }: Webhook) => description ?? <span class="dim">–</span> },
                { title: "Created", cell: ({ created_at }: Webhook) => <Time at={created_at} /> },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <Add close={() => setAdding(false)} />}
    </Page>
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("webhooks.create", { stale: STALE });
  const [made, setMade] = useState<{ id: string; secret: string }>();
  if (made)
    return (
      <Dialog title="The secret of this endpoint" close={() => go(pathTo("webhooks", made.id))}>
        <p>It is shown only now. Your server verifies each request with it.</p>
        <Code text={made.secret} />
        <Code text={verification} label="Copy the code" />
        <div class="actions end">
          <Button kind="primary" onClick={() => go(pathTo("webhooks", made.id))}>
            I have stored it
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Add an endpoint" close={close}>
      <SchemaForm
        cancel={close}
        schema={forms["webhooks.create"]}
        texts={{
          target_url: { label: "URL", hint: "A public https URL of your server." },
          events: { label: "Events" },
          description: { label: "Description" },
        }}
        omit={["active"]}
        submit="Add the endpoint"
        needs="webhooks.create"
        action={create}
        onSubmit={async (values) => {
          // The schema of the API names what the form asks for, hence the cast.
          const done = await create.run(values as never);
          if (done) setMade(done.answer);
        }}
      />
    </Dialog>
  );
}
