// The explanation of a send or a journey for one person, in sentences.
import type { ChannelType } from "./channel-types.ts";
import { channels } from "./channels.ts";
import type { Exit } from "./journey-graph.ts";
import { reasonText } from "./reason-words.ts";

interface Channel {
  channel: ChannelType;
  state: string;
  reason: string | null;
  deferred_until: string | null;
}

/** What is said of a send: a part of its explanation. */
export interface SaidOfSend {
  decision: string;
  state: string;
  reason: string | null;
  /** When the send goes out, RFC 3339; of one that did not go out yet. */
  goes_at?: string | null;
  /** Of a send that failed as a whole. */
  error?: string | null;
  channels: readonly Channel[];
  attempts: readonly {
    complained: boolean;
    cap: ReachedCap | null;
    claimed_with: { consent: string | null; suppression: string | null } | null;
  }[];
  waits?: readonly { why: string; since: string | null; attempts: number; until: string }[];
  now: {
    subscriber_filters: readonly { key: string; matches: boolean }[];
    channels: readonly {
      reason: string | null;
      consent: string | null;
      suppression: { reason: string; suppressed_at: string } | null;
    }[];
    caps: readonly ReachedCap[];
  } | null;
}

interface ReachedCap {
  category: string;
  max: number;
  per: "day" | "week";
  count: number;
}

/** What is said of a journey: a part of what explains one person in it. */
export interface SaidOfJourney {
  triggers: readonly {
    at: string;
    event_name: string;
    segment?: { name: string | null; entered: boolean } | undefined;
    outcome: string;
  }[];
  runs: readonly {
    status: string;
    entered_at: string;
    current_step: string;
    end_reason: string | null;
    waiting_until: string | null;
    steps: readonly { step: string; outcome: string }[];
    halted?: { reason: string } | undefined;
  }[];
  waiting: {
    event_name: string | null;
    next: readonly { by: string; to: string | null }[];
  } | null;
  /** Why steps of the newest run failed. */
  failures?: ReadonlyMap<string, string> | undefined;
  /** Of the version of the newest run. */
  exits: readonly Exit[];
  now: {
    would_enter: boolean;
    reason: string | null;
    clauses: readonly { path: string; matched: boolean }[];
  };
}

/** `2026-11-20 23:00 UTC` */
const moment = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;

const label = (channel: ChannelType): string => channels[channel].label;

const because = (reason: string | null): string => (reason === null ? "" : `: ${reasonText(reason)}`);

/** @param at when the person was erased, RFC 3339 */
export const erasedInWords = (at: string): string =>
  `This person was erased on ${moment(at)}: nothing more is sent, and what was sent before is no longer known by name.`;

/** What became of a message, in one sentence, and of each channel where they differ. */
export function sendInWords(said: SaidOfSend): string {
  const others = said.channels.filter(({ state, reason }) => state !== said.state || reason !== said.reason);
  const one = `${mainSentence(said)}${said.attempts.some(({ complained }) => complained) ? " The recipient reported it as spam." : ""}`;
  return others.length === 0 ? one : `${one} ${others.map(channelSentence).join(" ")}`;
}

function pendingSentence({ reason, goes_at, waits }: SaidOfSend): string {
  if (reason === "paused") return "Not yet: its campaign is paused or archived.";
  if (reason !== null) return `Not yet${because(reason)}${againWords(waits)}.`;
  return goes_at
    ? `Not yet: the send goes out on ${moment(goes_at)}.`
    : "Not yet: it is still in the queue of the send.";
}

function mainSentence(said: SaidOfSend): string {
  const { decision, state, reason, channels: all, now } = said;

  const until = all.find(({ deferred_until }) => deferred_until)?.deferred_until;
  switch (decision === "not_in_audience" ? decision : state) {
    case "not_in_audience":
      return `Not in the audience${because(reason)}${filterKeys(reason, now)}.`;
    case "held_out":
      return "In the control group, which gets nothing so that the effect can be measured.";
    case "delivered":
      return `Delivered by ${[...new Set(all.filter((one) => one.state === "delivered").map(({ channel }) => label(channel)))].join(" and ") || "a channel"}.`;
    case "deferred":
      return `Not yet: it waits for the end of quiet hours${until ? `, ${moment(until)}` : ""}.`;
    case "pending":
      return pendingSentence(said);
    case "uncertain":
      return "Perhaps: the provider did not confirm it, and it is not sent twice.";
    case "bounced":
      return `Not received: the address sent it back${because(reason)}.`;
    case "canceled":
      return "Not sent: the send was canceled first.";
    default:
      return `Not sent${because(reason)}${detailOf(said)}.`;
  }
}

