// The expected results of each recipient's messages, before anything is sent (F8).
import type { Judgement } from "../../../rules/audience.ts";
import { type FrequencyCap, isSameWindow } from "../../../rules/caps.ts";
import { classOf } from "../../../rules/channel-types.ts";
import { type ExpectedOutcome, expectedOutcome } from "../../../rules/expected-outcome.ts";
import { quietUntil } from "../../../rules/quiet-hours.ts";
import type { Target } from "../../../rules/reach.ts";
import type { LateSkip } from "../../../rules/reasons.ts";
import type { RenderScope } from "../../../rules/render.ts";
import { chatAppAllowance } from "../../channels/chat-app-content.ts";
import type { StoreReader } from "../../context.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import { zoneFor } from "../chunks/deferred.ts";
import { blankSubjects } from "../content/blank-subjects.ts";
import { failsFirst, type Shown, textless } from "../content/textless.ts";
import type { DeliverySettings, JobSpec } from "../jobs/job-spec.ts";
import type { keep } from "./audiences.ts";
import { countsOf } from "./caps.ts";

export type KeptCandidate = Awaited<ReturnType<typeof keep>>[number];
export type SentCandidate = KeptCandidate & {
  profile: LivingProfile;
  judgement: Extract<Judgement, { kind: "send" }>;
};

/** `textless`: its messages that fail, because they have no text. */
export type Future = ExpectedOutcome & { until: number | undefined; textless: Target[] };

interface MessageChecks {
  mayChat: Awaited<ReturnType<typeof chatAppAllowance>>;
  hasNoSubject: ReturnType<typeof blankSubjects>;
  hasNoText: ReturnType<typeof textless>;
}

/** Whether a cap concerns the message to an address, and why, by the caps that are full, it is not sent. */
export function lateRefusals({ mayChat, hasNoSubject, hasNoText }: MessageChecks, shown: Shown) {
  const { arm, scope, now } = shown;
  const concerns = ({ channel_class }: FrequencyCap, { channel }: Target): boolean =>
    (channel_class === undefined || channel_class === classOf(channel)) && !failsFirst(hasNoText, shown, channel);
  const refusalBy =
    (full: readonly FrequencyCap[]) =>
    (target: Target): LateSkip | undefined => {
      if (target.channel === "chat_app" && !mayChat(arm)) return "template_not_approved";
      if (target.channel === "email" && hasNoSubject(arm, scope, now)) return "blank_subject";
      return full.some((cap) => concerns(cap, target)) ? "capped" : undefined;
    };
  return { concerns, refusalBy };
}

/**
 * The effect of quiet hours, caps, a blank subject and the status of a chat-app template on each recipient's messages.
 */
export async function futuresOf(
  store: StoreReader,
  spec: JobSpec,
  { via, quiet, caps = [], timezone = "UTC" }: DeliverySettings,
  { sent, at, seenOf }: { sent: readonly SentCandidate[]; at: number; seenOf(profile: LivingProfile): RenderScope },
): Promise<Map<string, Future>> {
  const ids = sent.map(({ id }) => id);
  const counted = await countsOf(store, { timezone, now: at }, ids, caps);
  const mayChat = await chatAppAllowance(store, via, spec);
  const hasNoSubject = blankSubjects(spec);
  const hasNoText = textless(spec);
  const ends = new Map<string, number | undefined>();
  const endIn = (zone: string): number | undefined => {
    if (quiet && !ends.has(zone)) ends.set(zone, quietUntil(quiet, zone, at));
    return ends.get(zone);
  };
  return new Map(
    sent.map(({ id, profile, judgement }, i): [string, Future] => {
      const shown = { arm: judgement.arm, scope: seenOf(profile), now: at };
      const full = (counted[i] ?? []).filter(({ count, max }) => count >= max);
      const { concerns, refusalBy } = lateRefusals({ mayChat, hasNoSubject, hasNoText }, shown);
      const refusal = refusalBy(full);
      const until = quiet ? endIn(zoneFor(quiet, timezone, profile)) : undefined;
      const fullLater = until === undefined ? [] : full.filter(({ per }) => isSameWindow(per, timezone, at, until));
      const laterRefusal = (target: Target): LateSkip | undefined =>
        fullLater.some((cap) => concerns(cap, target)) ? "capped" : undefined;
      // A smart send then goes on to another class.
      const isSmart = spec.channel_arbitration_mode === "smart";
      const circumstances = { isSmart, quietUntil: until, refusal, ...(!isSmart && { laterRefusal }) };
      const { now, later, reason } = expectedOutcome(judgement.targets, circumstances);
      const textless = [...now, ...later].filter(({ channel }) => hasNoText(shown, channel));
      const withText = (targets: readonly Target[]) => targets.filter((target) => !textless.includes(target));
      return [id, { now: withText(now), later: withText(later), ...(reason && { reason }), until, textless }];
    }),
  );
}
