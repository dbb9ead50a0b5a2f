// Send: who gets what, exactly. Left the message, right what one person of the audience will see.
import { useMemo, useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { channelName, countSentence, reasonText } from "../../app/sentences.ts";
import { useSettled } from "../../app/settled.ts";
import { dateTime, plural, zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { type Own, owners } from "../../components/content-model.ts";
import { Form } from "../../components/form.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Failure, Skeleton } from "../../components/states.tsx";
import { bodyOf, missingIn, useDraft } from "./draft.ts";
import { Audience, Delivery, Message } from "./parts.tsx";
import { Sample } from "./sample.tsx";
import { TestSend } from "./test-send.tsx";

const PREVIEW_WAIT_MS = 500;

export function View() {
  const editor = useDraft();
  const { draft } = editor;
  const [channel, setChannel] = useState<Own | "">("");
  const channels = useQuery("channels.list", []);
  const usable = useMemo(
    () => channels.data?.channels.filter(({ active, status }) => active && status === "active") ?? [],
    [channels.data],
  );
  const chosen = draft.channel_ids?.filter((id) => usable.some((one) => one.id === id)) ?? usable.map(({ id }) => id);
  const missing = missingIn(draft, chosen);
  const body = bodyOf(draft, chosen);
  const settled = useSettled(missing ? undefined : body, PREVIEW_WAIT_MS);
  const preview = useQuery("recipients.previewNotifications", [settled ?? body], { when: settled !== undefined });
  const send = useAction("notifications.create", { stale: ["notifications.", "billing."] });
  const fields = { ...preview.error?.fields, ...send.error?.fields };

  const counts = preview.data?.counts;
  const reached = counts?.sent ?? 0;
  const isCurrent = settled !== undefined && JSON.stringify(settled) === JSON.stringify(body) && !preview.isLoading;
  const refusal =
    missing ?? (!isCurrent ? "Counting who gets it." : preview.error ? "Fix the marked fields first." : undefined);

  const submit = async () => {
    const done = await send.run(body, { idempotencyKey: draft.key });
    if (!done) return;
    editor.discard();
    say(
      draft.when === "later"
        ? `Scheduled for ${dateTime(body.scheduled_at ?? "")}.`
        : `Sent to ${plural(reached, "person", "people")}.`,
    );
    go(pathTo("activity", done.answer.id));
  };

  return (
    <Page
      title="Send"
      about="A one-off message. For a series of messages use campaigns and journeys."
      actions={
        <>
          {editor.undo && <Button onClick={editor.undo}>Undo</Button>}
          {editor.isBegun && (
            <Button kind="quiet" onClick={editor.discard}>
              Start over
            </Button>
          )}
        </>
      }
    >
      <div class="composer">
        <Form
          error={send.error}
          kind="stack"
          onSubmit={() => {
            if (!refusal) void submit();
          }}
        >
          <Audience editor={editor} fields={fields} />
          <Message editor={editor} fields={fields} shown={channel} show={setChannel} />
          <Delivery editor={editor} fields={fields} channels={channels} chosen={chosen} />
          <Card>
            {send.error && <Failure error={send.error} />}
            <div class="outcome" aria-live="polite">
              {missing ? null : preview.error ? (
                <Failure error={preview.error} retry={preview.refresh} />
              ) : counts ? (
                <p>
                  {preview.data?.exact ? "" : "About, from a sample: "}
                  {countSentence(counts, preview.data?.skip_reasons ?? {})}
                </p>
              ) : (
                <p class="dim">Counting who gets it.</p>
              )}
              <Unknown variables={preview.data?.rendered.unknown_variables ?? {}} />
            </div>
            {counts && reached === 0 && !missing && (
              <p class="banner">
                <span>
                  <b>Not one person would get this.</b>{" "}
                  {Object.keys(preview.data?.skip_reasons ?? {})
                    .map(reasonText)
                    .join("; ") || "The audience is empty."}
                </span>
              </p>
            )}
            <div class="actions">
              <Button
                kind="primary"
                icon="send"
                type="submit"
                needs="notifications.create"
                refusal={refusal}
                isBusy={send.isBusy}
              >
                {draft.when === "later" ? "Schedule" : "Send"}
                {counts &&
                  !missing &&
                  ` ${draft.when === "later" ? "for" : "to"} ${plural(reached, "person", "people")}`}
              </Button>
              {draft.when === "later" && draft.at && (
                <span class="dim">
                  at {draft.at.replace("T", " ")}, {zone}
                </span>
              )}
            </div>
          </Card>
        </Form>
        <aside class="stack preview" aria-label="Preview">
          {preview.data ? (
            <Sample
              preview={preview.data}
              body={settled ?? body}
              wanted={channel}
              want={(name) => setChannel(owners.find((own) => own === name) ?? "")}
              channelTypes={usable.filter(({ id }) => chosen.includes(id)).map(({ type }) => type)}
            />
          ) : (
            <Card title="Preview">
              {missing ? (
                <p class="dim">The preview appears here once the message has a title and a body.</p>
              ) : (
                <Skeleton rows={4} />
              )}
            </Card>
          )}
          <TestSend draft={draft} chosen={chosen} />
          {counts && Object.keys(preview.data?.by_class ?? {}).length > 0 && (
            <Card title="By channel">
              <dl class="facts">
                {Object.entries(preview.data?.by_class ?? {}).map(([name, count]) => [
                  <dt key={name}>{channelName(name)}</dt>,
                  <dd key={`${name}-count`}>{plural(count, "person", "people")}</dd>,
                ])}
              </dl>
            </Card>
          )}
        </aside>
      </div>
    </Page>
  );
}

function Unknown({ variables }: { variables: Record<string, number> }) {
  const names = Object.entries(variables);
  const [first] = names;
  if (!first) return null;
  return (
    <p class="banner">
      <span>
        <b>Empty for some:</b>{" "}
        {names.map(([name, count]) => `${name} (${plural(count, "person", "people")})`).join(", ")}. Give a fallback,
        such as <code>{`{{ ${first[0]} | default: 'there' }}`}</code>.
      </span>
    </p>
  );
}
