// A message as a person of one's choice gets it, on each channel, by the service that sends it.
import { useState } from "preact/hooks";
import type { TemplatesPreviewBody } from "../../sdk/src/types.gen.ts";
import { classOf } from "../../shared/rules/channel-types.ts";
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { channelName } from "../app/sentences.ts";
import { useSettled } from "../app/settled.ts";
import { Button } from "./button.tsx";
import { useOwners } from "./content-editor.tsx";
import { type Content, contentOf, type Own, shownOn } from "./content-model.ts";
import { TextField } from "./field.tsx";
import type { Message } from "./message-editor.tsx";
import { Card } from "./page.tsx";
import { Rendered } from "./rendered.tsx";
import { SeenAs } from "./seen.tsx";
import { Failure } from "./states.tsx";

const WAIT_MS = 400;

interface PreviewProps {
  message: Message;
  /** The channel whose text is written; empty where all are. */
  channel: Own | "";
  /** What links say of the send. */
  send?: Sending;
  title?: string;
}

type Sending = Pick<TemplatesPreviewBody, "category" | "name">;

export function MessagePreview({ message: { content, template_id }, channel, send, title = "Preview" }: PreviewProps) {
  const template = useQuery("templates.get", [template_id ?? ""], { when: Boolean(template_id) });
  const shown = template_id === undefined ? content : template.data?.content;
  return (
    <Card title={title}>
      {template.error && <Failure error={template.error} />}
      {shown?.title && shown.body ? (
        <Seen content={shown} channel={channel} send={send} />
      ) : (
        <p class="dim">
          {template_id === undefined
            ? "It appears here once the message has a title and a body."
            : "It appears here once a template is chosen."}
        </p>
      )}
    </Card>
  );
}

interface SeenProps {
  content: Content;
  channel: Own | "";
  send: Sending | undefined;
}

function Seen({ content, channel, send }: SeenProps) {
  const [chosen, choose] = useState<Own>("in_app");
  const tabs = useOwners(content);
  const shown = channel || (tabs.includes(chosen) ? chosen : (tabs[0] ?? "in_app"));
  return (
    <>
      {channel === "" && tabs.length > 1 && (
        <div class="actions">
          {tabs.map((name) => (
            <Button key={name} kind="quiet" pressed={name === shown} onClick={() => choose(name)}>
              {channelName(name)}
            </Button>
          ))}
        </div>
      )}
      <SeenBySomebody content={content} channel={shown} send={send} />
    </>
  );
}

/** What the service makes of a content that is not saved yet. */
function SeenBySomebody({ content, channel, send }: SeenProps & { channel: Own }) {
  const [who, setWho] = useState("");
  const q = useSettled(who.trim(), WAIT_MS);
  const people = useQuery("subscribers.list", [{ ...(q && { q }), limit: 1 }]);
  const person = people.data?.items[0];
  const body = { content: contentOf(content), ...send, ...(person && { render_for: person.id }) };
  const settled = useSettled(people.data ? body : undefined, WAIT_MS);
  const preview = useQuery("templates.preview", [settled ?? body], { when: settled !== undefined });
  const faults = Object.values(preview.error?.fields ?? {});
  const rendering = preview.data?.renderings.find((one) => classOf(one.channel) === channel);
  return (
    <>
      {faults.length > 0 && <p class="banner">{faults.join(". ")}</p>}
      {rendering ? <Rendered rendering={rendering} /> : <SeenAs channel={channel} {...shownOn(content, channel)} />}
      <TextField
        label="As seen by"
        value={who}
        onInput={setWho}
        placeholder={person?.external_id ?? ""}
        hint={
          people.data && !person ? (
            "Nobody is found: attributes are empty."
          ) : (
            <>
              The beginning of an external ID, an email address or a last name
              {person && (
                <>
                  ; now <a href={pathTo("people", person.id)}>{person.external_id}</a>
                </>
              )}
              .
            </>
          )
        }
      />
    </>
  );
}
