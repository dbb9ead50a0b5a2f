// A message as a person of one's choice gets it, on each channel, by the service that sends it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { TemplatesPreviewBody } from "../../sdk/src/types.gen.ts";
import { classOf } from "../../shared/rules/channel-types.ts";
import { inPlain } from "../../shared/rules/placeholders.ts";
import { personName } from "../app/person-name.ts";
import { useQuery } from "../app/query.ts";
import { channelName } from "../app/sentences.ts";
import { useSettled } from "../app/settled.ts";
import { contentOfB } from "./arms.tsx";
import { Button } from "./button.tsx";
import { useOwners } from "./content-editor.tsx";
import { type Content, contentOf, type Own, shownOn } from "./content-model.ts";
import { type Message, useSaid } from "./message-editor.tsx";
import { Card } from "./page.tsx";
import { PersonField, usePicked } from "./person-picker.tsx";
import { Rendered } from "./rendered.tsx";
import { SeenAs } from "./seen.tsx";
import { Failure } from "./states.tsx";

const WAIT_MS = 400;
const IN_LINE = /, line:\d+, col:\d+$/;

interface PreviewProps {
  message: Message;
  /** Arm B, where that is looked at. */
  b?: Content | undefined;
  /** The channel whose text is written; empty where all are. */
  channel: Own | "";
  /** What the footer and the links of a mail follow from. */
  send?: PreviewSettings;
  title?: string;
  /** Below the message: what else it is shown by. */
  children?: ComponentChildren;
}

type PreviewSettings = Pick<TemplatesPreviewBody, "category" | "topic" | "name">;

export function MessagePreview({ message, b, channel, send, title = "Preview", children }: PreviewProps) {
  const { content, error } = useSaid(message);
  const shown = content && b ? contentOfB(content, contentOf(b)) : content;
  return (
    <Card title={title}>
      {error && <Failure error={error} />}
      {shown?.title && shown.body ? (
        <>
          <Seen content={shown} channel={channel} send={send} />
          {children}
        </>
      ) : (
        <p class="dim">
          {message.template_id === undefined
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
  send: PreviewSettings | undefined;
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

/** Until the service has answered: its variables by their names. */
function Unfilled({ channel, content }: Pick<SeenProps, "content"> & { channel: Own }) {
  const { title, body, html } = shownOn(content, channel);
  return <SeenAs channel={channel} title={inPlain(title)} body={inPlain(body)} html={html && inPlain(html)} />;
}

/** What the service makes of a content that is not saved yet, for a person of one's choice. @param content once there is one */
export function useSeenBy(content: Content | undefined, channel: Own, send?: PreviewSettings) {
  const picked = usePicked();
  const anybody = useQuery("subscribers.list", [{ limit: 1 }]);
  const isKnown = picked.text.trim() === "" ? anybody.data !== undefined : picked.isSettled;
  const person = picked.text.trim() === "" ? anybody.data?.items[0] : (picked.person ?? picked.offered[0]);
  const body = {
    content: content && { ...content, left_out: undefined },
    ...send,
    ...(person && { render_for: person.id }),
  };
  const settled = useSettled(isKnown && content ? body : undefined, WAIT_MS);
  // Nothing is asked without a content, hence the cast.
  const preview = useQuery("templates.preview", [(settled ?? body) as TemplatesPreviewBody], {
    when: settled !== undefined,
  });
  // Of a design the editor says in which block it is.
  const faults = Object.entries(preview.error?.fields ?? {}).map(([path, reason]) =>
    content?.by_channel?.email?.design && path.endsWith("email.html") ? reason.replace(IN_LINE, "") : reason,
  );
  const rendering = preview.data?.renderings.find((one) => classOf(one.channel) === channel);
  const fault = faults.length > 0 && <p class="banner">{faults.join(". ")}</p>;
  const field = (
    <PersonField
      label="As seen by"
      picked={picked}
      placeholder={person ? personName(person) : ""}
      {...(isKnown && !person && { hint: "Nobody is found: variables are empty." })}
    />
  );
  return { rendering, fault, field };
}

function SeenBySomebody({ content, channel, send }: SeenProps & { channel: Own }) {
  const { rendering, fault, field } = useSeenBy(content, channel, send);
  return (
    <>
      {fault}
      {rendering ? <Rendered rendering={rendering} /> : <Unfilled channel={channel} content={content} />}
      {field}
    </>
  );
}
