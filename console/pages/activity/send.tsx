// One send: live counts of what was delivered, its message, and the question "did this person get it?".
import { useState } from "preact/hooks";
import type { Notification, NotificationsGetReportAnswer } from "../../../sdk/src/types.gen.ts";
import { personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { sendName } from "../../app/send-name.ts";
import { channelName } from "../../app/sentences.ts";
import { number, share } from "../../app/time.ts";
import { Badge, stateOf } from "../../components/badge.tsx";
import { ByVariant } from "../../components/breakdown.tsx";
import { Button } from "../../components/button.tsx";
import { ContentSeen } from "../../components/content-seen.tsx";
import { CostFacts } from "../../components/cost.tsx";
import { AskButton } from "../../components/dialog.tsx";
import { Form } from "../../components/form.tsx";
import { Halted } from "../../components/halted.tsx";
import { Lift } from "../../components/lift.tsx";
import { NotDelivered } from "../../components/not-delivered.tsx";
import { Card, Facts, Figure, Page, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Recipients } from "./recipients.tsx";
import { Why } from "./why.tsx";

const EVERY_MS = 2_000;
const REPORT_MS = 10_000;
const isRunning = ({ status, counts, deferred }: Notification): boolean =>
  status === "queued" || status === "processing" || (status === "completed" && deferred > 0 && counts.total > 0);

const hasBegun = (send: Notification | undefined): boolean => send !== undefined && send.status !== "scheduled";

/** What is over is not polled. */
const everyOf = (send: Notification | undefined): number | undefined =>
  !send || isRunning(send) || send.status === "scheduled" ? EVERY_MS : undefined;

export function Send({ id }: { id: string }) {
  const send = useQuery("notifications.get", [id], { every: everyOf });
  const { data } = send;
  const report = useQuery("notifications.getReport", [id], { every: REPORT_MS, when: hasBegun(data) });
  return (
    <Page
      title={data ? sendName(data) : "Send"}
      back={{ href: pathTo("activity"), label: "Activity" }}
      about={
        data && (
          <>
            <Badge state={stateOf(data)} /> {data.category}, <Time at={data.scheduled_at ?? data.created_at} />
          </>
        )
      }
      // A send that has begun is canceled only where its brake halted it.
      actions={data?.status === "scheduled" && <Cancel id={id} />}
    >
      <Loaded query={send} skeleton={<Skeleton rows={8} />}>
        {(found) => (
          <>
            {found.error && <p class="banner bad">{found.error}</p>}
            {found.halted && stateOf(found) === "halted" && <Halted send={found.id} halt={found.halted} />}
            <Outcome send={found} report={report.data} />
            <div class="grid wide">
              <div class="stack">
                <Lookup send={found} />
                {found.variant_b && report.data && <ByVariant file="send by variant" of={report.data} />}
                <Recipients send={found.id} reasons={Object.keys({ ...found.skip_reasons, ...found.fail_reasons })} />
              </div>
              <div class="stack">
                <Message send={found} />
                <Card title="Cost">
                  <CostFacts cost={found.cost} />
                </Card>
                {found.holdout_percentage > 0 && found.status === "completed" && <Lift job={found.id} />}
                <NotDelivered
                  skipped={found.skip_reasons}
                  failed={found.fail_reasons}
                  total={found.counts.total}
                  hrefOf={(reason) => pathTo("activity", found.id, { reason })}
                />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Cancel({ id }: { id: string }) {
  return (
    <AskButton
      label="Cancel the send"
      operation="notifications.cancel"
      given={[id]}
      title="Cancel the send?"
      act="Cancel the send"
      said="The send is canceled."
    >
      Anyone who has not received it yet will not. What was delivered stays delivered.
    </AskButton>
  );
}

function Message({ send: { title, body, content, variant_b, split_percentage } }: { send: Notification }) {
  return (
    <Card title="Message">
      {title === null && body === null ? (
        <p class="dim">The content is a template.</p>
      ) : (
        <ContentSeen content={content ?? { title: title ?? "", body: body ?? "" }} />
      )}
      {variant_b && (
        <>
          <h3>Variant B, {100 - (split_percentage ?? 50)}%</h3>
          <ContentSeen content={variant_b} />
        </>
      )}
    </Card>
  );
}

interface OutcomeProps {
  send: Notification;
  report: NotificationsGetReportAnswer | undefined;
}

function Outcome({ send, report }: OutcomeProps) {
  const { counts, deferred, delivered_by_channel } = send;
  const open = Math.max(
    0,
    counts.total - counts.delivered - counts.failed - counts.skipped - counts.held_out - deferred,
  );
  // As in the report of a campaign.
  const sent = counts.total - counts.skipped - counts.held_out;
  const ofSent = sent < counts.total ? ` of ${number(sent)} sent` : "";
  const parts = [
    ["good", counts.delivered],
    ["bad", counts.failed],
    ["warn", deferred],
    ["held", counts.held_out],
  ] as const;
  const others = [
    ["in progress", open],
    ["waiting", deferred],
    ["failed", counts.failed],
    ["skipped", counts.skipped],
    ["control group", counts.held_out],
  ] as const;
  const channels = Object.entries(delivered_by_channel)
    .map(([name, count]) => `${channelName(name)} ${number(count)}`)
    .join(", ");
  return (
    <Card>
      <div class="figures" aria-live="polite">
        <Figure value={number(counts.total)} label="people" />
        <Figure value={number(counts.delivered)} label={`delivered (${share(counts.delivered, sent)}${ofSent})`} />
        {others.map(([label, value]) => value > 0 && <Figure key={label} value={number(value)} label={label} />)}
        {report && report.delivered > 0 && <Reactions report={report} />}
      </div>
      <div class="meter" aria-hidden="true">
        {parts.map(([name, value]) => (
          <i key={name} class={name} style={{ width: `${counts.total ? (100 * value) / counts.total : 0}%` }} />
        ))}
      </div>
      <Facts of={[channels && ["By channel", channels]]} />
    </Card>
  );
}

/** What the reached recipients did. */
function Reactions({ report: { delivered, opened_human, clicked_human } }: { report: NotificationsGetReportAnswer }) {
  return (
    <>
      <Figure value={number(opened_human)} label={`opened by people (${share(opened_human, delivered)})`} />
      <Figure value={number(clicked_human)} label={`clicked by people (${share(clicked_human, delivered)})`} />
    </>
  );
}

/** "Why did Ada not get it?" by her name, external ID, email or phone. */
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
          aria-label="Name, external ID, email or phone"
          placeholder="Name, external ID, email or phone"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit">Explain</Button>
      </Form>
      {asked && !chosen && (
        <Loaded query={found} skeleton={<Skeleton rows={2} />}>
          {({ items }) =>
            items.length === 0 ? (
              <p class="dim">Nobody is found by “{asked}”.</p>
            ) : (
              <ul class="stack tight">
                {items.map((person) => (
                  <li key={person.id}>
                    <a href={pathTo("activity", send.id, { person: person.id })} data-row>
                      {personName(person)}
                    </a>{" "}
                    <span class="dim">{person.email ?? person.external_id}</span>
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