/** When the first of its addresses is tried again, and what was tried before. */
function againWords(waits: SaidOfSend["waits"] = []): string {
  const [next] = waits.filter(({ why }) => why !== "quiet_hours").toSorted((a, b) => (a.until < b.until ? -1 : 1));
  if (!next) return "";
  const { attempts, since, until } = next;
  const before = attempts === 0 ? "" : `, tried ${attempts === 1 ? "once" : `${attempts} times`}`;
  return `${before}${since ? `, last at ${moment(since)}` : ""}, and again from ${moment(until)}`;
}

const filterKeys = (reason: string | null, now: SaidOfSend["now"]): string => {
  const keys = now?.subscriber_filters.filter(({ matches }) => !matches).map(({ key }) => key) ?? [];
  return reason === "subscriber_filters" && keys.length > 0 ? ` (${keys.join(", ")})` : "";
};

/** What more is known of a reason, in brackets. */
function detailOf({ reason, attempts, error, now }: SaidOfSend): string {
  switch (reason) {
    case "suppressed":
      return suppressionWords(attempts, now);
    case "no_consent":
      return consentWords(attempts, now);
    case "capped":
      return capWords(attempts.find(({ cap }) => cap)?.cap ?? now?.caps.find(({ count, max }) => count >= max));
    case "send_failed":
      return error ? ` (${error.replace(/\.$/, "")})` : "";
    default:
      return "";
  }
}

const suppressions: Readonly<Record<string, string>> = {
  bounce: "a message to it came back",
  complaint: "its owner reported a mail as spam",
  imported: "an imported file said so",
  manual: "by an operator",
};

const claimIn = (attempts: SaidOfSend["attempts"]) => attempts.find(({ claimed_with }) => claimed_with)?.claimed_with;

/** What held for the address when the message was claimed; of one that was skipped before, what holds now. */
function suppressionWords(attempts: SaidOfSend["attempts"], now: SaidOfSend["now"]): string {
  const current = now?.channels.find(({ suppression }) => suppression)?.suppression;
  const why = claimIn(attempts)?.suppression ?? current?.reason;
  if (!why) return " (then; now it is not)";
  const since = current?.reason === why ? `, on ${moment(current.suppressed_at)}` : "";
  return ` (${suppressions[why] ?? why}${since})`;
}

function consentWords(attempts: SaidOfSend["attempts"], now: SaidOfSend["now"]): string {
  const known = claimIn(attempts);
  if (known) return ` (consent: ${known.consent ?? "never given"})`;
  const refusing = now?.channels.find((one) => one.reason === "no_consent");
  return refusing ? ` (consent now: ${refusing.consent ?? "never given"})` : "";
}

/** `(1 of 1 marketing messages a day)` */
const capWords = (cap: ReachedCap | undefined): string =>
  cap ? ` (${cap.count} of ${cap.max} ${cap.category} messages a ${cap.per})` : "";

function channelSentence({ channel, state, reason, deferred_until }: Channel): string {
  const until = deferred_until ? ` until ${moment(deferred_until)}` : "";
  return `${label(channel)}: ${state}${reason === null ? "" : `, ${reasonText(reason)}`}${until}.`;
}

