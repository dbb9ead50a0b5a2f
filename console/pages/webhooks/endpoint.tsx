// One endpoint: its deliveries with every attempt, a test, the replay of failures, its secret.
import { useState } from "preact/hooks";
import type { Webhook, WebhooksUpdateBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import type { AnswerOf } from "../../app/api.ts";
import { forms } from "../../app/forms.gen.ts";
import { changesOf } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Act, Button } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { AskButton, DeleteButton, Dialog } from "../../components/dialog.tsx";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Menu } from "../../components/menu.tsx";
import { Card, Code, Facts, Page, Time } from "../../components/page.tsx";
import { OnlyNow, SchemaDialog } from "../../components/schema-dialog.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Replay, Test } from "./dialogs.tsx";
import { EndpointState } from "./state.tsx";
import { texts } from "./texts.ts";
import { verification } from "./verification.ts";

const EVERY_MS = 2_000;

const hostOf = ({ target_url }: Webhook): string => new URL(target_url).host;

/** Where it is too long for its column, it breaks at the dot. */
function EventName({ of }: { of: string }) {
  const [group, name] = of.split(".");
  return (
    <>
      {group}.<wbr />
      {name}
    </>
  );
}

type Delivery = AnswerOf<"webhooks.listDeliveries">["items"][number];

type Open = { kind: "test" | "replay" | "edit" } | { kind: "secret"; secret: string };

