// Exports: what the workspace holds, as CSV files that can be imported again.
import type { Export, ImportsCreateExportBody, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { usePages } from "../../app/rows.ts";
import { fromLocalInput, number, zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { TargetPicker } from "../../components/pickers.tsx";
import { SendSelect } from "../../components/send-select.tsx";

const EVERY_MS = 2_000;

const kinds: Record<Export["kind"], string> = {
  subscribers: "People",
  list: "People of a list",
  segment: "People of a segment",
  recipients: "Recipients of a send",
  events: "Events",
  report: "Report",
  suppressions: "Suppressed addresses",
};

const DATA = {
  people: "People, with attributes and consents",
  recipients: kinds.recipients,
  events: kinds.events,
  report: "Report of all sends",
  suppressions: kinds.suppressions,
};

export function View() {
  return (
    <Page title="Exports" about="CSV files of people can be imported again. A file can be downloaded for three days.">
      <Begin />
      <All />
    </Page>
  );
}

interface ExportForm {
  what: "people" | "recipients" | "events" | "report" | "suppressions";
  target: Target;
  send: string;
  /** As typed. */
  start: string;
  end: string;
}

function bodyOf({ what, target, send, start, end }: ExportForm): ImportsCreateExportBody {
  if (what === "recipients") return { kind: what, filter: { notification_id: send } };
  if (what === "people") {
    if (target.type === "list") return { kind: "list", filter: { list_id: target.list_id } };
    return target.type === "segment"
      ? { kind: "segment", filter: { segment_id: target.segment_id } }
      : { kind: "subscribers" };
  }
  if (what === "suppressions") return { kind: what };
  const filter = { ...(start && { start: fromLocalInput(start) }), ...(end && { end: fromLocalInput(end) }) };
  return { kind: what, filter };
}

function Begin() {
  const create = useAction("imports.createExport");
  const { values, set, field, faultAt, placed } = useFields<ExportForm>(NOTHING, create);
  const { what, target } = values;
  const begin = async () => {
    const done = await create.run(bodyOf(values));
    if (done) say("The export has begun.");
  };
  return (
    <Card title="New export">
      <Form error={create.error} onSubmit={begin}>
        <SelectField label="Data" {...field("what", "kind")} options={DATA} />
        {what === "people" && (
          <TargetPicker
            target={target}
            onInput={(next) => set({ target: next })}
            faultAt={(part) => (part ? faultAt(`filter${part}`) : undefined)}
          />
        )}
        {what === "recipients" && <SendSelect {...field("send", "filter.notification_id")} />}
        {(what === "events" || what === "report") && (
          <div class="row">
            <TextField label={`From (${zone}, optional)`} type="datetime-local" {...field("start", "filter.start")} />
            <TextField label="To (optional)" type="datetime-local" {...field("end", "filter.end")} />
          </div>
        )}
        <FormEnd action={create} placed={placed} submit="Start the export" icon="export" />
      </Form>
    </Card>
  );
}

const NOTHING: ExportForm = { what: "people", target: { type: "all" }, send: "", start: "", end: "" };

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
        { title: "Started", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
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
        until <Time at={expires_at} isDate />
      </span>
    </>
  );
}
