// Lists: people who were put together by hand or by an import.
import type { List, ListsCreateBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { changesOf } from "../../app/merge.ts";
import { pathTo } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { number, plural } from "../../app/time.ts";
import { Collection } from "../../components/collection.tsx";
import { Time } from "../../components/page.tsx";
import { SchemaDialog } from "../../components/schema-dialog.tsx";

export function Lists() {
  const rows = useNumbered("lists.list", [{ page: pageNumber(), page_size: PAGE_SIZE }], ({ items }) => items);
  return (
    <Collection
      noun="list"
      caption="Lists"
      rows={rows}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("content", `lists/${id}`)}
      nameOf={({ name }) => name}
      empty={{ about: "A list holds people that you choose; an import can fill it." }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        {
          title: "Description",
          isMinor: true,
          cell: ({ description }) => <span class="dim">{description ?? "–"}</span>,
        },
        { title: "People", isNumber: true, cell: ({ subscriber_count }) => number(subscriber_count) },
        { title: "Updated", isMinor: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      add={{ operation: "lists.create", label: "New list", by: (close) => <Edit close={close} /> }}
      edit={{ operation: "lists.update", dialog: (list, close) => <Edit list={list} close={close} /> }}
      remove={{
        operation: "lists.delete",
        about: ({ subscriber_count }) =>
          subscriber_count === 0
            ? "Nobody is in it."
            : `${plural(subscriber_count, "person leaves", "people leave")} it, and stay in the workspace.`,
      }}
    />
  );
}

function Edit({ list, close }: { list?: List; close: () => void }) {
  const create = useAction("lists.create");
  const update = useAction("lists.update");
  const initial = list
    ? { name: list.name, description: list.description ?? "", double_opt_in: list.double_opt_in }
    : {};
  return (
    <SchemaDialog
      title={list ? `Edit ${list.name}` : "New list"}
      close={close}
      schema={forms["lists.create"]}
      initial={initial}
      submit={list ? "Save the list" : "Create the list"}
      action={list ? update : create}
      run={async (values: ListsCreateBody) =>
        (await (list ? update.run(list.id, changesOf(initial, { ...values })) : create.run(values))) && {
          kind: "said",
          text: "The list is saved.",
        }
      }
    />
  );
}
