// Templates: named texts that sends, schedules and journeys refer to.
import { useMemo, useState } from "preact/hooks";
import type { Template } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useKept } from "../../app/kept.ts";
import { useQuery } from "../../app/query.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { ContentEditor } from "../../components/content-editor.tsx";
import { type Content, contentOf, faultsUnder, type Own } from "../../components/content-model.ts";
import { Check, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Confirm, Dialog, Time } from "../../components/page.tsx";
import { Pager, pageNumber } from "../../components/pager.tsx";
import { DraftRendered } from "../../components/rendered.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const PAGE_SIZE = 50;
const STALE = ["templates."];
const isOfContent = (path: string) => path.startsWith("content.");

type Open = { kind: "edit"; template?: Template } | { kind: "delete"; template: Template };

export function Templates() {
  const templates = useQuery("templates.list", [{ page: pageNumber(), per_page: PAGE_SIZE }]);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const add = (
    <Button kind="primary" icon="plus" needs="templates.create" onClick={() => setOpen({ kind: "edit" })}>
      New template
    </Button>
  );
  return (
    <>
      <Loaded query={templates} skeleton={<Skeleton table rows={5} />}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty title="There are no templates yet." action={add}>
              A template is written once; sends, schedules and journeys refer to it.
            </Empty>
          ) : (
            <>
              <div class="filters">{add}</div>
              <Table
                caption="Templates"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Name", cell: ({ name }: Template) => <b>{name}</b> },
                  { title: "Title", cell: ({ content }: Template) => content.title },
                  { title: "Body", cell: ({ content }: Template) => <div class="clip dim">{content.body}</div> },
                  { title: "Created", cell: ({ created_at }: Template) => <Time at={created_at} /> },
                  {
                    title: "",
                    cell: (template: Template) => (
                      <div class="actions end">
                        <Button
                          kind="quiet"
                          icon="pencil"
                          label={`Edit ${template.name}`}
                          needs="templates.update"
                          onClick={() => setOpen({ kind: "edit", template })}
                        />
                        <Button
                          kind="quiet"
                          icon="trash"
                          label={`Delete ${template.name}`}
                          needs="templates.delete"
                          onClick={() => setOpen({ kind: "delete", template })}
                        />
                      </div>
                    ),
                  },
                ]}
              />
              <Pager total={total} size={PAGE_SIZE} what="template" />
            </>
          )
        }
      </Loaded>
      {open?.kind === "edit" && <Edit template={open.template} close={close} />}
      {open?.kind === "delete" && <Remove template={open.template} close={close} />}
    </>
  );
}

interface Draft {
  name: string;
  content: Content;
}

function Edit({ template, close }: { template: Template | undefined; close: () => void }) {
  const create = useAction("templates.create", { stale: STALE });
  const update = useAction("templates.update", { stale: STALE });
  const action = template ? update : create;
  const {
    value: draft,
    keep,
    drop,
  } = useKept<Draft>(`template.${template?.id ?? "new"}`, () => ({
    name: template?.name ?? "",
    content: template?.content ?? { title: "", body: "" },
  }));
  const { name, content } = draft;
  const [channel, setChannel] = useState<Own | "">("");
  const fields = action.error?.fields ?? {};
  const faults = useMemo(() => faultsUnder(fields, "content."), [action.error]);
  return (
    <Dialog title={template ? `Edit ${template.name}` : "New template"} close={close} class="wide">
      <Form
        error={action.error}
        onSubmit={async () => {
          const given = { name, content: contentOf(content) };
          const done = template ? await update.run(template.id, given) : await create.run(given);
          if (!done) return;
          drop();
          say(`${name} is saved.`);
          close();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onInput={(next) => keep({ ...draft, name: next })}
          fault={fields.name}
          required
        />
        <ContentEditor
          content={content}
          onInput={(next) => keep({ ...draft, content: next })}
          faults={faults}
          shown={channel}
          show={setChannel}
          hint="May hold attributes, such as {{ subscriber.first_name }}."
        />
        <DraftRendered content={content} channel={channel || "in_app"} />
        <FormFault error={action.error} placed={["name", ...Object.keys(fields).filter(isOfContent)]} />
        <div class="actions end">
          <Button
            onClick={() => {
              drop();
              close();
            }}
          >
            Cancel
          </Button>
          <Button
            kind="primary"
            type="submit"
            needs={template ? "templates.update" : "templates.create"}
            isBusy={action.isBusy}
          >
            Save the template
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Remove({ template: { id, name }, close }: { template: Template; close: () => void }) {
  const remove = useAction("templates.delete", { stale: ["templates.", "schedules.", "journeys."] });
  const [isForced, setForced] = useState(false);
  return (
    <Confirm
      title="Delete this template?"
      name={name}
      act="Delete the template"
      isBusy={remove.isBusy}
      close={close}
      onConfirm={async () => {
        const done = await remove.run(id, isForced ? { force: "true" } : {});
        if (!done) return;
        say(`${name} is deleted.`);
        close();
      }}
    >
      <p>Sends that are scheduled with it will fail.</p>
      {remove.error && <Failure error={remove.error} />}
      {remove.error?.status === 409 && (
        <Check
          label="Delete anyway"
          note="Schedules that use it are switched off, and journeys are paused."
          checked={isForced}
          onInput={setForced}
        />
      )}
    </Confirm>
  );
}
