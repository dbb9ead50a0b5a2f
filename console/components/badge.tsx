// A state as icon and word; its colour only repeats them.
import { Icon, type IconName } from "./icon.tsx";

type Tone = "good" | "warn" | "bad" | "held" | "accent" | "plain";

const STATES: Record<string, [IconName, Tone, string?]> = {
  active: ["check", "good"],
  live: ["play", "good"],
  ready: ["check", "good"],
  delivered: ["check", "good"],
  sent: ["check", "good"],
  completed: ["check", "good"],
  verified: ["check", "good"],
  entered: ["check", "plain"],
  left: ["leave", "plain"],
  opted_in: ["check", "good", "opted in"],
  success: ["check", "good"],
  succeeded: ["check", "good"],
  scheduled: ["clock", "accent"],
  queued: ["clock", "accent"],
  processing: ["activity", "accent"],
  pending: ["clock", "warn"],
  deferred: ["clock", "warn", "waiting"],
  retrying: ["clock", "warn"],
  paused: ["pause", "warn"],
  halted: ["warning", "bad"],
  past_due: ["warning", "warn", "past due"],
  failed: ["cross", "bad"],
  uncertain: ["warning", "warn"],
  bounced: ["cross", "bad"],
  invalid: ["cross", "bad"],
  suspended: ["cross", "bad"],
  opted_out: ["cross", "bad", "opted out"],
  unsubscribed: ["cross", "bad"],
  sandbox: ["clock", "accent"],
  held_out: ["shield", "held", "held out"],
  skipped: ["dash", "plain"],
  canceled: ["cross", "plain"],
  exited: ["leave", "plain"],
  refused: ["cross", "plain", "not let in"],
  unread: ["dots", "accent"],
  read: ["check", "good"],
  dismissed: ["cross", "plain"],
  draft: ["pencil", "plain"],
  awaiting_approval: ["clock", "warn", "waits for approval"],
  archived: ["archive", "plain"],
  ended: ["archive", "plain"],
  not_in_audience: ["dash", "plain", "not in the audience"],
};

/** The state of a send; one that its brake halted is still in progress for the API. */
export const stateOf = ({ status, halted }: { status: string; halted?: object | null | undefined }): string =>
  halted && (status === "queued" || status === "processing") ? "halted" : status;

export function Badge({ state, word }: { state: string; word?: string }) {
  const [icon, tone, own] = STATES[state] ?? (["dots", "plain"] as [IconName, Tone]);
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
      {word ?? own ?? state.replaceAll("_", " ")}
    </span>
  );
}
