// What is asked before anything reaches people: who, when, how, what is missing, what it costs, what stops it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { NotificationPreview, NotificationsCreateBody, NotificationsListAnswer } from "../../sdk/src/types.gen.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import type { RunningAction } from "../app/action.ts";
import { Cover } from "../app/places.ts";
import { type Query, useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { sendLimitOf } from "../app/send-limit.ts";
import { sendName } from "../app/send-name.ts";
import { channelName } from "../app/sentences.ts";
import { now, number, percent, plural, price } from "../app/time.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Check, TextField } from "./field.tsx";
import { Form } from "./form.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { type Fact, Facts, Money } from "./page.tsx";
import { type Moment, Moments } from "./release-moments.tsx";
import { Gaps, Who } from "./release-reach.tsx";
import type { Safety } from "./safety.tsx";
import { Failure, Loaded, Skeleton } from "./states.tsx";

/** A release to more people than this asks for their number. */
const MANY = 1_000;

/** A preview is valid for ten minutes. */
const OLD_MS = 540_000;

/** Who is shown is who gets it, also while they are counted again: a press is not lost then (AMB-140). */
export const isCounting = ({ data, isLoading, at }: Query<NotificationPreview>): boolean =>
  isLoading && (data === undefined || Date.now() - at > OLD_MS);

interface ReleaseSheetProps {
  title: string;
  /** What its button does; the number of people follows. */
  act: string;
  action: RunningAction;
  /** Who gets it, where that is known before. */
  preview?: Query<NotificationPreview>;
  /** What the preview is of, and the beginning of its paths where it is one of several messages. */
  body?: NotificationsCreateBody;
  at?: string;
  /** Who gets it, where nobody can be counted yet. */
  who?: ComponentChildren;
  when: readonly Moment[];
  /** Channels, topic, arms, control group. */
  by: readonly (Fact | false | undefined | "")[];
  /** What else is missing than the preview says. */
  gaps?: ComponentChildren;
  /** What it costs, where the preview does not say it. */
  cost?: ComponentChildren;
  /** Undefined: the workspace's limits. */
  safety?: Safety | null | undefined;
  /** Where each step has limits of its own. */
  stops?: ComponentChildren;
  /** Why it cannot go out as it is. */
  refusal?: string | undefined;
  onRelease: () => unknown;
  close: () => void;
}

export function ReleaseSheet(props: ReleaseSheetProps) {
  const { title, act, action, preview, body, at, who, when, by, gaps, onRelease, close } = props;
  const [typed, setTyped] = useState("");
  const [isLateMeant, setLateMeant] = useState(false);
  const { counts, exact } = preview?.data ?? {};
  const isLate = when.some(({ at }) => at !== undefined && Date.parse(at) <= now());
  const uncounted = preview ? act.split(" ")[0] : act;
  const isMany = counts !== undefined && counts.sent > MANY;
  const refusal =
    props.refusal ?? refusalOf({ preview, isLate: isLate && !isLateMeant, typed: isMany ? typed : undefined });
  return (
    <Dialog title={title} close={close} stays={action.isBusy} class="sheet">
      <Cover.Provider value={close}>
        <Form error={action.error} onSubmit={() => !refusal && onRelease()}>
          <div class="release">
            <Section icon="people" title="Who">
              {preview ? <Who preview={preview} at={at} isSmart={body?.channel_arbitration_mode === "smart"} /> : who}
            </Section>
            <Section icon="clock" title="When">
              <Moments all={when} />
              {isLate && (
                <Check label="It goes out at once: this time has passed" checked={isLateMeant} onInput={setLateMeant} />
              )}
            </Section>
            <Section icon="activity" title="This week">
              <Others />
            </Section>
            <Section icon="channel" title="How">
              <Facts of={by} />
            </Section>
            <Section icon="warning" title="Missing">
              {preview && !preview.data && !preview.error && <Skeleton rows={1} />}
              <Gaps preview={preview?.data} body={body} at={at}>
                {gaps}
              </Gaps>
            </Section>
            {(props.cost || preview?.data) && (
              <Section icon="insights" title="Cost">
                {props.cost ?? <Cost cost={preview!.data!.cost} />}
              </Section>
            )}
            <Section icon="shield" title="Safeguards">
              <Stops safety={props.safety} reached={counts?.sent ?? 0}>
                {props.stops}
              </Stops>
            </Section>
          </div>
          {props.refusal && <p class="banner bad">{props.refusal}</p>}
          {action.error && <Failure error={action.error} />}
          {isMany && (
            <TextField
              label={`Type ${number(counts.sent)} to confirm the number of people`}
              value={typed}
              onInput={setTyped}
              autocomplete="off"
            />
          )}
          <div class="actions end">
            {!action.isBusy && <Button onClick={close}>Cancel</Button>}
            <Button
              kind="primary"
              icon="send"
              type="submit"
              needs={action.operation}
              refusal={refusal}
              isBusy={action.isBusy}
            >
              {counts ? `${act} ${exact ? "" : "about "}${plural(counts.sent, "person", "people")}` : uncounted}
            </Button>
          </div>
        </Form>
      </Cover.Provider>
    </Dialog>
  );
}

interface Doubt {
  preview: Query<NotificationPreview> | undefined;
  isLate: boolean;
  /** Undefined where no number is asked for. */
  typed: string | undefined;
}

function refusalOf({ preview, isLate, typed }: Doubt): string | undefined {
  if (preview?.error) return "Who gets it is not known.";
  if (preview && (!preview.data || isCounting(preview))) return "Counting who gets it.";
  if (isLate) return "Confirm first that the time has passed.";
  const isTyped = typed === undefined || Number(typed.replace(/[\s.,]/g, "")) === preview?.data?.counts.sent;
  return isTyped ? undefined : "Type the number of people first.";
}

interface SectionProps {
  icon: IconName;
  title: string;
  children: ComponentChildren;
}

const Section = ({ icon, title, children }: SectionProps) => (
  <section>
    <h3>
      <Icon name={icon} />
      {title}
    </h3>
    <div class="stack tight">{children}</div>
  </section>
);

interface CostProps {
  cost: Pick<NotificationPreview["cost"], "dollars" | "provider_dollars" | "unpriced">;
  /** Of one person: an average, with more digits than cents. */
  each?: string;
}

export function Cost({ cost: { dollars, provider_dollars, unpriced }, each = "" }: CostProps) {
  const amount = (of: number) => (each ? price(of) : <Money of={of} />);
  return (
    <p>
      {each && "About "}
      <b>{amount(dollars)}</b>
      {each}, computed at list prices
      {provider_dollars > 0 && <span class="dim">, of which {amount(provider_dollars)} for providers</span>}
      {unpriced.length > 0 && (
        <span class="dim">. No price is set for {[...new Set(unpriced)].map(channelName).join(", ")}</span>
      )}
      .
    </p>
  );
}

const limitsOf = (safety: Safety): string =>
  [
    safety.canary_percent !== undefined && `${safety.canary_percent}% go first`,
    safety.max_error_rate !== undefined && `errors ${percent(safety.max_error_rate)}`,
    safety.max_bounce_rate !== undefined && `bounces ${percent(safety.max_bounce_rate)}`,
    safety.max_complaint_rate !== undefined && `complaints ${percent(safety.max_complaint_rate)}`,
    safety.max_opt_out_rate !== undefined && `opt-outs ${percent(safety.max_opt_out_rate)}`,
  ]
    .filter(Boolean)
    .join(", ");

interface StopsProps {
  safety: Safety | null | undefined;
  reached: number;
  children: ComponentChildren;
}

/** The brake, and what is left of the plan. */
function Stops({ safety, reached, children }: StopsProps) {
  const billing = useQuery("billing.get", []);
  return (
    <>
      {children ?? (
        <p>
          {safety === undefined && "Its brake has the limits of the workspace."}
          {safety === null && <b>Its brake is off.</b>}
          {safety && `Its brake halts it: ${limitsOf(safety) || "by the limits of the workspace"}.`}
        </p>
      )}
      <Loaded query={billing} skeleton={<Skeleton rows={1} />}>
        {(found) => <Left of={Math.max(0, sendLimitOf(found) - found.usage.sends)} reached={reached} />}
      </Loaded>
    </>
  );
}

const Left = ({ of, reached }: { of: number; reached: number }) => (
  <p class={of < reached ? "banner bad" : "dim"}>
    The plan has {plural(of, "message")} left in this period. {of < reached && "It will be refused."}
  </p>
);

const WEEK_MS = 7 * DAY;
const NAMED = 3;

/** What else the workspace sends: who gets two messages a day leaves. */
function Others() {
  const [from] = useState(() => new Date(now() - WEEK_MS).toISOString());
  const sends = useQuery("notifications.list", [{ from, limit: 50, exclude_source_type: "journey" }]);
  return (
    <Loaded query={sends} skeleton={<Skeleton rows={1} />}>
      {(found) => <Sends {...found} />}
    </Loaded>
  );
}

function Sends({ items, next_cursor }: NotificationsListAnswer) {
  const sends = items.filter(({ status }) => status !== "scheduled" && status !== "canceled");
  const names = [...new Set(sends.map(sendName))];
  return (
    <p>
      {sends.length === 0
        ? "Nothing was sent in the last 7 days."
        : `${next_cursor && "At least "}${plural(sends.length, "send")} in the last 7 days${names.length > NAMED ? ", such as" : ":"} ${names.slice(0, NAMED).join(", ")}.`}{" "}
      <a href={pathTo("campaigns", "upcoming")}>What goes out next</a>
    </p>
  );
}
