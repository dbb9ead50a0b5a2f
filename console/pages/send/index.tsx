// Send: who gets what, exactly. Left the message, right what one person of the audience will see.
import { useState } from "preact/hooks";
import type { NotificationPreview } from "../../../sdk/src/types.gen.ts";
import { inPlain, liquidOf } from "../../../shared/rules/placeholders.ts";
import type { RunningAction } from "../../app/action.ts";
import { fieldsOf } from "../../app/fields.ts";
import { ask } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName, countSentence, reasonText } from "../../app/sentences.ts";
import { plural } from "../../app/time.ts";
import { armsInWords } from "../../components/arms.tsx";
import { Button, Undo } from "../../components/button.tsx";
import { type Own, owners } from "../../components/content-model.ts";
import { Form } from "../../components/form.tsx";
import { Card, type Fact, Facts, Page } from "../../components/page.tsx";
import { meansOf } from "../../components/release-facts.tsx";
import { ReleaseSheet } from "../../components/release-sheet.tsx";
import { Failure, Skeleton } from "../../components/states.tsx";
import { TestSend } from "../../components/test-send.tsx";
import { type Draft, missingInMessage, testBodyOf, useDraft } from "./draft.ts";
import { Audience, Delivery, MessagePart } from "./parts.tsx";
import { Sample } from "./sample.tsx";
import { asksFor, isSpent, type Reach, useReach, useSend } from "./sending.ts";

export function ahead(): void {
  ask("channels.list");
  ask("topics.list");
}

export function View() {
  const editor = useDraft();
  const [channel, setChannel] = useState<Own | "">("");
  const reach = useReach(editor.draft);
  const { send, submit } = useSend(editor, reach);
  const [isReleasing, setReleasing] = useState(false);
  const faults = { ...reach.preview.error?.fields, ...send.error?.fields };
  const form = fieldsOf(editor.draft, editor.change, faults);
  return (
    <Page
      title="Send"
      about="A one-off message. For a series of messages use campaigns and journeys."
      actions={
        <>
          <Undo undo={editor.undo} redo={editor.redo} />
          {editor.isBegun && (
            <Button kind="quiet" onClick={editor.discard}>
              Start over
            </Button>
          )}
        </>
      }
    >
      <div class="composer">
        <Form error={send.error} kind="stack" onSubmit={() => !reach.refusal && setReleasing(true)}>
          <Audience form={form} />
          <MessagePart form={form} faults={faults} shown={channel} show={setChannel} />
          <Delivery form={form} via={reach.via} />
          <Outcome reach={reach} send={send} />
        </Form>
        <aside class="stack preview" aria-label="Preview">
          <Shown reach={reach} wanted={channel} want={setChannel} />
          <TestSend
            bodyOf={(variant) => testBodyOf(editor.draft, reach.via, variant)}
            missing={missingInMessage(editor.draft, reach.via)}
            hasVariants={editor.draft.ab}
          />
          <ByChannel preview={reach.preview.data} />
        </aside>
      </div>
      {isReleasing && (
        <Release draft={editor.draft} reach={reach} send={send} submit={submit} close={() => setReleasing(false)} />
      )}
    </Page>
  );
}

interface ReleaseProps {
  draft: Draft;
  reach: Reach;
  send: RunningAction;
  submit: () => Promise<void>;
  close: () => void;
}

function Release({ draft, reach: { body, via, preview }, send, submit, close }: ReleaseProps) {
  const { verb, act } = wordsOf(draft);
  const name = draft.name || inPlain(body.title ?? body.content?.title ?? "");
  return (
    <ReleaseSheet
      title={`${verb} ${name ? `“${name}”` : "this template"}?`}
      act={act}
      action={send}
      preview={preview}
      body={body}
      when={[{ at: body.scheduled_at, ...(asksFor(draft) && { words: "Once approved" }) }]}
      by={[
        ...meansOf({
          channel_ids: via.map(({ id }) => id),
          category: draft.category,
          topic: draft.topic,
          holdout: draft.holdout,
        }),
        draft.smart && ["Smart channel", "one channel for each person"],
        draft.ab && ["Variants", armsInWords(draft.split)],
      ]}
      safety={draft.safety}
      onRelease={async () => {
        // What is refused is marked in the editor, behind the sheet.
        await submit();
        close();
      }}
      close={close}
    />
  );
}

function wordsOf(draft: Draft) {
  if (asksFor(draft)) return { verb: "Ask to send", act: "Ask to send to" };
  return draft.when === "later" ? { verb: "Schedule", act: "Schedule for" } : { verb: "Send", act: "Send to" };
}

interface OutcomeProps {
  reach: Reach;
  send: RunningAction;
}

/** How many get it and why others do not, above the button. */
function Outcome({ reach, send }: OutcomeProps) {
  const { missing, preview, counts, reached, refusal } = reach;
  const skipped = preview.data?.skip_reasons ?? {};
  return (
    <Card>
      {isSpent(send) ? <SentBefore /> : send.error && <Failure error={send.error} />}
      <div class="outcome" aria-live="polite">
        {!missing && <Counted reach={reach} />}
        <Unknown variables={preview.data?.rendered.unknown_variables ?? {}} />
      </div>
      {counts && reached === 0 && !missing && (
        <p class="banner">
          <span>
            <b>Nobody would get this.</b> {Object.keys(skipped).map(reasonText).join("; ") || "The audience is empty."}
          </span>
        </p>
      )}
      <div class="actions">
        <Button kind="primary" icon="send" type="submit" needs="notifications.create" refusal={refusal}>
          Review and send
        </Button>
      </div>
    </Card>
  );
}

/** Its answer was lost, and the message has changed since. */
const SentBefore = () => (
  <p class="banner bad" role="alert">
    <span>
      <b>It went out before you changed it.</b> Only the answer was lost.{" "}
      <a href={pathTo("activity")}>See what was sent</a>. Send again if this is to go out as well.
    </span>
  </p>
);

function Counted({ reach: { preview, counts } }: { reach: Reach }) {
  if (preview.error) return <Failure error={preview.error} retry={preview.refresh} />;
  if (!counts) return <p class="dim">Counting who gets it.</p>;
  return (
    <p>
      {preview.data?.exact ? "" : "About, from a sample: "}
      {countSentence(counts, preview.data?.skip_reasons ?? {})}
    </p>
  );
}

interface ShownProps {
  reach: Reach;
  wanted: Own | "";
  want: (channel: Own | "") => void;
}

function Shown({ reach: { via, missing, asked, preview }, wanted, want }: ShownProps) {
  if (preview.data)
    return (
      <Sample
        preview={preview.data}
        body={asked}
        wanted={wanted}
        want={(name) => want(owners.find((own) => own === name) ?? "")}
        channelTypes={via.map(({ type }) => type)}
      />
    );
  return (
    <Card title="Preview">
      {missing || preview.error ? (
        <p class="dim">{missing ?? "There is no preview: the reason stands above the button."}</p>
      ) : (
        <Skeleton rows={4} />
      )}
    </Card>
  );
}

function ByChannel({ preview }: { preview: NotificationPreview | undefined }) {
  const counts = Object.entries(preview?.by_class ?? {});
  if (counts.length === 0) return null;
  return (
    <Card title="By channel">
      <Facts of={counts.map(([name, count]): Fact => [channelName(name), plural(count, "person", "people")])} />
    </Card>
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
        such as <code>{`{{ ${liquidOf(first[0])} | default: 'there' }}`}</code>.
      </span>
    </p>
  );
}
