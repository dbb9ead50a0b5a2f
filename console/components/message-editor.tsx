// A message as it is written, in every place that sends one: by a template, or here with a text for each channel.
import { useQuery } from "../app/query.ts";
import { ContentEditor, type ContentEditorProps } from "./content-editor.tsx";
import { type Content, contentOf } from "./content-model.ts";
import { Choices } from "./field.tsx";
import { TemplateSelect } from "./pickers.tsx";

export interface Message {
  content: Content;
  /** Undefined where it is written here; empty until one is chosen. */
  template_id: string | undefined;
}

interface MessageEditorProps extends Omit<ContentEditorProps, "content" | "onInput"> {
  message: Message;
  onInput: (message: Message) => void;
  templateFault: string | undefined;
  /** Unlike that of any other message of the form. */
  name?: string;
}

export function MessageEditor({ message, onInput, templateFault, name = "source", ...content }: MessageEditorProps) {
  const { template_id } = message;
  return (
    <>
      <Choices
        legend="Content"
        name={name}
        value={template_id === undefined ? "inline" : "template"}
        options={{ inline: "Write it here", template: "Use a template" }}
        onInput={(source) => onInput({ ...message, template_id: source === "template" ? "" : undefined })}
      />
      {template_id === undefined ? (
        <ContentEditor
          {...content}
          content={message.content}
          onInput={(written) => onInput({ ...message, content: written })}
        />
      ) : (
        <TemplateSelect
          value={template_id}
          onInput={(chosen) => onInput({ ...message, template_id: chosen })}
          fault={templateFault}
        />
      )}
    </>
  );
}

/** What a message says: what is written, or its template once that is read. */
export function useSaid({ content, template_id }: Message) {
  const { data, error } = useQuery("templates.get", [template_id ?? ""], { when: Boolean(template_id) });
  return { content: template_id === undefined ? contentOf(content) : data?.content, error };
}
