// Topics: what messages are about, so that people can opt out of one and keep the others.
import { useState } from "preact/hooks";
import type { Topic } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Confirm, Dialog, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const STALE = ["topics."];

type Open = { kind: "edit"; topic?: Topic } | { kind: "delete"; topic: Topic };

export function Topics() {
  const topics = useQuery("topics.list", []);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const add = (
    <Button kind="primary" icon="plus" needs="topics.create" onClick={() => setOpen({ kind: "edit" })}>
      New topic
    </Button>
  );
  return (
    <>
      <Loaded query={topics} skeleton={<Skeleton table rows={5} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no topics yet." action={add}>
              With topics, people opt out of one kind of message instead of all.
            </Empty>
          ) : (
            <>
              <div class="filters">{add}</div>
              <Table
                caption="Topics"
                rows={items}
                keyOf={({ key }) => key}
                columns={[
                  { title: "Name", cell: ({ name }: Topic) => <b>{name}</b> },
                  { title: "Key", cell: ({ key }: Topic) => <code>{key}</code> },
                  {
                    title: "Default",
                    cell: (topic: Topic) => (topic.default === "in" ? "opted in" : "opted out"),
                  },
                  {
                    title: "Description",
                    cell: ({ description }: Topic) => <span class="dim">{description ?? "–"}</span>,
                  },
                  { title: "Updated", cell: ({ updated_at }: Topic) => <Time at={updated_at} /> },
                  {
                    title: "",
                    cell: (topic: Topic) => (
                      <div class="actions end">
                        <Button
                          kind="quiet"
                          icon="pencil"
                          label={`Edit ${topic.name}`}
                          needs="topics.update"
                          onClick={() => setOpen({ kind: "edit", topic })}
                        />
                        <Button
                          kind="quiet"
                          icon="trash"
                          label={`Delete ${topic.name}`}
                          needs="topics.delete"
                          onClick={() => setOpen({ kind: "delete", topic })}
                        />
                      </div>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
      {open?.kind === "edit" && <Edit topic={open.topic} close={close} />}
      {open?.kind === "delete" && <Remove topic={open.topic} close={close} />}
    </>
  );
}

function Edit({ topic, close }: { topic: Topic | undefined; close: () => void }) {
  const create = useAction("topics.create", { stale: STALE });
  const update = useAction("topics.update", { stale: STALE });
  return (
    <Dialog title={topic ? `Edit ${topic.name}` : "New topic"} close={close}>
      <SchemaForm
        cancel={close}
        schema={forms[topic ? "topics.update" : "topics.create"]}
        initial={
          topic ? { name: topic.name, description: topic.description ?? "", default: topic.default } : { default: "in" }
        }
        texts={{
          key: { hint: "The key in your product, such as news. It cannot be changed." },
          default: { label: "Default, without a choice", options: { in: "opted in", out: "opted out" } },
        }}
        submit="Save the topic"
        needs={topic ? "topics.update" : "topics.create"}
        action={topic ? update : create}
        onSubmit={async (values) => {
          // The schema of the API names what the form asks for, hence the casts.
          const done = topic
            ? await update.run(topic.key, { description: null, ...values } as never)
            : await create.run(values as never);
          if (!done) return;
          say("The topic is saved.");
          close();
        }}
      />
    </Dialog>
  );
}

function Remove({ topic: { key, name }, close }: { topic: Topic; close: () => void }) {
  const remove = useAction("topics.delete", { stale: STALE });
  return (
    <Confirm
      title="Delete this topic?"
      name={name}
      act="Delete the topic"
      isBusy={remove.isBusy}
      close={close}
      onConfirm={async () => {
        if (!(await remove.run(key))) return;
        say(`${name} is deleted.`);
        close();
      }}
    >
      <p>What people chose is kept, and counts again if you create a topic with this key.</p>
      {remove.error && <Failure error={remove.error} />}
    </Confirm>
  );
}
