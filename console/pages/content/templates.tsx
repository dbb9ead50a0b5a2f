// Templates: named texts that sends, schedules and journeys refer to.
import { useMemo, useState } from "preact/hooks";
import type { Template } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useKept } from "../../app/kept.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { say } from "../../app/toast.ts";
import { Collection } from "../../components/collection.tsx";
import { ContentEditor } from "../../components/content-editor.tsx";
import { type Content, contentOf, faultsUnder, type Own } from "../../components/content-model.ts";
import { Confirm, FormDialog } from "../../components/dialog.tsx";
import { Check, TextField } from "../../components/field.tsx";
import { Time } from "../../components/page.tsx";
import { DraftRendered } from "../../components/rendered.tsx";
import { Failure } from "../../components/states.tsx";

export function Templates() {
  const rows = useNumbered("templates.list", [{ page: pageNumber(), per_page: PAGE_SIZE }], ({ data }) => data);
  return (
    <Collection
      noun="template"
      caption="Templates"
      rows={rows}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      empty={{ about: "A template is written once; sends, schedules and journeys refer to it." }}
      columns={[
        { title: "Name", cell: ({ name }) => <b>{name}</b> },
        { title: "Title", cell: ({ content }) => content.title },
        { title: "Body", cell: ({ content }) => <div class="clip dim">{content.body}</div> },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{ operation: "templates.create", label: "New template", by: (close) => <Edit close={close} /> }}
      edit={{
        operation: "templates.update",
        dialog: (template, close) => <Edit template={template} close={close} />,
      }}
      remove={{
        operation: "templates.delete",
        dialog: (template, close) => <Remove template={template} close={close} />,
      }}
    />
  );
}

interface Draft {
  name: string;
  content: Content;
}

function Edit({ template, close }: { template?: Template; close: () => void }) {
  const create = useAction("templates.create");
  const update = useAction("templates.update");
  const action = template ? update : create;
  const kept = useKept<Draft>(`template.${template?.id ?? "new"}`, () => ({
    name: template?.name ?? "",
    content: template?.content ?? { title: "", body: "" },
  }));
  const { name, content } = kept.value;
  const [channel, setChannel] = useState<Own | "">("");
  const fields = action.error?.fields ?? {};
  const faults = useMemo(() => faultsUnder(fields, "content."), [action.error]);
  const leave = () => {
    kept.drop();
    close();
  };
  const save = async () => {
    const given = { name, content: contentOf(content) };
    const done = template ? await update.run(template.id, given) : await create.run(given);
    if (!done) return;
    say(`${name} is saved.`);
    leave();
  };
  return (
    <FormDialog
      title={template ? `Edit ${template.name}` : "New template"}
      class="wide"
      action={action}
      placed={["name", ...Object.keys(fields).filter((path) => path.startsWith("content."))]}
      submit="Save the template"
      close={close}
      cancel={leave}
      onSubmit={save}
    >
      <TextField label="Name" value={name} onInput={(next) => kept.set({ name: next })} fault={fields.name} required />
      <ContentEditor
        content={content}
        onInput={(next) => kept.set({ content: next })}
        faults={faults}
        shown={channel}
        show={setChannel}
        hint="May hold attributes, such as {{ subscriber.first_name }}."
      />
      <DraftRendered content={content} channel={channel || "in_app"} />
    </FormDialog>
  );
}

function Remove({ template: { id, name }, close }: { template: Template; close: () => void }) {
  const remove = useAction("templates.delete", { stale: ["templates.", "schedules.", "journeys."] });
  const [isForced, setForced] = useState(false);
  const act = async () => {
    if (!(await remove.run(id, isForced ? { force: "true" } : {}))) return;
    say(`${name} is deleted.`);
    close();
  };
  return (
    <Confirm
      title="Delete this template?"
      name={name}
      act="Delete the template"
      isBusy={remove.isBusy}
      close={close}
      onConfirm={act}
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
