// The editor of a message: title and text for every channel, and a tab for each channel that says something else.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { channelFields } from "../../shared/rules/channel-content.ts";
import { classOf } from "../../shared/rules/channel-types.ts";
import { useQuery } from "../app/query.ts";
import { pathText } from "../app/refusal.ts";
import { channelName } from "../app/sentences.ts";
import { Button } from "./button.tsx";
import { ButtonList, type MessageButton } from "./button-list.tsx";
import { type Content, type Own, owners, ownOf, sharedOf, writtenOf } from "./content-model.ts";
import { TextField } from "./field.tsx";
import { MailDesign } from "./mail-design.tsx";
import { useLastWritten, Variables } from "./variables.tsx";

export interface ContentEditorProps {
  content: Content;
  onInput: (content: Content) => void;
  /** What the API says is wrong, by a path that begins at the content. */
  faults: Record<string, string>;
  /** Empty: what every channel says. */
  shown: Own | "";
  show: (channel: Own | "") => void;
  /** Below title and text. */
  hint?: ComponentChildren;
  /** Of a variant B: the message that it is compared with, which gives what it leaves out. */
  original?: Content | undefined;
}

/** The fields that the editor asks for: texts, and buttons of their own. */
const textsOf = (channel: Own) =>
  Object.entries(channelFields[channel]).flatMap(([name, { label, hint, ...field }]) =>
    label === undefined
      ? []
      : [{ name, label, hint, ...(field.kind === "text" && { rows: field.rows, code: field.isCode }) }],
  );

/** What a field says where it is empty. */
const fallbackOf = (content: Content, name: string): string | undefined => {
  const { title, body } = sharedOf(content);
  return { title, subject: title, body, text: body }[name];
};

const buttonsOf = (channel: Own): { field: string; max: number } | undefined =>
  Object.entries(channelFields[channel]).flatMap(([field, { kind, ...one }]) =>
    kind === "buttons" && "max" in one ? [{ field, max: one.max }] : [],
  )[0];

/** Tabs of channels that the workspace has, and of those that say something. */
export function useOwners(content: Content): readonly Own[] {
  const channels = useQuery("channels.list", []).data?.channels;
  const known = new Set<string>(channels?.map(({ type }) => classOf(type)));
  return owners.filter((name) => !channels || known.has(name) || ownOf(content, name));
}

const isOf = (channel: Own, path: string): boolean => `${path}.`.startsWith(`by_channel.${channel}.`);

/** Where a fault is shown, by its path. */
export const tabOf = (path: string): Own | "" => owners.find((one) => isOf(one, path)) ?? "";

export function ContentEditor({ content, faults, shown, show, hint, original, ...editor }: ContentEditorProps) {
  // What was written and emptied is no change.
  const onInput = (written: Content) => editor.onInput(writtenOf(written));
  const hasFault = (tab: Own | "") => Object.keys(faults).some((path) => tabOf(path) === tab);
  const refused = (["", ...owners] as const).find(hasFault);
  // What is refused must be seen, also where another tab is open.
  useEffect(() => {
    if (refused !== undefined && !hasFault(shown)) show(refused);
  }, [faults]);
  const tabs = useOwners(content);
  const suffix = original ? " of B" : "";
  const { inside, note, insert } = useLastWritten();
  return (
    <div class="stack" ref={inside} onFocusIn={note}>
      {content.left_out && (
        <div class="banner" role={faults.left_out ? "alert" : undefined}>
          <span>
            The HTML of this email is no longer stored. Write it again under Email, or save the message without it.
          </span>
          <Button onClick={() => onInput({ ...content, left_out: undefined })}>Go on without it</Button>
        </div>
      )}
      <fieldset class="channel-tabs" aria-label={`Content${suffix} for`}>
        <Button kind="quiet" pressed={shown === ""} onClick={() => show("")}>
          All channels
        </Button>
        {tabs.map((channel) => (
          <Button
            key={channel}
            kind="quiet"
            icon={(hasFault(channel) && "warning") || (ownOf(content, channel) && "pencil") || undefined}
            pressed={shown === channel}
            onClick={() => show(channel)}
          >
            {channelName(channel)}
          </Button>
        ))}
      </fieldset>
      {shown === "" ? (
        <>
          <TextField
            name="title"
            label={`Title${suffix}`}
            value={content.title}
            placeholder={sharedOf(content).title}
            onInput={(value) => onInput({ ...content, title: value })}
            fault={faults.title}
            hint="The subject of an email, the title of a push."
          />
          <TextField
            name="body"
            label={`Body${suffix}`}
            rows={5}
            value={content.body}
            placeholder={sharedOf(content).body}
            onInput={(value) => onInput({ ...content, body: value })}
            fault={faults.body}
            hint={hint}
          />
          <Unplaced
            of={Object.entries(faults).filter(
              ([path]) => !["title", "body", "left_out"].includes(path) && tabOf(path) === "",
            )}
          />
        </>
      ) : (
        <OwnFields
          key={shown}
          channel={shown}
          content={content}
          onInput={onInput}
          faults={faults}
          original={original}
        />
      )}
      <Variables insert={insert} />
    </div>
  );
}

