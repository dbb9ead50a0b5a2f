// A message as the service renders it, and the preview of one that is being written.
import { useState } from "preact/hooks";
import type { TemplatesPreviewAnswer } from "../../sdk/src/types.gen.ts";
import { classOf } from "../../shared/rules/channel-types.ts";
import { useQuery } from "../app/query.ts";
import { useSettled } from "../app/settled.ts";
import { type Content, contentOf, type Own, shownOn } from "./content-model.ts";
import { TextField } from "./field.tsx";
import { SeenAs } from "./seen.tsx";

type Rendering = TemplatesPreviewAnswer["renderings"][number];
const WAIT_MS = 400;

/** The message on one channel, with what it opens and what to look at before it is sent. */
export function Rendered({ rendering }: { rendering: Rendering }) {
  const { channel, title, body, html, push, in_app, warnings } = rendering;
  const buttons = push?.buttons ?? in_app?.actions ?? [];
  const opens = [...(push?.url ? [{ id: "", title: "A tap", url: push.url }] : []), ...buttons];
  return (
    <>
      <SeenAs channel={channel} title={title ?? ""} body={body ?? ""} html={html} />
      {opens.length > 0 && (
        <ul class="hint">
          {opens.map(({ id, title: label, url }) => (
            <li key={id}>
              {label}: {url === "" ? "closes the message" : url}
            </li>
          ))}
        </ul>
      )}
      {warnings.map(({ code, message }) => (
        <p key={code} class="hint" role="note">
          {message}
        </p>
      ))}
    </>
  );
}

/** What the service makes of a content that is not saved yet, for a person of one's choice. */
export function DraftRendered({ content, channel }: { content: Content; channel: Own }) {
  const [who, setWho] = useState("");
  const q = useSettled(who.trim(), WAIT_MS);
  const people = useQuery("subscribers.list", [{ ...(q && { q }), limit: 1 }]);
  const person = people.data?.items[0];
  const body = { content: contentOf(content), ...(person && { render_for: person.id }) };
  const isWritten = content.title !== "" && content.body !== "";
  const settled = useSettled(people.data && isWritten ? body : undefined, WAIT_MS);
  const preview = useQuery("templates.preview", [settled ?? body], { when: settled !== undefined });
  const faults = Object.values(preview.error?.fields ?? {});
  const rendering = preview.data?.renderings.find((one) => classOf(one.channel) === channel);
  return (
    <>
      <TextField
        label="As seen by"
        value={who}
        onInput={setWho}
        placeholder={person?.external_id ?? ""}
        hint={
          people.data && !person
            ? "Nobody is found: attributes are empty."
            : "The beginning of an external ID, an email address or a last name."
        }
      />
      {faults.length > 0 && <p class="banner">{faults.join(". ")}</p>}
      {rendering ? <Rendered rendering={rendering} /> : <SeenAs channel={channel} {...shownOn(content, channel)} />}
    </>
  );
}