export function Endpoint({ id }: { id: string }) {
  const endpoint = useQuery("webhooks.get", [id]);
  const update = useAction("webhooks.update");
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const { data } = endpoint;
  const { error } = update;
  return (
    <Page
      title={data ? hostOf(data) : "Endpoint"}
      back={{ href: pathTo("webhooks"), label: "Webhooks" }}
      about={data?.description}
      actions={
        data && (
          <>
            <Button needs="webhooks.test" onClick={() => setOpen({ kind: "test" })}>
              Send a test
            </Button>
            <Menu>
              <Button needs="webhooks.replay" onClick={() => setOpen({ kind: "replay" })}>
                Replay
              </Button>
              <Button icon="pencil" needs="webhooks.update" onClick={() => setOpen({ kind: "edit" })}>
                Edit
              </Button>
              <AskButton
                label="Rotate the secret"
                title="Rotate the secret?"
                act="Rotate it"
                operation="webhooks.rotateSecret"
                given={[id]}
                said="The secret is rotated."
                lost="If it was rotated, a second rotation ends the secret that your server has: give it the new one at once."
                then={({ secret }) => setOpen({ kind: "secret", secret })}
              >
                The new one is shown once. For 24 hours the current one signs as well; older ones stop.
              </AskButton>
              <Act action={update} given={[id, { active: !data.active }]}>
                {data.active ? "Disable" : "Enable"}
              </Act>
              <DeleteButton operation="webhooks.delete" id={id} noun="endpoint" name={hostOf(data)} page="webhooks">
                It receives no more events, and its deliveries can no longer be viewed or replayed.
              </DeleteButton>
            </Menu>
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={endpoint}>{(found) => <Settings endpoint={found} />}</Loaded>
      {endpoint.error?.status !== 404 && <Deliveries id={id} />}
      {open?.kind === "test" && data && <Test endpoint={data} close={close} />}
      {open?.kind === "edit" && data && <Edit endpoint={data} close={close} />}
      {open?.kind === "replay" && <Replay id={id} close={close} />}
      {open?.kind === "secret" && (
        <OnlyNow
          title="The new secret"
          about="For 24 hours the old one signs as well, so that your server can change over."
          text={open.secret}
          close={close}
        >
          <Code text={verification} label="Copy the code" />
        </OnlyNow>
      )}
    </Page>
  );
}

function Settings({ endpoint }: { endpoint: Webhook }) {
  return (
    <Card title="Endpoint">
      <Facts
        of={[
          ["State", <EndpointState key="state" endpoint={endpoint} />],
          ["URL", endpoint.target_url],
          ["Events", endpoint.events.join(", ")],
          ["Created", <Time key="created" at={endpoint.created_at} />],
        ]}
      />
    </Card>
  );
}

const OUTCOMES = { "": "All outcomes", delivered: "Delivered", pending: "Waiting", failed: "Failed" };

function Deliveries({ id }: { id: string }) {
  const [opened, setOpened] = useState<Delivery>();
  const outcome = chosenOf("outcome", ["delivered", "pending", "failed"]);
  const rows = usePages(
    "webhooks.listDeliveries",
    [id, { limit: 25, ...(outcome && { outcome }) }],
    ({ items }) => items,
    { every: EVERY_MS },
  );
  const newest = rows.items.find((delivery) => delivery.id === opened?.id) ?? opened;
  return (
    <>
      <Collection
        noun="delivery"
        caption="Deliveries"
        rows={rows}
        keyOf={(delivery) => delivery.id}
        filters={<Filter name="outcome" label="Outcome" options={OUTCOMES} />}
        empty={{
          title: outcome ? "No delivery has this outcome." : "There are no deliveries yet.",
          about: "They are kept for 30 days.",
        }}
        columns={[
          { title: "Event", cell: ({ event_type }) => <EventName of={event_type} /> },
          { title: "Outcome", cell: (delivery) => <Badge state={delivery.outcome} /> },
          { title: "Sequence", isMinor: true, isNumber: true, cell: ({ sequence }) => sequence ?? "–" },
          { title: "Attempts", isMinor: true, isNumber: true, cell: ({ attempt_count }) => attempt_count },
          {
            title: "Response",
            isMinor: true,
            cell: ({ last_status_code, attempts }) =>
              last_status_code ?? <div class="reason">{attempts.at(-1)?.error ?? "–"}</div>,
          },
          { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        actions={(delivery) => (
          <Button
            kind="quiet"
            label={`Attempts of ${delivery.event_type}`}
            icon="right"
            onClick={() => setOpened(delivery)}
          />
        )}
      />
      {newest && <OneDelivery webhook={id} delivery={newest} close={() => setOpened(undefined)} />}
    </>
  );
}

/** What was posted, and each attempt with what the endpoint answered. */
function OneDelivery({ webhook, delivery, close }: { webhook: string; delivery: Delivery; close: () => void }) {
  const again = useAction("webhooks.redeliverDelivery");
  const { id, event_type, outcome, sequence, attempts, payload } = delivery;
  return (
    <Dialog title={event_type} close={close} class="wide">
      <Facts
        of={[
          ["Outcome", <Badge key="outcome" state={outcome} />],
          ["ID", id],
          ["Sequence", sequence ?? "none: it was made before deliveries were numbered"],
        ]}
      />
      {attempts.length > 0 && (
        <Table
          caption="Attempts"
          rows={attempts}
          keyOf={({ n }) => String(n)}
          columns={[
            { title: "Attempt", isNumber: true, cell: ({ n }) => n },
            { title: "When", cell: ({ at }) => <Time at={at} /> },
            { title: "Response", cell: ({ status_code, error }) => status_code ?? error ?? "–" },
            { title: "Duration", isNumber: true, cell: ({ duration_ms }) => `${number(duration_ms)} ms` },
          ]}
        />
      )}
      {payload ? <Code text={JSON.stringify(payload, null, 2)} /> : <p class="dim">The payload is no longer kept.</p>}
      {again.error && <Failure error={again.error} />}
      <div class="actions end">
        <Act action={again} given={[webhook, id]} said="It is redelivered, with the same ID and body.">
          Redeliver
        </Act>
      </div>
    </Dialog>
  );
}

function Edit({ endpoint, close }: { endpoint: Webhook; close: () => void }) {
  const update = useAction("webhooks.update");
  const { target_url, events, description } = endpoint;
  const initial = { target_url, events, description: description ?? "" };
  return (
    <SchemaDialog
      title="Edit the endpoint"
      close={close}
      schema={forms["webhooks.create"]}
      texts={texts}
      omit={["active"]}
      initial={initial}
      submit="Save the endpoint"
      action={update}
      run={async (values: WebhooksUpdateBody) =>
        (await update.run(endpoint.id, changesOf(initial, { ...values }))) && {
          kind: "said",
          text: "The endpoint is saved.",
        }
      }
    />
  );
}
