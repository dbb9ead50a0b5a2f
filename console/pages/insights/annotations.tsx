// What happened when: notes of the service and of people, and a form for one more.
import type { Annotation } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { useRows } from "../../app/rows.ts";
import { dateTime, fromLocalInput, fullTime, momentText, now, toLocalInput } from "../../app/time.ts";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { inWords, TextField } from "../../components/field.tsx";

/** What is planned is listed too. */
export const UNTIL = "9999-12-31T23:59:59Z";

export function Annotations({ start }: { start: string }) {
  const rows = useRows("annotations.list", [{ from: start, to: UNTIL }], ({ annotations }) => annotations.toReversed());
  return (
    <Collection
      noun="annotation"
      card="Annotations"
      rows={rows}
      usual={4}
      keyOf={({ id }) => id}
      nameOf={({ text }) => text}
      empty={{
        title: "There are no annotations in this period.",
        about: "The service notes releases, pauses and changes of the plan. Add what else explains the numbers.",
      }}
      columns={[
        { title: "When", cell: (row) => <When annotation={row} /> },
        { title: "What", cell: ({ text }) => text },
        {
          title: "Kind",
          isMinor: true,
          isWord: true,
          cell: ({ kind, source }) => <span class="dim">{source === "manual" ? "note" : inWords(kind)}</span>,
        },
      ]}
      add={{
        operation: "annotations.create",
        label: "Add an annotation",
        isMinor: true,
        by: (close) => <Add close={close} />,
      }}
      remove={{
        operation: "annotations.delete",
        isOff: ({ source }) => source !== "manual",
        about: ({ text }) => text,
        act: "Delete it",
        title: "Delete this annotation?",
        typed: () => undefined,
        said: () => "The annotation is deleted.",
      }}
    />
  );
}

function When({ annotation: { occurred_at, ends_at } }: { annotation: Annotation }) {
  return (
    <time dateTime={occurred_at} title={fullTime(occurred_at)}>
      {ends_at ? `${dateTime(occurred_at)} to ${momentText(ends_at)}` : momentText(occurred_at)}
    </time>
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("annotations.create");
  const form = useFields({ text: "", at: toLocalInput(now()), end: "" }, create);
  const { values, field } = form;
  const { text, at, end } = values;
  return (
    <ActionDialog
      title="Add an annotation"
      form={form}
      submit="Add the annotation"
      close={close}
      run={() => create.run({ text, occurred_at: fromLocalInput(at), ...(end && { ends_at: fromLocalInput(end) }) })}
      said={() => "The annotation is added."}
    >
      <TextField label="What happened" {...field("text")} required />
      <TextField label="When" type="datetime-local" {...field("at", "occurred_at")} required />
      <TextField label="Until (optional)" type="datetime-local" {...field("end", "ends_at")} />
    </ActionDialog>
  );
}
