// A campaign as a draft: audience, one or several messages, control group.
import { useEffect, useState } from "preact/hooks";
import { ServiceError } from "../../../sdk/src/errors.ts";
import type { Campaign } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { type Fields, fieldsOf } from "../../app/fields.ts";
import { useKept } from "../../app/kept.ts";
import { isSame, unsavedOf } from "../../app/merge.ts";
import { useOnce } from "../../app/once.ts";
import { placeOf } from "../../app/places.ts";
import { go, onward, pathTo, place } from "../../app/router.ts";
import { zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { type Arm, ArmedMessage, ArmTabs } from "../../components/arms.tsx";
import { Button } from "../../components/button.tsx";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { contentOf, faultsUnder, type Own, sharedOf } from "../../components/content-model.ts";
import { GiveUp } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { MessagePreview } from "../../components/message-preview.tsx";
import { Card, Page } from "../../components/page.tsx";
import {
  CategoryChoices,
  ChannelPicker,
  HoldoutSlider,
  TargetPicker,
  TopicPicker,
  useUsableChannels,
} from "../../components/pickers.tsx";
import { SafetyPicker } from "../../components/safety.tsx";
import { TestSend } from "../../components/test-send.tsx";
import { bodyOf, type Draft, draftOf, EMPTY, type MessageDraft } from "./draft.ts";

/** Where it is opened, with what is wrong there if the API refused it. */
export interface OpenedField {
  path: string;
  reason?: string | undefined;
}

interface EditorProps {
  campaign?: Campaign;
  at?: OpenedField | undefined;
  /** Of a draft that is edited on its page: back to what it says. */
  done?: () => void;
}

export function Editor({ campaign, at, done }: EditorProps) {
  const content = <DraftForm campaign={campaign} at={at} done={done} />;
  if (campaign) return content;
  return (
    <Page
      title="New campaign"
      back={{ href: pathTo("campaigns"), label: "Campaigns" }}
      about="It is a draft until you release it."
    >
      {content}
    </Page>
  );
}

/** Fields with an input of their own. */
export const hasInput = (path: string): boolean =>
  /^((name|target|topic|safety)\b|messages\[\d+\]\.((content|variant_b)\b|split_percentage$|template_id$|channel_ids$|scheduled_at$))/.test(
    path,
  );

const WORDS = { target: "audience", holdout: "control group", safety: "brake", lost: "" };

type Undefinable<T> = { [K in keyof T]: T[K] | undefined };

function DraftForm({ campaign, at: opened, done }: Undefinable<EditorProps>) {
  const list = place.value.query.get("list") ?? "";
  const kept = useKept(`campaign.${campaign?.id ?? list}`, () => draftOf(campaign));
  const draft = kept.value;
  const { messages } = draft;
  const [shown, setShown] = useState<Own | "">("");
  const [previewed, preview] = useState<PreviewedArm>({ n: 0, arm: "a" });
  const usable = useUsableChannels().map(({ id }) => id);
  const create = useOnce("campaigns.create", draft.lost, (lost) => kept.set({ lost }));
  const replace = useAction("campaigns.replace");
  const action = campaign ? replace : create;
  const error = useOpened(opened, action.error);
  const fields = error?.fields ?? {};
  const change = (at: number, part: Partial<MessageDraft>) =>
    kept.set({ messages: messages.map((message, n) => (n === at ? { ...message, ...part } : message)) });
  const guard = useGuard(campaign && bodyOf(kept.begun, usable), () =>
    seenBy(
      (options) => call("campaigns.get", [campaign?.id ?? "", options]),
      (found) => bodyOf(draftOf(found), usable),
    ),
  );
  const leave = () => {
    kept.drop();
    if (done) done();
    else go(pathTo("campaigns"));
  };
  const save = async () => {
    const to = onward();
    const mine = await guard.settle(bodyOf(draft, usable));
    if (!mine) return;
    const saved = campaign ? await replace.run(campaign.id, mine.body, mine.over) : await create.run(mine.body);
    if (!saved) return;
    const { id } = saved.answer;
    const later = kept.accepted(`campaign.${id}`);
    say(`The draft is saved.${later}`);
    if (!campaign) to(pathTo("campaigns", id));
    else if (later) guard.saved(bodyOf(draft, usable));
    else done?.();
  };
  return (
    <Form error={error} kind="composer" onSubmit={save}>
      <div class="stack">
        <Settings form={fieldsOf(draft, kept.set, fields)} />
        {messages.map((message, n) => (
          <MessagePart
            key={n}
            message={message}
            n={n}
            faults={faultsUnder(fields, `messages[${n}].`)}
            change={(part) => change(n, part)}
            remove={messages.length > 1 && (() => kept.set({ messages: messages.filter((_, at) => at !== n) }))}
            shown={shown}
            show={setShown}
            watch={(arm) => preview({ n, arm })}
          />
        ))}
        <FormEnd
          action={action}
          placed={Object.keys(fields).filter(hasInput)}
          submit="Save the draft"
          unsaved={unsavedOf(kept, WORDS)}
        >
          <Button icon="plus" adds onClick={() => kept.set({ messages: [...messages, EMPTY] })}>
            Add a message
          </Button>
          <GiveUp isChanged={!isSame(draft, kept.begun)} onClick={leave} />
        </FormEnd>
      </div>
      <Previews draft={draft} usable={usable} channel={shown} previewed={previewed} preview={preview} />
      {guard.question}
    </Form>
  );
}

/** Goes to the place that it was opened at. @returns what the API refused: there, until it refuses something else */
function useOpened(at: OpenedField | undefined, newest: ServiceError | undefined): ServiceError | undefined {
  const [before] = useState(
    () => at?.reason && new ServiceError(at.reason, { status: 422, code: "", fields: { [at.path]: at.reason } }),
  );
  useEffect(() => {
    if (at) placeOf(at.path)?.show(at.path, at.reason);
  }, []);
  return newest ?? (before || undefined);
}

/** Which message, and which of its arms. */
interface PreviewedArm {
  n: number;
  arm: Arm;
}

interface PreviewsProps {
  draft: Draft;
  usable: readonly string[];
  channel: Own | "";
  previewed: PreviewedArm;
  preview: (previewed: PreviewedArm) => void;
}

/** One message at a time, as somebody gets it: the one that is worked on, or another that is chosen. */
function Previews({ draft: { name, messages, category, topic }, usable, channel, previewed, preview }: PreviewsProps) {
  const { arm } = previewed;
  const n = Math.min(previewed.n, messages.length - 1);
  const message = messages[n] ?? EMPTY;
  const { content, template_id, channel_ids = usable, ab, b } = message;
  const isB = ab && arm === "b";
  const { title, body } = sharedOf(content);
  const isWritten = template_id === undefined ? title !== "" && body !== "" : template_id !== "";
  return (
    <aside class="stack preview" aria-label="Preview">
      {messages.length > 1 && (
        <div class="actions">
          {messages.map((_, other) => (
            <Button key={other} kind="quiet" pressed={other === n} onClick={() => preview({ n: other, arm: "a" })}>
              Message {other + 1}
            </Button>
          ))}
        </div>
      )}
      {ab && (
        <div class="actions">
          <ArmTabs arm={arm} show={(one) => preview({ n, arm: one })} />
        </div>
      )}
      <MessagePreview
        message={message}
        b={isB ? b : undefined}
        channel={channel}
        send={{ category, ...(topic && { topic }), ...(name.trim() && { name }) }}
      />
      <TestSend
        hasVariants={ab}
        bodyOf={(variant) => ({
          ...(template_id === undefined ? { content: contentOf(content) } : { template_id }),
          ...(ab && { variant_b: contentOf(b), variant }),
          chat_app_template_id: message.chat_app_template_id,
          chat_app_parameters: message.chat_app_parameters,
          channel_ids: [...channel_ids],
          category,
          ...(topic && { topic }),
        })}
        missing={isWritten ? undefined : "Write the message first."}
      />
    </aside>
  );
}

function Settings({ form: { values, set, field, faultAt } }: { form: Fields<Draft> }) {
  return (
    <Card title="Campaign">
      <TextField label="Name" required {...field("name")} />
      <TargetPicker
        target={values.target}
        onInput={(target) => set({ target })}
        faultAt={(part) => faultAt(`target${part}`)}
      />
      <CategoryChoices {...field("category")} />
      <TopicPicker {...field("topic")} />
      <HoldoutSlider {...field("holdout", "holdout_percentage")} />
      <SafetyPicker
        safety={values.safety}
        onInput={(safety) => set({ safety })}
        faultAt={(part) => faultAt(`safety${part}`)}
      />
    </Card>
  );
}

interface MessageProps {
  message: MessageDraft;
  n: number;
  faults: Record<string, string>;
  change: (part: Partial<MessageDraft>) => void;
  /** False for the only one. */
  remove: false | (() => void);
  shown: Own | "";
  show: (channel: Own | "") => void;
  watch: (arm: Arm) => void;
}

function MessagePart({ message, n, faults, change, remove, shown, show, watch }: MessageProps) {
  return (
    <ArmedMessage
      title={remove ? `Message ${n + 1}` : "Message"}
      actions={remove && <Button kind="quiet" icon="trash" label={`Remove message ${n + 1}`} onClick={remove} />}
      message={message}
      onMessage={({ content, template_id }) => change({ content, template_id })}
      arms={message}
      onArms={change}
      name={`source-${n}`}
      faults={faults}
      at={`messages[${n}].`}
      shown={shown}
      show={show}
      watch={watch}
    >
      <ChannelPicker
        chosen={message.channel_ids}
        onInput={(channel_ids) => change({ channel_ids })}
        fault={faults.channel_ids}
      />
      <TextField
        label={`Send at (${zone}; empty: on release)`}
        type="datetime-local"
        value={message.at}
        onInput={(at) => change({ at })}
        fault={faults.scheduled_at}
      />
    </ArmedMessage>
  );
}
