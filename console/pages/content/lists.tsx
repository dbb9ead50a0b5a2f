// Lists: people who were put together by hand or by an import.
import { useState } from "preact/hooks";
import type { List } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { number, plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Confirm, Dialog, Time } from "../../components/page.tsx";
import { Pager, pageNumber } from "../../components/pager.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const PAGE_SIZE = 50;
const STALE = ["lists."];

type Open = { kind: "edit"; list?: List } | { kind: "delete"; list: List };

export function Lists() {
  const lists = useQuery("lists.list", [{ page: pageNumber(), page_size: PAGE_SIZE }]);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const add = (
    <Button kind="primary" icon="plus" needs="lists.create" onClick={() => setOpen({ kind: "edit" })}>
      New list
    </Button>
  );
  return (
    <>
      <Loaded query={lists} skeleton={<Skeleton table rows={5} />}>
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty title="There are no lists yet." action={add}>
              A list holds people that you choose; an import can fill it.
            </Empty>
          ) : (
            <>
              <div class="filters">{add}</div>
              <Table
                caption="Lists"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Name", cell: ({ name }: List) => <b>{name}</b> },
                  {
                    title: "Description",
                    cell: ({ description }: List) => <span class="dim">{description ?? "–"}</span>,
                  },
                  { title: "People", isNumber: true, cell: ({ subscriber_count }: List) => number(subscriber_count) },
                  { title: "Updated", cell: ({ updated_at }: List) => <Time at={updated_at} /> },
                  {
                    title: "",
                    cell: (list: List) => (
                      <div class="actions end">
                        <Button
                          kind="quiet"
                          icon="pencil"
                          label={`Edit ${list.name}`}
                          needs="lists.update"
                          onClick={() => setOpen({ kind: "edit", list })}
                        />
                        <Button
                          kind="quiet"
                          icon="trash"
                          label={`Delete ${list.name}`}
                          needs="lists.delete"
                          onClick={() => setOpen({ kind: "delete", list })}
                        />
                      </div>
                    ),
                  },
                ]}
              />
              <Pager total={total} size={PAGE_SIZE} what="list" />
            </>
          )
        }
      </Loaded>
      {open?.kind === "edit" && <Edit list={open.list} close={close} />}
      {open?.kind === "delete" && <Remove list={open.list} close={close} />}
    </>
  );
}

function Edit({ list, close }: { list: List | undefined; close: () => void }) {
  const create = useAction("lists.create", { stale: STALE });
  const update = useAction("lists.update", { stale: STALE });
  return (
    <Dialog title={list ? `Edit ${list.name}` : "New list"} close={close}>
      <SchemaForm
        cancel={close}
        schema={forms["lists.create"]}
        initial={list ? { name: list.name, description: list.description ?? "" } : {}}
        submit="Save the list"
        needs={list ? "lists.update" : "lists.create"}
        action={list ? update : create}
        onSubmit={async (values) => {
          // The schema of the API names what the form asks for, hence the casts.
          const done = list
            ? await update.run(list.id, { description: null, ...values } as never)
            : await create.run(values as never);
          if (!done) return;
          say("The list is saved.");
          close();
        }}
      />
    </Dialog>
  );
}

function Remove({ list: { id, name, subscriber_count }, close }: { list: List; close: () => void }) {
  const remove = useAction("lists.delete", { stale: STALE });
  return (
    <Confirm
      title="Delete this list?"
      name={name}
      act="Delete the list"
      isBusy={remove.isBusy}
      close={close}
      onConfirm={async () => {
        if (!(await remove.run(id))) return;
        say(`${name} is deleted.`);
        close();
      }}
    >
      <p>{plural(subscriber_count, "person leaves", "people leave")} it, and stay in the workspace.</p>
      {remove.error && <Failure error={remove.error} />}
    </Confirm>
  );
}
