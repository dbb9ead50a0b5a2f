// One send: live counts of what was delivered, its message, and the question "did this person get it?".
import { useState } from "preact/hooks";
import type { Notification } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { number, plural, share } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge, stateOf } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { ContentSeen } from "../../components/content-seen.tsx";
import { Form } from "../../components/form.tsx";
import { Halted } from "../../components/halted.tsx";
import { Card, Confirm, Figure, Page, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Recipients } from "./recipients.tsx";
import { Why } from "./why.tsx";

const EVERY_MS = 2_000;
const isRunning = ({ status, counts, deferred }: Notification): boolean =>
  status === "queued" || status === "processing" || (status === "completed" && deferred > 0 && counts.total > 0);

export function Send({ id }: { id: string }) {
  const [every, setEvery] = useState<number | undefined>(EVERY_MS);
  const send = useQuery("notifications.get", [id], { every });
  const cancel = useAction("notifications.cancel", { stale: ["notifications."] });
  const [isAsking, setAsking] = useState(false);
  const { data } = send;
  const wanted = data && !isRunning(data) && data.status !== "scheduled" ? undefined : EVERY_MS;
  if (wanted !== every) setEvery(wanted);
  // A send that has begun is canceled only where its brake halted it.
  const mayCancel = data?.status === "scheduled";
  return (
    <Page
      title={data?.name ?? data?.title ?? "Send"}
      back={{ href: pathTo("activity"), label: "Activity" }}
      about={
        data && (
          <>
            <Badge state={stateOf(data)} /> {data.category}, <Time at={data.scheduled_at ?? data.created_at} />
          </>
        )
      }
      actions={
        mayCancel && (
          <Button kind="danger" needs="notifications.cancel" onClick={() => setAsking(true)}>
            Cancel the send
          </Button>
        )
      }
    >
      <Loaded query={send} skeleton={<Skeleton rows={8} />}>
        {(found) => (
          <>
            {cancel.error && <Failure error={cancel.error} />}
            {found.error && <p class="banner bad">{found.error}</p>}
            {found.halted && stateOf(found) === "halted" && <Halted send={found.id} halt={found.halted} />}
            <Outcome send={found} />
            <div class="grid wide">
              <div class="stack">
                <Lookup send={found} />
                <Recipients send={found.id} />
              </div>
              <Card title="Message">
                {found.title === null && found.body === null ? (
                  <p class="dim">The content is a template.</p>
                ) : (
                  <ContentSeen content={found.content ?? { title: found.title ?? "", body: found.body ?? "" }} />
                )}
                {found.variant_b && (
                  <>
                    <h3>Variant B, {100 - (found.split_percentage ?? 50)}%</h3>
                    <ContentSeen content={found.variant_b} />
                  </>
                )}
              </Card>
            </div>
          </>
        )}
      </Loaded>
      {isAsking && (
        <Confirm
          title="Cancel the send?"
          act="Cancel the send"
          isBusy={cancel.isBusy}
          close={() => setAsking(false)}
          onConfirm={async () => {
            const done = await cancel.run(id);
            setAsking(false);
            if (done) say("The send is canceled.");
          }}
        >
          Who did not get it yet, will not. What was delivered stays delivered.
        </Confirm>
      )}
    </Page>
  );
}

function Outcome({ send }: { send: Notification }) {
  const { counts, deferred, skip_reasons, fail_reasons, delivered_by_channel } = send;
  const open = Math.max(
    0,
    counts.total - counts.delivered - counts.failed - counts.skipped - counts.held_out - deferred,
  );
  const parts = [
    ["good", counts.delivered],
    ["bad", counts.failed],
    ["warn", deferred],
    ["held", counts.held_out],
  ] as const;
  return (
    <Card>
      <div class="figures" aria-live="polite">
        <Figure value={number(counts.delivered)} label={`delivered (${share(counts.delivered, counts.total)})`} />
        <Figure value={number(open)} label="in progress" />
        <Figure value={number(deferred)} label="waiting" />
        <Figure value={number(counts.failed)} label="failed" />
        <Figure value={number(counts.skipped)} label="skipped" />
        {send.holdout_percentage > 0 && <Figure value={number(counts.held_out)} label="control group" />}
        <Figure value={number(counts.total)} label="people" />
      </div>
      <div class="meter" aria-hidden="true">
        {parts.map(([name, value]) => (
          <i key={name} class={name} style={{ width: `${counts.total ? (100 * value) / counts.total : 0}%` }} />
        ))}
      </div>
      <dl class="facts">
        {Object.keys(delivered_by_channel).length > 0 && [
          <dt key="by">By channel</dt>,
          <dd key="channels">
            {Object.entries(delivered_by_channel)
              .map(([name, count]) => `${channelName(name)} ${number(count)}`)
              .join(", ")}
          </dd>,
        ]}
        <Reasons title="Skipped because" reasons={skip_reasons} />
        <Reasons title="Failed because" reasons={fail_reasons} />
      </dl>
    </Card>
  );
}

function Reasons({ title, reasons }: { title: string; reasons: Record<string, number> }) {
  const rows = Object.entries(reasons);
  if (rows.length === 0) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {rows.map(([reason, count]) => `${reasonText(reason)} (${plural(count, "person", "people")})`).join("; ")}
      </dd>
    </>
  );
}

/** "Why did Ada not get it?" by her external ID, email or last name. */
function Lookup({ send }: { send: Notification }) {
  const { query } = place.value;
  const chosen = query.get("person") ?? "";
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const found = useQuery("subscribers.list", [{ q: asked, limit: 6 }], { when: asked !== "" });
  return (
    <Card title="Did this person get it?">
      <Form
        kind="row"
        onSubmit={() => {
          setAsked(text.trim());
          setQuery({ person: undefined });
        }}
      >
        <input
          type="search"
          class="grow"
          aria-label="External ID, email or last name"
          placeholder="External ID, email or last name"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit">Explain</Button>
      </Form>
      {asked && !chosen && (
        <Loaded query={found} skeleton={<Skeleton rows={2} />}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="dim">No subscriber's id, email or last name begins with "{asked}".</p>
            ) : (
              <ul class="stack tight">
                {items.map(({ id, external_id, email }) => (
                  <li key={id}>
                    <a href={pathTo("activity", send.id, { person: id })} data-row>
                      {external_id}
                    </a>{" "}
                    <span class="dim">{email}</span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
      {chosen && <Why send={send.id} person={chosen} />}
    </Card>
  );
}
