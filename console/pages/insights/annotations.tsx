// What happened when: notes of the service and of people, and a form for one more.
import { useState } from "preact/hooks";
import type { Annotation } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { dateTime, fromLocalInput, fullTime, now, toLocalInput } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Confirm, Dialog } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const STALE = ["annotations."];
/** What is planned is listed too. */
export const UNTIL = "9999-12-31T23:59:59Z";
const FIELDS = ["occurred_at", "ends_at", "text"];

export function Annotations({ start }: { start: string }) {
  const list = useQuery("annotations.list", [{ from: start, to: UNTIL }]);
  const remove = useAction("annotations.delete", { stale: STALE });
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Annotation>();
  const add = (
    <Button icon="plus" needs="annotations.create" onClick={() => setAdding(true)}>
      Add an annotation
    </Button>
  );
  return (
    <Card title="Annotations" flush actions={add}>
      {remove.error && <Failure error={remove.error} />}
      <Loaded query={list} skeleton={<Skeleton rows={4} />}>
        {({ annotations }) =>
          annotations.length === 0 ? (
            <Empty title="There are no annotations in this period.">
              The service notes releases, pauses and changes of the plan. Add what else explains the numbers.
            </Empty>
          ) : (
            <Table
              caption="Annotations"
              rows={[...annotations].reverse()}
              keyOf={({ id }) => id}
              columns={[
                { title: "When", cell: (row: Annotation) => <When annotation={row} /> },
                { title: "What", cell: ({ text }: Annotation) => text },
                {
                  title: "Kind",
                  cell: ({ kind, source }: Annotation) => (
                    <span class="dim">{source === "manual" ? "note" : kind.replaceAll("_", " ")}</span>
                  ),
                },
                {
                  title: "",
                  cell: (row: Annotation) =>
                    row.source === "manual" && (
                      <div class="actions end">
                        <Button
                          kind="quiet"
                          icon="trash"
                          label={`Delete ${row.text}`}
                          needs="annotations.delete"
                          onClick={() => setLeaving(row)}
                        />
                      </div>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <Add close={() => setAdding(false)} />}
      {leaving && (
        <Confirm
          title="Delete this annotation?"
          act="Delete it"
          isBusy={remove.isBusy}
          close={() => setLeaving(undefined)}
          onConfirm={async () => {
            const done = await remove.run(leaving.id);
            setLeaving(undefined);
            if (done) say("The annotation is deleted.");
          }}
        >
          {leaving.text}
        </Confirm>
      )}
    </Card>
  );
}

function When({ annotation: { occurred_at, ends_at } }: { annotation: Annotation }) {
  return (
    <time dateTime={occurred_at} title={fullTime(occurred_at)}>
      {dateTime(occurred_at)}
      {ends_at && ` to ${dateTime(ends_at)}`}
    </time>
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("annotations.create", { stale: STALE });
  const [text, setText] = useState("");
  const [at, setAt] = useState(toLocalInput(now()));
  const [end, setEnd] = useState("");
  const fields = create.error?.fields ?? {};
  return (
    <Dialog title="Add an annotation" close={close}>
      <Form
        error={create.error}
        onSubmit={async () => {
          const body = { text, occurred_at: fromLocalInput(at), ...(end && { ends_at: fromLocalInput(end) }) };
          if (!(await create.run(body))) return;
          say("The annotation is added.");
          close();
        }}
      >
        <TextField label="What happened" value={text} onInput={setText} fault={fields.text} required />
        <TextField label="When" type="datetime-local" value={at} onInput={setAt} fault={fields.occurred_at} required />
        <TextField label="Until (optional)" type="datetime-local" value={end} onInput={setEnd} fault={fields.ends_at} />
        <FormFault error={create.error} placed={FIELDS} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" needs="annotations.create" isBusy={create.isBusy}>
            Add it
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
