// The templates of a chat app, which its provider approves before they may be sent.
import type { Channel, ChatAppTemplate } from "../../../sdk/src/types.gen.ts";
import { chatAppTemplateMoves } from "../../../shared/rules/chat-app-template-states.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { useRows } from "../../app/rows.ts";
import { Badge } from "../../components/badge.tsx";
import { Act } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";

const CATEGORIES = {
  MARKETING: "Marketing: offers and news",
  UTILITY: "Utility: about something the person did",
  AUTHENTICATION: "Authentication: a code to sign in",
};

export function ChatTemplates({ channel: { id } }: { channel: Channel }) {
  const rows = useRows("channels.listChatAppTemplates", [id], ({ items }) => items);
  const submit = useAction("channels.submitChatAppTemplate");
  const refresh = useAction("channels.refreshChatAppTemplate");
  const error = submit.error ?? refresh.error;
  return (
    <>
      {error && <Failure error={error} />}
      <Collection
        noun="template"
        card="Templates"
        caption="Templates of the chat app"
        rows={rows}
        usual={3}
        keyOf={(template) => template.id}
        empty={{
          about: "The provider approves a template before it is sent to people who have not written to you today.",
        }}
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "Text", cell: ({ body }) => <div class="clip dim">{body}</div> },
          { title: "Language", cell: ({ language }) => language },
          { title: "State", cell: (template) => <State template={template} /> },
          { title: "Updated", cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
        actions={(template) =>
          isSubmittable(template) ? (
            <Act action={submit} given={[id, template.id]} said={`${template.name} is submitted for review.`}>
              Submit
            </Act>
          ) : (
            <Act action={refresh} given={[id, template.id]} said={`The state of ${template.name} is read again.`}>
              Ask for its state
            </Act>
          )
        }
        add={{
          operation: "channels.createChatAppTemplate",
          label: "New template",
          isMinor: true,
          by: (close) => <Add channel={id} close={close} />,
        }}
      />
    </>
  );
}

const isSubmittable = ({ status }: ChatAppTemplate): boolean =>
  chatAppTemplateMoves.submit.from.some((allowed) => allowed === status);

const badges: Readonly<Record<string, string>> = { approved: "verified", rejected: "failed" };

function State({ template: { status, status_reason } }: { template: ChatAppTemplate }) {
  const state = badges[status] ?? status;
  return (
    <>
      <Badge state={state} word={status.replaceAll("_", " ")} />
      {status_reason && <span class="dim"> {status_reason}</span>}
    </>
  );
}

function Add({ channel, close }: { channel: string; close: () => void }) {
  const create = useAction("channels.createChatAppTemplate");
  const form = useFields(
    { name: "", body: "", language: "en_US", category: "MARKETING" as keyof typeof CATEGORIES },
    create,
  );
  const { values, field } = form;
  return (
    <ActionDialog
      title="New template"
      form={form}
      submit="Save the draft"
      close={close}
      run={() => create.run(channel, values)}
      said={() => `${values.name} is a draft. Submit it for review.`}
    >
      <TextField
        label="Name"
        {...field("name")}
        required
        hint="The provider keeps it in lower case, with _ for spaces."
      />
      <TextField
        label="Text"
        rows={4}
        {...field("body")}
        required
        hint="{{1}}, {{2}} and so on are filled in by each message."
      />
      <TextField label="Language" {...field("language")} hint="Such as en_US or de." />
      <SelectField label="Category" {...field("category")} options={CATEGORIES} />
    </ActionDialog>
  );
}
