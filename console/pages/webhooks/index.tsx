// Webhooks: did my endpoint get it? Endpoints, then the deliveries of one.
import { useState } from "preact/hooks";
import type { WebhooksCreateBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { useRows } from "../../app/rows.ts";
import { Collection } from "../../components/collection.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Code, Dash, Time } from "../../components/page.tsx";
import { OnlyNow } from "../../components/schema-dialog.tsx";
import { Endpoint } from "./endpoint.tsx";
import { EndpointState } from "./state.tsx";
import { texts } from "./texts.ts";
import { verification } from "./verification.ts";

const EVERY_MS = 10_000;

export function View() {
  const [id] = place.value.parts;
  return id ? <Endpoint key={id} id={id} /> : <All />;
}

function All() {
  const rows = useRows("webhooks.list", [], ({ items }) => items, { every: EVERY_MS });
  return (
    <Collection
      noun="endpoint"
      page={{
        title: "Webhooks",
        about: "Events are posted to your servers: signed, numbered in sequence, and retried.",
      }}
      caption="Endpoints"
      rows={rows}
      usual={3}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("webhooks", id)}
      empty={{
        about: "Add the URL of your server to receive events about deliveries, opt-outs and new subscribers.",
      }}
      columns={[
        { title: "URL", cell: ({ target_url }) => target_url },
        { title: "State", cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
        { title: "Events", isMinor: true, cell: ({ events }) => events.join(", ") },
        { title: "Description", isMinor: true, cell: ({ description }) => description ?? <Dash /> },
        { title: "Created", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{ operation: "webhooks.create", label: "Add an endpoint", by: (close) => <Add close={close} /> }}
    />
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("webhooks.create");
  const [made, setMade] = useState<{ id: string; secret: string }>();
  if (made)
    return (
      <OnlyNow
        title="The secret of this endpoint"
        about="Your server verifies each request with it."
        text={made.secret}
        close={() => go(pathTo("webhooks", made.id))}
      >
        <Code text={verification} label="Copy the code" />
      </OnlyNow>
    );
  return (
    <Dialog title="Add an endpoint" close={close} stays={create.isBusy}>
      <SchemaForm
        cancel={close}
        schema={forms["webhooks.create"]}
        texts={texts}
        omit={["active"]}
        submit="Add the endpoint"
        action={create}
        onSubmit={async (values: WebhooksCreateBody) => {
          const done = await create.run(values);
          if (done) setMade(done.answer);
        }}
      />
    </Dialog>
  );
}
