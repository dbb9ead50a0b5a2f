// Exports: what the workspace holds, as CSV files that can be imported again.
import { useState } from "preact/hooks";
import type { Export, ImportsCreateExportBody, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { usePages } from "../../app/rows.ts";
import { fromLocalInput, number, zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { TargetPicker } from "../../components/pickers.tsx";

const EVERY_MS = 2_000;
const FIELDS = ["filter.list_id", "filter.segment_id", "filter.notification_id", "filter.start", "filter.end"];

const kinds: Record<Export["kind"], string> = {
  subscribers: "People",
  list: "People of a list",
  segment: "People of a segment",
  recipients: "Recipients of a send",
  events: "Events",
  report: "Report",
};

export function View() {
  return (
    <Page title="Exports" about="CSV files of people can be imported again. A file can be downloaded for three days.">
      <Begin />
      <All />
    </Page>
  );
}

function Begin() {
  const create = useAction("imports.createExport", { stale: ["imports."] });
  const [target, setTarget] = useState<Target>({ type: "all" });
  const [what, setWhat] = useState<"people" | "recipients" | "events" | "report">("people");
  const [send, setSend] = useState("");
  const [start, setStart] = useState("");
  const [end, setEnd] = useState("");
  const sends = useQuery("notifications.list", [{ limit: 100 }], { when: what === "recipients" });
  const {
    "filter.list_id": list_id = "",
    "filter.segment_id": segment_id = "",
    ...fields
  } = create.error?.fields ?? {};
  const bodyOf = (): ImportsCreateExportBody => {
    if (what === "recipients") return { kind: what, filter: { notification_id: send } };
    if (what === "people") {
      if (target.type === "list") return { kind: "list", filter: { list_id: target.list_id } };
      return target.type === "segment"
        ? { kind: "segment", filter: { segment_id: target.segment_id } }
        : { kind: "subscribers" };
    }
    const filter = { ...(start && { start: fromLocalInput(start) }), ...(end && { end: fromLocalInput(end) }) };
    return { kind: what, filter };
  };
  return (
    <Card title="New export">
      <Form
        error={create.error}
        onSubmit={async () => {
          if (await create.run(bodyOf())) say("The export has begun.");
        }}
      >
        <SelectField
          label="Data"
          value={what}
          options={[
            { value: "people", label: "People, with attributes and consents" },
            { value: "recipients", label: kinds.recipients },
            { value: "events", label: kinds.events },
            { value: "report", label: "Report of all sends" },
          ]}
          onInput={(value) => setWhat(value as typeof what)}
        />
        {what === "people" && (
          <TargetPicker
            target={target}
            onInput={setTarget}
            fields={{ "target.list_id": list_id, "target.segment_id": segment_id }}
          />
        )}
        {what === "recipients" && (
          <SelectField
            label="Send"
            value={send}
            fault={fields["filter.notification_id"]}
            options={[
              { value: "", label: "Choose…" },
              ...(sends.data?.items ?? []).map(({ id, name, title }) => ({ value: id, label: name ?? title ?? id })),
            ]}
            onInput={setSend}
          />
        )}
        {(what === "events" || what === "report") && (
          <div class="row">
            <TextField
              label={`From (${zone}, optional)`}
              type="datetime-local"
              value={start}
              onInput={setStart}
              fault={fields["filter.start"]}
            />
            <TextField
              label="To (optional)"
              type="datetime-local"
              value={end}
              onInput={setEnd}
              fault={fields["filter.end"]}
            />
          </div>
        )}
        <FormFault error={create.error} placed={FIELDS} />
        <div class="actions">
          <Button kind="primary" type="submit" icon="export" needs="imports.createExport" isBusy={create.isBusy}>
            Start the export
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function All() {
  const rows = usePages("imports.listExports", [{}], ({ items }) => items, { every: EVERY_MS });
  return (
    <Collection
      noun="export"
      card="Exports of the last 30 days"
      caption="Exports"
      rows={rows}
      usual={4}
      keyOf={({ id }) => id}
      columns={[
        { title: "Data", cell: ({ kind }) => kinds[kind] },
        { title: "Status", cell: ({ status }) => <Badge state={status} /> },
        { title: "Rows", isNumber: true, cell: (one) => (one.rows === null ? "–" : number(one.rows)) },
        { title: "Started", cell: ({ created_at }) => <Time at={created_at} /> },
        { title: "File", cell: (one) => <File of={one} /> },
      ]}
    />
  );
}

function File({ of: { url, error, expires_at } }: { of: Export }) {
  if (!url) return <span class="dim">{error ?? "–"}</span>;
  return (
    <>
      <a class="button" href={url} download rel="noreferrer">
        Download
      </a>{" "}
      <span class="dim">
        until <Time at={expires_at} />
      </span>
    </>
  );
}
