// Templates: named texts that sends, campaigns, journeys and schedules refer to.
import { useState } from "preact/hooks";
import type { Template } from "../../../sdk/src/types.gen.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { say } from "../../app/toast.ts";
import { Collection } from "../../components/collection.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Check } from "../../components/field.tsx";
import { Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { UsedBy } from "../../components/used-by.tsx";

export function Templates() {
  const rows = useNumbered("templates.list", [{ page: pageNumber(), per_page: PAGE_SIZE }], ({ data }) => data);
  return (
    <Collection
      noun="template"
      caption="Templates"
      rows={rows}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      hrefOf={({ id }) => pathTo("content", `templates/${id}`)}
      empty={{ about: "A template is written once; sends, campaigns, journeys and schedules refer to it." }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Title", cell: ({ content }) => inPlain(content.title) },
        { title: "Body", isMinor: true, cell: ({ content }) => <div class="clip dim">{inPlain(content.body)}</div> },
        { title: "Created", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{ operation: "templates.create", label: "New template", by: pathTo("content", "templates/new") }}
      remove={{
        kind: "dialog",
        operation: "templates.delete",
        dialog: (template, close) => <Remove template={template} close={close} />,
      }}
    />
  );
}

function Remove({ template: { id, name }, close }: { template: Template; close: () => void }) {
  const remove = useAction("templates.delete", { stale: ["templates.", "schedules.", "journeys."] });
  const [isForced, setForced] = useState(false);
  const used = useQuery("templates.getUsage", [id]).data?.used_by;
  const stops = used && used.schedules.length + used.journeys.length > 0;
  const act = async () => {
    const done = await remove.run(id, isForced ? { force: "true" } : {});
    if (!done) return;
    say(`${name} is deleted.`);
    close();
  };
  return (
    <Confirm
      title={`Delete ${name}?`}
      name={name}
      act="Delete the template"
      isBusy={remove.isBusy}
      close={close}
      onConfirm={act}
    >
      <p>Sends that are scheduled with it will fail.</p>
      {used && Object.values(used).flat().length > 0 && (
        <>
          <p>It is used by:</p>
          <UsedBy used={used} />
        </>
      )}
      {remove.error && <Failure error={remove.error} />}
      {(stops || remove.error?.status === 409) && (
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
