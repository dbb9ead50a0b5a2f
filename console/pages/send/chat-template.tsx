// The approved template that a chat app sends instead of title and body, with what fills its variables.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import type { Fields } from "../../app/fields.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { SelectField, TextField } from "../../components/field.tsx";
import type { Draft } from "./draft.ts";

interface ChatTemplateProps {
  form: Fields<Draft>;
  channel: Channel | undefined;
}

/** `{{1}}` and `{{2}}` are two. */
const variablesIn = (body: string): number => new Set(body.match(/\{\{\d+\}\}/g)).size;

/** Nothing is asked of a send by other channels. */
export function ChatTemplate({ form: { values, field, set, faultAt }, channel }: ChatTemplateProps) {
  const found = useQuery("channels.listChatAppTemplates", [channel?.id ?? ""], { when: channel !== undefined });
  if (!channel) return null;
  const approved = found.data?.items.filter(({ status }) => status === "approved") ?? [];
  const bodyOf = (wanted: string) => approved.find(({ id }) => id === wanted)?.body ?? "";
  const body = bodyOf(values.chat_template);
  const count = variablesIn(body);
  return (
    <>
      <SelectField
        label="Template of the chat app"
        {...field("chat_template", "chat_app_template_id")}
        onInput={(wanted) =>
          // What fills none could not be seen any more.
          set({ chat_template: wanted, ...(variablesIn(bodyOf(wanted)) === 0 && { chat_parameters: "" }) })
        }
        options={[
          { value: "", label: approved.length > 0 ? "Choose…" : "None is approved yet" },
          ...approved.map(({ id, name, language }) => ({ value: id, label: `${name} (${language})` })),
        ]}
        hint={
          <>
            {body || "It is sent instead of the title and body."}{" "}
            <a href={pathTo("channels", channel.id)}>Templates of this channel</a>
          </>
        }
      />
      {count > 0 && (
        <TextField
          label={`Its variables, one a line (${count})`}
          rows={count}
          {...field("chat_parameters")}
          fault={faultAt("chat_app_parameters")}
        />
      )}
    </>
  );
}
