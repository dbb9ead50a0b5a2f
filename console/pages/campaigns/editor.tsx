// A campaign as a draft: audience, one or several messages, control group.
import { useMemo, useState } from "preact/hooks";
import type { Campaign, CampaignsCreateBody, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
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

export function Editor({ campaign, done }: { campaign?: Campaign; done?: () => void }) {
  const [name, setName] = useState(campaign?.name ?? "");
  const [category, setCategory] = useState<"marketing" | "transactional">(campaign?.category ?? "marketing");
  const [topic, setTopic] = useState(campaign?.topic ?? "");
  const [target, setTarget] = useState<Target>(campaign?.target ?? { type: "all" });
  const [holdout, setHoldout] = useState(campaign?.holdout_percentage ?? 0);
  const [messages, setMessages] = useState<readonly MessageDraft[]>(campaign ? messagesOf(campaign) : [EMPTY]);
  const [safety, setSafety] = useState<Safety | null | undefined>(campaign?.safety);
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
    setMessages(messages.map((message, n) => (n === at ? { ...message, ...part } : message)));
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
        <Card title="Who">
          <TextField label="Name" required value={name} onInput={setName} fault={fields.name} />
          <TargetPicker target={target} onInput={setTarget} fields={fields} />
          <Choices
            legend="Category"
            name="category"
            value={category}
            options={[
              { value: "marketing", label: "Marketing" },
              { value: "transactional", label: "Transactional" },
            ]}
            onInput={(value) => setCategory(value as typeof category)}
          />
          <TopicPicker value={topic} onInput={setTopic} fault={fields.topic} />
          <HoldoutSlider value={holdout} onInput={setHoldout} />
          <SafetyPicker safety={safety} onInput={setSafety} faultAt={(path) => fields[`safety${path}`]} />
        </Card>
        {messages.map((message, n) => (
          <Card
            key={n}
            title={messages.length > 1 ? `Message ${n + 1}` : "Message"}
            actions={
              messages.length > 1 && (
                <Button
                  kind="quiet"
                  icon="cross"
                  label={`Remove message ${n + 1}`}
                  onClick={() => setMessages(messages.filter((_, at) => at !== n))}
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
              label={`Time (${zone}, empty: at the release)`}
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
          <Button icon="plus" onClick={() => setMessages([...messages, EMPTY])}>
            Add a message
          </Button>
          {done && (
            <Button kind="quiet" onClick={done}>
              Cancel
            </Button>
          )}
        </div>
      </div>
      <aside class="stack preview" aria-label="Preview">
        {messages.map((message, n) => (
          <Card key={n} title={messages.length > 1 ? `Message ${n + 1}` : "Message"}>
            {message.content.title || message.content.body ? (
              <SeenAs channel={shown || "in_app"} {...shownOn(message.content, shown || "in_app")} />
            ) : (
              <p class="dim">What the message says is shown here.</p>
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
