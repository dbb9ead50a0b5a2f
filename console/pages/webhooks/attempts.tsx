// One delivery: what was posted, and each attempt with what the endpoint answered.
import type { ComponentChildren } from "preact";
import type { WebhooksListDeliveriesAnswer } from "../../../sdk/src/types.gen.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Code, Dialog, Time } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";

export type Delivery = WebhooksListDeliveriesAnswer["items"][number];

interface AttemptsProps {
  delivery: Delivery;
  close: () => void;
  children: ComponentChildren;
}

export function AttemptsDialog({ delivery, close, children }: AttemptsProps) {
  const { id, event_type, outcome, sequence, attempts, payload } = delivery;
  return (
    <Dialog title={event_type} close={close} class="wide">
      <dl class="facts">
        <dt>Outcome</dt>
        <dd>
          <Badge state={outcome} />
        </dd>
        <dt>ID</dt>
        <dd>{id}</dd>
        <dt>Sequence</dt>
        <dd>{sequence ?? "none: it was made before deliveries were numbered"}</dd>
      </dl>
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
      {children}
    </Dialog>
  );
}