/** What a journey did with one person: the newest run, else what came of the newest trigger. */
export function journeyInWords({ triggers, runs, waiting, exits, failures, now }: SaidOfJourney): string {
  const [run] = runs;
  const [trigger] = triggers;
  const isNewer = run && trigger && trigger.outcome !== "entered" && trigger.at > run.entered_at;
  const sentences = [
    ...(trigger && (isNewer || !run) ? [triggerSentence(trigger)] : []),
    ...(run ? runSentences(run, { exits, failures }) : []),
    ...(run && waiting && waiting.next.length > 0 ? [nextSentence(waiting)] : []),
    ...(run || trigger ? [] : ["No run: in 90 days nothing happened that starts this journey."]),
    ...(run ? [] : [nowSentence(now)]),
  ];
  return sentences.join(" ");
}

function triggerSentence({ at, event_name, segment, outcome }: SaidOfJourney["triggers"][number]): string {
  const moved = segment && `${segment.entered ? "Entered" : "Left"} the segment ${segment.name ?? "(deleted)"}`;
  const came = `${moved ?? `${event_name} came`} on ${moment(at)}`;
  if (outcome === "entered") return `${came} and started a run.`;
  return `${came} and started no run: ${outcome === "paused" ? "the journey was paused" : reasonText(outcome)}.`;
}

type SaidRun = SaidOfJourney["runs"][number];

function runSentences(run: SaidRun, { exits, failures }: Pick<SaidOfJourney, "exits" | "failures">): string[] {
  const { status, entered_at, current_step, end_reason, waiting_until, steps, halted } = run;
  const ended = end_reason === null ? "" : ` (${exitWords(end_reason, exits)})`;
  const standing =
    status === "active"
      ? `it is at ${current_step}${waiting_until ? ` until ${moment(waiting_until)}` : ""}`
      : `it ${status === "completed" ? "is completed" : `ended as ${status}`}${ended}`;
  return [
    `Entered on ${moment(entered_at)}; ${standing}.`,
    ...(halted ? [`Its send is halted: ${reasonText(halted.reason)}.`] : []),
    ...steps.flatMap(({ step, outcome }) => outcomeSentence(step, outcome, failures?.get(step)) ?? []),
  ];
}

/** Which way a branch or a wait led. */
const ways: Readonly<Record<string, string>> = {
  "branch:then": "the condition was met",
  "branch:else": "the condition was not met",
  "wait:event": "the event came",
  "wait:timeout": "the event did not come in time",
};

/** What a step decided, or why it sent nothing. */
function outcomeSentence(step: string, outcome: string, failure: string | undefined): string | undefined {
  if (Object.hasOwn(ways, outcome)) return `${step}: ${ways[outcome]}.`;
  if (!/^(skipped|failed|bounced|canceled)/.test(outcome)) return undefined;
  const [what = "", reason = failure] = outcome.split(":");
  return `${step}: ${what}${reason === undefined ? "" : `, ${reasonText(reason)}`}.`;
}

const EXIT_CONDITION = /^exit_condition:(\d+)$/;

/** Why a run ended; an exit condition by what it is about. */
function exitWords(reason: string, exits: SaidOfJourney["exits"]): string {
  const index = EXIT_CONDITION.exec(reason)?.[1];
  if (index === undefined) return reason;
  const exit = exits[Number(index)];
  if (exit?.kind === "event") return `its exit condition: ${exit.event.name} came`;
  if (exit?.kind === "attribute") return `its exit condition on ${Object.keys(exit.predicate).join(", ")}`;
  return `its exit condition ${Number(index) + 1}`;
}

/** `Next: thanks if order_paid comes, else reminder.` */
function nextSentence({ event_name, next }: NonNullable<SaidOfJourney["waiting"]>): string {
  const [first, ...others] = next.map(({ to }) => to ?? "the end");
  const otherwise = others.map((to) => `, else ${to}`).join("");
  return `Next: ${first}${event_name === null ? "" : ` if ${event_name} comes`}${otherwise}.`;
}

function nowSentence({ would_enter, reason, clauses }: SaidOfJourney["now"]): string {
  if (would_enter) return "A trigger would start a run now.";
  const unmet = clauses.filter(({ matched }) => !matched).map(({ path }) => path);
  const which = reason === "not_eligible" && unmet.length > 0 ? ` (${unmet.join(", ")})` : "";
  return `A trigger would start none now${because(reason)}${which}.`;
}
