// One endpoint: its deliveries with every attempt, a test, the replay of failures, its secret.
import { useState } from "preact/hooks";
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo, place, setQuery } from "../../app/router.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card, Code, Confirm, Dialog, Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { AttemptsDialog, type Delivery } from "./attempts.tsx";
import { Replay, Test } from "./dialogs.tsx";
import { EndpointState } from "./state.tsx";
import { STALE, verification } from "./verification.ts";

const EVERY_MS = 2_000;

type Open =
  | { kind: "test" | "replay" | "delete" }
  | { kind: "secret"; secret: string }
  | { kind: "delivery"; id: string };

export function Endpoint({ id }: { id: string }) {
  const endpoint = useQuery("webhooks.get", [id]);
  const update = useAction("webhooks.update", { stale: STALE });
  const rotate = useAction("webhooks.rotateSecret", { stale: STALE });
  const remove = useAction("webhooks.delete", { stale: STALE });
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const { data } = endpoint;
  const error = update.error ?? rotate.error ?? remove.error;
  return (
    <Page
      title={data ? new URL(data.target_url).host : "Endpoint"}
      back={{ href: pathTo("webhooks"), label: "Webhooks" }}
      about={data?.description}
      actions={
        data && (
          <>
            <Button needs="webhooks.test" onClick={() => setOpen({ kind: "test" })}>
              Send a test
            </Button>
            <Button needs="webhooks.replay" onClick={() => setOpen({ kind: "replay" })}>
              Replay
            </Button>
            <Button
              needs="webhooks.update"
              isBusy={update.isBusy}
              onClick={() => void update.run(id, { active: !data.active })}
            >
              {data.active ? "Disable" : "Enable"}
            </Button>
            <Button kind="danger" needs="webhooks.delete" onClick={() => setOpen({ kind: "delete" })}>
              Delete
            </Button>
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={endpoint}>
        {(found) => (
          <Facts
            endpoint={found}
            isBusy={rotate.isBusy}
            rotate={async () => {
              const done = await rotate.run(id);
              if (done) setOpen({ kind: "secret", secret: done.answer.secret });
            }}
          />
        )}
      </Loaded>
      <Deliveries id={id} show={(delivery) => setOpen({ kind: "delivery", id: delivery })} />
      {open?.kind === "test" && data && <Test endpoint={data} close={close} />}
      {open?.kind === "replay" && <Replay id={id} close={close} />}
      {open?.kind === "delivery" && <OneDelivery webhook={id} delivery={open.id} close={close} />}
      {open?.kind === "secret" && (
        <Dialog title="The new secret" close={close}>
          <p>It is shown only now. For 24 hours the old one signs as well, so that your server can change over.</p>
          <Code text={open.secret} />
          <Code text={verification} label="Copy the code" />
        </Dialog>
      )}
      {open?.kind === "delete" && data && (
        <Confirm
          title="Delete this endpoint?"
          name={new URL(data.target_url).host}
          act="Delete the endpoint"
          isBusy={remove.isBusy}
          close={close}
          onConfirm={async () => {
            const done = await remove.run(id);
            close();
            if (!done) return;
            say("The endpoint is deleted.");
            go(pathTo("webhooks"));
          }}
        >
          It receives no more events, and its deliveries can no longer be viewed or replayed.
        </Confirm>
      )}
    </Page>
  );
}

function Facts({ endpoint, isBusy, rotate }: { endpoint: Webhook; isBusy: boolean; rotate: () => void }) {
  return (
    <Card
      title="Endpoint"
      actions={
        <Button needs="webhooks.rotateSecret" isBusy={isBusy} onClick={rotate}>
          Rotate the secret
        </Button>
      }
    >
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <EndpointState endpoint={endpoint} />
        </dd>
        <dt>URL</dt>
        <dd>{endpoint.target_url}</dd>
        <dt>Events</dt>
        <dd>{endpoint.events.join(", ")}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={endpoint.created_at} />
        </dd>
      </dl>
    </Card>
  );
}

const OUTCOMES = [
  { value: "", label: "All outcomes" },
  { value: "delivered", label: "Delivered" },
  { value: "pending", label: "Waiting" },
  { value: "failed", label: "Failed" },
];

function Deliveries({ id, show }: { id: string; show: (delivery: string) => void }) {
  const outcome = place.value.query.get("outcome") ?? "";
  const list = usePages(
    "webhooks.listDeliveries",
    (cursor): ArgumentsOf<"webhooks.listDeliveries"> => [
      id,
      { limit: 25, ...(outcome && { outcome: outcome as Delivery["outcome"] }), ...(cursor && { cursor }) },
    ],
    { every: EVERY_MS },
  );
  const items = list.pages.flatMap((page) => page.items);
  return (
    <>
      <div class="filters">
        <select
          aria-label="Outcome"
          value={outcome}
          onInput={(event) => setQuery({ outcome: event.currentTarget.value || undefined })}
        >
          {OUTCOMES.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <Loaded query={list.first} skeleton={<Skeleton table rows={5} />}>
        {() =>
          items.length === 0 ? (
            <Empty title={outcome ? "No delivery has this outcome." : "There are no deliveries yet."}>
              They are kept for 30 days.
            </Empty>
          ) : (
            <>
              <Table
                caption="Deliveries"
                rows={items}
                keyOf={({ id: key }) => key}
                columns={[
                  { title: "Event", cell: ({ event_type }) => event_type },
                  { title: "Outcome", cell: ({ outcome: state }) => <Badge state={state} /> },
                  { title: "Sequence", isNumber: true, cell: ({ sequence }) => sequence ?? "–" },
                  { title: "Attempts", isNumber: true, cell: ({ attempt_count }) => attempt_count },
                  {
                    title: "Response",
                    cell: ({ last_status_code, attempts }) =>
                      last_status_code ?? <div class="reason">{attempts.at(-1)?.error ?? "–"}</div>,
                  },
                  { title: "When", cell: ({ created_at }) => <Time at={created_at} /> },
                  {
                    title: "",
                    cell: ({ id: key, event_type }) => (
                      <Button kind="quiet" label={`Attempts of ${event_type}`} icon="right" onClick={() => show(key)} />
                    ),
                  },
                ]}
              />
              {list.error && <Failure error={list.error} />}
              <More cursor={list.pages.at(-1)?.next_cursor ?? ""} isLoading={list.isLoading} load={list.load} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function OneDelivery({ webhook, delivery, close }: { webhook: string; delivery: string; close: () => void }) {
  const list = useQuery("webhooks.listDeliveries", [webhook, { limit: 100 }]);
  const found = list.data?.items.find(({ id }) => id === delivery);
  const again = useAction("webhooks.redeliverDelivery", { stale: STALE });
  if (!found) return null;
  return (
    <AttemptsDialog delivery={found} close={close}>
      {again.error && <Failure error={again.error} />}
      <div class="actions end">
        <Button
          needs="webhooks.redeliverDelivery"
          isBusy={again.isBusy}
          onClick={async () => {
            if (await again.run(webhook, delivery)) say("It is redelivered, with the same ID and body.");
          }}
        >
          Redeliver
        </Button>
        <Button kind="primary" onClick={close}>
          Close
        </Button>
      </div>
    </AttemptsDialog>
  );
}
