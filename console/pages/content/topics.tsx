// Topics: what messages are about, so that people can opt out of one and keep the others.
import type { Topic, TopicsCreateBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { changesOf } from "../../app/merge.ts";
import { useRows } from "../../app/rows.ts";
import { Collection } from "../../components/collection.tsx";
import { Time } from "../../components/page.tsx";
import { SchemaDialog } from "../../components/schema-dialog.tsx";

const DEFAULTS = { in: "opted in", out: "opted out" };

export function Topics() {
  const rows = useRows("topics.list", [], ({ items }) => items);
  return (
    <Collection
      noun="topic"
      caption="Topics"
      rows={rows}
      keyOf={({ key }) => key}
      nameOf={({ name }) => name}
      empty={{ about: "With topics, people opt out of one kind of message instead of all." }}
      columns={[
        { title: "Name", cell: ({ name }) => <b>{name}</b> },
        { title: "Key", isMinor: true, cell: ({ key }) => <code>{key}</code> },
        { title: "Default", isWord: true, cell: (topic) => DEFAULTS[topic.default] },
        {
          title: "Description",
          isMinor: true,
          cell: ({ description }) => <span class="dim">{description ?? "–"}</span>,
        },
        { title: "Updated", isMinor: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      add={{ operation: "topics.create", label: "New topic", by: (close) => <Edit close={close} /> }}
      edit={{ operation: "topics.update", dialog: (topic, close) => <Edit topic={topic} close={close} /> }}
      remove={{
        operation: "topics.delete",
        about: "What people chose is kept, and counts again if you create a topic with this key.",
      }}
    />
  );
}

function Edit({ topic, close }: { topic?: Topic; close: () => void }) {
  const create = useAction("topics.create");
  const update = useAction("topics.update");
  const initial = topic
    ? {
        name: topic.name,
        description: topic.description ?? "",
        default: topic.default,
        double_opt_in: topic.double_opt_in,
      }
    : { default: "in" };
  return (
    <SchemaDialog
      title={topic ? `Edit ${topic.name}` : "New topic"}
      close={close}
      schema={forms[topic ? "topics.update" : "topics.create"]}
      initial={initial}
      texts={{
        key: { hint: "The key in your product, such as news. It cannot be changed." },
        default: { label: "Default, without a choice", options: DEFAULTS, required: true },
      }}
      submit={topic ? "Save the topic" : "Create the topic"}
      action={topic ? update : create}
      run={async (values: TopicsCreateBody) =>
        (await (topic ? update.run(topic.key, changesOf(initial, { ...values })) : create.run(values))) && {
          kind: "said",
          text: "The topic is saved.",
        }
      }
    />
  );
}
