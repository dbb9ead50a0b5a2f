// A template: its name and what it says, as somebody sees it, with a test send.
import { useMemo, useState } from "preact/hooks";
import type { Template } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { useKept } from "../../app/kept.ts";
import { isSame, unsavedOf } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { go, onward, pathTo } from "../../app/router.ts";
import { say } from "../../app/toast.ts";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { ContentEditor } from "../../components/content-editor.tsx";
import { type Content, contentOf, faultsUnder, type Own } from "../../components/content-model.ts";
import { GiveUp } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { MessagePreview } from "../../components/message-preview.tsx";
import { Card, Page } from "../../components/page.tsx";
import { type Category, CategorySelect } from "../../components/pickers.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { TestSend } from "../../components/test-send.tsx";
import { UsedBy } from "../../components/used-by.tsx";

interface Draft {
  name: string;
  content: Content;
}

/** Of the template with this id; `new` is one that is not saved yet. */
export function TemplateEditor({ id }: { id: string }) {
  const isNew = id === "new";
  const found = useQuery("templates.get", [id], { when: !isNew });
  return (
    <Page
      title={isNew ? "New template" : (found.data?.name ?? "Template")}
      about="Sends, campaigns, journeys and schedules refer to it."
      back={{ href: pathTo("content"), label: "Templates" }}
    >
      {isNew ? (
        <Editor />
      ) : (
        <Loaded query={found} skeleton={<Skeleton rows={8} />}>
          {(template) => <Editor key={JSON.stringify(template)} template={template} />}
        </Loaded>
      )}
    </Page>
  );
}

const bodyOf = ({ name, content }: Draft) => ({ name, content: contentOf(content) });

function Editor({ template }: { template?: Template }) {
  const create = useAction("templates.create");
  const update = useAction("templates.update");
  const action = template ? update : create;
  const kept = useKept<Draft>(`template.${template?.id ?? "new"}`, () => ({
    name: template?.name ?? "",
    content: template?.content ?? { title: "", body: "" },
  }));
  const { name, content } = kept.value;
  const said = contentOf(content);
  const [channel, setChannel] = useState<Own | "">("");
  // A template has no category; what its mails end with follows from that of a send.
  const [category, setCategory] = useState<Category>("marketing");
  const fields = action.error?.fields ?? {};
  const faults = useMemo(() => faultsUnder(fields, "content."), [action.error]);
  const leave = () => {
    kept.drop();
    go(pathTo("content"));
  };
  const guard = useGuard(template && bodyOf(kept.begun), () =>
    seenBy((options) => call("templates.get", [template?.id ?? "", options]), bodyOf),
  );
  const save = async () => {
    const to = onward();
    const mine = await guard.settle(bodyOf({ name, content }));
    if (!mine) return;
    const done = template ? await update.run(template.id, mine.body, mine.over) : await create.run(mine.body);
    if (!done) return;
    const { id } = done.answer;
    const later = kept.accepted(`template.${id}`);
    say(`${name} is saved.${later}`);
    to(pathTo("content", later && `templates/${id}`));
  };
  return (
    <Form error={action.error} kind="composer" onSubmit={save}>
      <div class="stack">
        <Card title="Message">
          <TextField
            label="Name"
            value={name}
            onInput={(next) => kept.set({ name: next })}
            fault={fields.name}
            required
          />
          <ContentEditor
            content={content}
            onInput={(next) => kept.set({ content: next })}
            faults={faults}
            shown={channel}
            show={setChannel}
          />
        </Card>
        <FormEnd
          action={action}
          placed={["name", ...Object.keys(fields).filter((path) => path.startsWith("content."))]}
          submit="Save the template"
          unsaved={unsavedOf(kept)}
        >
          <GiveUp isChanged={!isSame(kept.value, kept.begun)} onClick={leave} />
        </FormEnd>
      </div>
      <aside class="stack preview" aria-label="Preview">
        <MessagePreview message={{ content, template_id: undefined }} channel={channel} send={{ category }}>
          <CategorySelect
            value={category}
            onInput={setCategory}
            hint="Marketing emails end with a link to unsubscribe."
          />
        </MessagePreview>
        <TestSend
          bodyOf={() => ({ content: said, category })}
          missing={said.title && said.body ? undefined : "Write a title and a body."}
        />
        {template && <Usage id={template.id} />}
      </aside>
      {guard.question}
    </Form>
  );
}

function Usage({ id }: { id: string }) {
  const usage = useQuery("templates.getUsage", [id]);
  return (
    <Card title="Used by">
      <Loaded query={usage} skeleton={<Skeleton rows={1} />}>
        {({ used_by }) => (
          <div class="initial">
            <UsedBy used={used_by} />
          </div>
        )}
      </Loaded>
    </Card>
  );
}