/** What is refused and has no input here: the whole, or a text of a design. */
const Unplaced = ({ of }: { of: readonly (readonly [path: string, reason: string])[] }) => (
  <>
    {of.map(([path, reason]) => (
      <p key={path} class="fault" role="alert" tabIndex={-1}>
        {pathText(path)}: {reason}
      </p>
    ))}
  </>
);

interface OwnProps extends Pick<ContentEditorProps, "content" | "onInput" | "faults" | "original"> {
  channel: Own;
}

function OwnFields({ channel, content, onInput, faults, original }: OwnProps) {
  const faultAt = (path: string) => faults[`by_channel.${channel}.${path}`];
  const own: Record<string, unknown> = { ...content.by_channel?.[channel] };
  const change = (part: Record<string, unknown>) =>
    onInput({ ...content, by_channel: { ...content.by_channel, [channel]: { ...own, ...part } } });
  const buttons = buttonsOf(channel);
  const design = typeof own.design === "string" ? own.design : undefined;
  const first: Record<string, unknown> = { ...original?.by_channel?.[channel] };
  const texts = textsOf(channel).filter(({ name }) => name !== "html" || design === undefined);
  const hasInput = (path: string) =>
    texts.some(({ name }) => name === path) || (buttons !== undefined && path.startsWith(buttons.field));
  const refused = Object.entries(faults).flatMap(([path, reason]) =>
    isOf(channel, path) ? [[path.slice(`by_channel.${channel}.`.length) || channel, reason] as const] : [],
  );
  return (
    <>
      <p class="hint">Empty fields use the content of {original && "A, or of "}“All channels”.</p>
      {channel === "email" && !original && (
        <MailDesign
          design={design}
          html={typeof own.html === "string" ? own.html : ""}
          fault={design === undefined ? undefined : faultAt("html")}
          onInput={({ subject, preheader, ...made }) =>
            change({
              ...made,
              ...(subject && !own.subject && { subject }),
              ...(preheader && !own.preheader && { preheader }),
            })
          }
        />
      )}
      <Unplaced
        of={refused.filter(([path]) => !hasInput(path) && !(path === "html" && design !== undefined && !original))}
      />
      {texts.map(({ name, ...field }) => (
        <TextField
          key={name}
          name={name}
          {...field}
          label={original ? `${field.label} of B` : field.label}
          value={String(own[name] ?? "")}
          placeholder={String(first[name] ?? fallbackOf(content, name) ?? "")}
          onInput={(value) => change({ [name]: value })}
          fault={faultAt(name)}
        />
      ))}
      {buttons && (
        <ButtonList
          max={buttons.max}
          buttons={(own[buttons.field] ?? []) as MessageButton[]}
          onInput={(list) => change({ [buttons.field]: list })}
          faultAt={(path) => faultAt(buttons.field + path)}
        />
      )}
      {ownOf(content, channel) && (
        <div class="actions">
          <Button
            kind="quiet"
            onClick={() => onInput({ ...content, by_channel: { ...content.by_channel, [channel]: undefined } })}
          >
            Use the content of all channels
          </Button>
        </div>
      )}
    </>
  );
}
