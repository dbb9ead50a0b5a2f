// A campaign as a draft: audience, one or several messages, control group.
import { useMemo, useState } from "preact/hooks";
import type { Campaign, CampaignsCreateBody, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useKept } from "../../app/kept.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { fromLocalInput, toLocalInput, zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { ContentEditor } from "../../components/content-editor.tsx";
import { type Content, contentOf, faultsUnder, type Own, shownOn } from "../../components/content-model.ts";
import { Choices, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Page } from "../../components/page.tsx";
import { ChannelPicker, HoldoutSlider, TargetPicker, TopicPicker } from "../../components/pickers.tsx";
import { type Safety, SafetyPicker } from "../../components/safety.tsx";
import { SeenAs } from "../../components/seen.tsx";

interface MessageDraft {
  content: Content;
  channel_ids: string[] | undefined;
  /** Of a message that a template fills; kept as it is. */
  template_id: string | undefined;
  /** Empty: with the campaign. */
  at: string;
}

const EMPTY: MessageDraft = {
  content: { title: "", body: "" },
  channel_ids: undefined,
  template_id: undefined,
  at: "",
};

const messagesOf = (campaign: Campaign): MessageDraft[] =>
  campaign.messages.map(({ content, template_id, channel_ids, scheduled_at }) => ({
    content: content ?? EMPTY.content,
    channel_ids,
    template_id,
    at: scheduled_at ? toLocalInput(Date.parse(scheduled_at)) : "",
  }));

interface Draft {
  name: string;
  category: "marketing" | "transactional";
  topic: string;
  target: Target;
  holdout: number;
  messages: readonly MessageDraft[];
  safety: Safety | null | undefined;
}

const draftOf = (campaign: Campaign | undefined): Draft => ({
  name: campaign?.name ?? "",
  category: campaign?.category ?? "marketing",
  topic: campaign?.topic ?? "",
  target: campaign?.target ?? { type: "all" },
  holdout: campaign?.holdout_percentage ?? 0,
  messages: campaign ? messagesOf(campaign) : [EMPTY],
  safety: campaign?.safety,
});

export function Editor({ campaign, done }: { campaign?: Campaign; done?: () => void }) {
  const {
    value: draft,
    keep,
    drop,
  } = useKept(campaign ? `campaign.${campaign.id}.${campaign.updated_at}` : "campaign", () => draftOf(campaign));
  const { name, category, topic, target, holdout, messages, safety } = draft;
  const set = (part: Partial<Draft>) => keep({ ...draft, ...part });
  const [shown, setShown] = useState<Own | "">("");
  const channels = useQuery("channels.list", []);
  const create = useAction("campaigns.create", { stale: ["campaigns."] });
  const replace = useAction("campaigns.replace", { stale: ["campaigns."] });
  const action = campaign ? replace : create;
  const fields = action.error?.fields ?? {};
  const faults = useMemo(() => messages.map((_, n) => faultsUnder(fields, `messages[${n}].content.`)), [action.error]);
  const usable =
    channels.data?.channels.filter(({ active, status }) => active && status === "active").map(({ id }) => id) ?? [];

  const change = (at: number, part: Partial<MessageDraft>) =>
    set({ messages: messages.map((message, n) => (n === at ? { ...message, ...part } : message)) });
  const save = async () => {
    const body = {
      name,
      category,
      ...(topic && { topic }),
      target,
      holdout_percentage: holdout,
      ...(safety !== undefined && { safety }),
      messages: messages.map(({ content: text, channel_ids, template_id, at }) => ({
        ...(template_id ? { template_id } : { content: contentOf(text) }),
        channel_ids: channel_ids ?? usable,
        ...(at && { scheduled_at: fromLocalInput(at) }),
      })),
    } satisfies CampaignsCreateBody;
    const saved = campaign ? await replace.run(campaign.id, body) : await create.run(body);
    if (!saved) return;
    drop();
    say("The draft is saved.");
    done?.();
    if (!campaign) go(pathTo("campaigns", saved.answer.id));
  };

  const content = (
    <Form
      error={action.error}
      kind="composer"
      onSubmit={() => {
        void save();
      }}
    >
      <div class="stack">
        <Card title="Campaign">
          <TextField label="Name" required value={name} onInput={(next) => set({ name: next })} fault={fields.name} />
          <TargetPicker target={target} onInput={(next) => set({ target: next })} fields={fields} />
          <Choices
            legend="Category"
            name="category"
            value={category}
            options={[
              { value: "marketing", label: "Marketing" },
              { value: "transactional", label: "Transactional" },
            ]}
            onInput={(value) => set({ category: value as typeof category })}
          />
          <TopicPicker value={topic} onInput={(next) => set({ topic: next })} fault={fields.topic} />
          <HoldoutSlider value={holdout} onInput={(next) => set({ holdout: next })} />
          <SafetyPicker
            safety={safety}
            onInput={(next) => set({ safety: next })}
            faultAt={(path) => fields[`safety${path}`]}
          />
        </Card>
        {messages.map((message, n) => (
          <Card
            key={n}
            title={messages.length > 1 ? `Message ${n + 1}` : "Message"}
            actions={
              messages.length > 1 && (
                <Button
                  kind="quiet"
                  icon="trash"
                  label={`Remove message ${n + 1}`}
                  onClick={() => set({ messages: messages.filter((_, at) => at !== n) })}
                />
              )
            }
          >
            {message.template_id ? (
              <p class="dim">Its content is a template.</p>
            ) : (
              <ContentEditor
                content={message.content}
                onInput={(text) => change(n, { content: text })}
                faults={faults[n] ?? {}}
                shown={shown}
                show={setShown}
              />
            )}
            <ChannelPicker
              chosen={message.channel_ids}
              onInput={(channel_ids) => change(n, { channel_ids })}
              fault={fields[`messages[${n}].channel_ids`]}
            />
            <TextField
              label={`Send at (${zone}; empty: on release)`}
              type="datetime-local"
              value={message.at}
              onInput={(at) => change(n, { at })}
              fault={fields[`messages[${n}].scheduled_at`]}
            />
          </Card>
        ))}
        <FormFault
          error={action.error}
          placed={[
            "name",
            "target",
            ...Object.keys(fields).filter((path) => /^(messages\[\d+\]\.content|safety)\b/.test(path)),
            ...messages.flatMap((_, n) => ["channel_ids", "scheduled_at"].map((field) => `messages[${n}].${field}`)),
          ]}
        />
        <div class="actions">
          <Button
            kind="primary"
            type="submit"
            needs={campaign ? "campaigns.replace" : "campaigns.create"}
            isBusy={action.isBusy}
          >
            Save the draft
          </Button>
          <Button icon="plus" onClick={() => set({ messages: [...messages, EMPTY] })}>
            Add a message
          </Button>
          {done && (
            <Button
              kind="quiet"
              onClick={() => {
                drop();
                done();
              }}
            >
              Cancel
            </Button>
          )}
        </div>
      </div>
      <aside class="stack preview" aria-label="Preview">
        {messages.map((message, n) => (
          <Card key={n} title={messages.length > 1 ? `Preview of message ${n + 1}` : "Preview"}>
            {message.content.title || message.content.body ? (
              <SeenAs channel={shown || "in_app"} {...shownOn(message.content, shown || "in_app")} />
            ) : (
              <p class="dim">The preview appears here.</p>
            )}
          </Card>
        ))}
      </aside>
    </Form>
  );
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
