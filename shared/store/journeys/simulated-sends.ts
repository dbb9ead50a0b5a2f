// The expected send of a journey's step to one subscriber, judged as a send is: address, consent, suppression, topic,
// caps and quiet hours. The walk of one person and the replay of many share it. Nothing is written.
import { type CountedCap, counterOf, type FrequencyCap, windowOf } from "../../rules/caps.ts";
import { expectedOutcome } from "../../rules/expected-outcome.ts";
import { quietUntil } from "../../rules/quiet-hours.ts";
import type { Target } from "../../rules/reach.ts";
import { countedReason } from "../../rules/reasons.ts";
import { chatAppAllowance } from "../channels/chat-app-content.ts";
import type { StoreReader } from "../context.ts";
import { keep } from "../sends/audience/audiences.ts";
import type { PlacedCandidate } from "../sends/audience/candidates.ts";
import { channelSettings, deliverySettingsOf } from "../sends/audience/planning.ts";
import { lateRefusals } from "../sends/audience/preview-futures.ts";
import { zoneFor } from "../sends/chunks/deferred.ts";
import { isInAppOnly } from "../sends/chunks/recipients.ts";
import { type Event, scopeOf } from "../sends/content/arms.ts";
import { blankSubjects } from "../sends/content/blank-subjects.ts";
import { chatAppWords } from "../sends/content/chat-app-words.ts";
import { textless } from "../sends/content/textless.ts";
import { contentOfTemplate, TemplateItem } from "../templates/items.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { planOfStep, type SendNode } from "./sends.ts";

export type StepPlan = NonNullable<Awaited<ReturnType<ReturnType<typeof openPlans>>>>;

/** The plans of steps that send, each made once; undefined for one that would fail. */
export function openPlans({ store, workspace }: { store: StoreReader; workspace: WorkspaceRecord }) {
  const plan = async (node: SendNode) => {
    const { template_id, content } = node.send;
    const template = template_id === undefined ? undefined : await store.get(TemplateItem, { id: template_id });
    if (template_id !== undefined && !template) return undefined;
    const found = await planOfStep(store, workspace, [], { node, event: undefined });
    if (!found) return undefined;
    const settings = deliverySettingsOf(found.spec, found.via.map(channelSettings), workspace);
    const said = { ...found.spec, ...(template ? contentOfTemplate(template) : content) };
    const mayChat = await chatAppAllowance(store, found.via, said);
    const chatApp = await chatAppWords(store, found.via, said);
    return {
      rules: found.rules,
      settings,
      mayChat,
      said,
      chatApp,
      hasNoSubject: blankSubjects(said),
      hasNoText: textless(said),
    };
  };
  const plans = new Map<string, ReturnType<typeof plan>>();
  return (node: SendNode) => {
    const found = plans.get(node.id) ?? plan(node);
    plans.set(node.id, found);
    return found;
  };
}

interface CapCounter {
  countOf(cap: FrequencyCap, timezone: string, at: number): Promise<number>;
  add(cap: FrequencyCap, timezone: string, at: number): void;
}

const windowKey = (cap: FrequencyCap, timezone: string, at: number) =>
  `${cap.per} ${counterOf(cap)} ${windowOf(cap.per, timezone, at)}`;

/**
 * Counts caps. @param stored reads the earlier counts in the window of a moment; without it only added messages count
 */
export function capCounter(
  stored?: (caps: readonly FrequencyCap[], timezone: string, at: number) => Promise<readonly CountedCap[]>,
): CapCounter {
  const counts = new Map<string, number>();
  return {
    countOf: async (cap, timezone, at) => {
      const key = windowKey(cap, timezone, at);
      if (!counts.has(key)) counts.set(key, (await stored?.([cap], timezone, at))?.[0]?.count ?? 0);
      return counts.get(key) ?? 0;
    },
    add: (cap, timezone, at) => {
      const key = windowKey(cap, timezone, at);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
  };
}

export type SimulatedSend =
  | { kind: "skipped"; reason: string }
  /** None of its messages has a text. */
  | { kind: "failed" }
  /** `until`: the end of the quiet hours that `later` waits for, in milliseconds. */
  | { kind: "sent"; now: Target[]; later: Target[]; until: number | undefined };

interface Recipient {
  candidate: PlacedCandidate | undefined;
  /** In milliseconds. */
  at: number;
  caps: CapCounter;
  /** The event that its texts may refer to. */
  event: Event;
}

/** Until when the message of a step would wait for one subscriber, in milliseconds; undefined where it goes at once. */
export async function quietEndFor(
  store: StoreReader,
  { rules, settings: { quiet, timezone = "UTC" } }: StepPlan,
  candidate: PlacedCandidate | undefined,
  at: number,
): Promise<number | undefined> {
  if (!quiet || !candidate?.profile) return undefined;
  const until = quietUntil(quiet, zoneFor(quiet, timezone, candidate.profile), at);
  if (until === undefined) return undefined;

  const [kept] = await keep(store, [candidate], rules);
  const isHeld = kept?.judgement.kind === "send" && !isInAppOnly(kept.judgement.targets);
  return isHeld ? until : undefined;
}

/** The expected result of a send to one subscriber at a moment. It counts against the caps. */
export async function simulateSend(
  store: StoreReader,
  { rules, mayChat, said, hasNoSubject, hasNoText, settings: { quiet, caps = [], timezone = "UTC" } }: StepPlan,
  { candidate, at, caps: counter, event }: Recipient,
): Promise<SimulatedSend> {
  const [kept] = candidate ? await keep(store, [candidate], rules) : [];
  if (!kept?.profile || kept.judgement.kind !== "send") {
    const reason = kept?.judgement.kind === "skip" ? kept.judgement.reason : "unknown_subscriber";
    return { kind: "skipped", reason };
  }
  const { profile } = kept;

  const shown = { arm: undefined, scope: scopeOf(profile, said, event), now: at };
  const { concerns, refusalBy } = lateRefusals({ mayChat, hasNoSubject, hasNoText }, shown);
  const fullAt = async (open: readonly FrequencyCap[], time: number) => {
    const counts = await Promise.all(open.map((cap) => counter.countOf(cap, timezone, time)));
    return open.filter((cap, i) => (counts[i] ?? 0) >= cap.max);
  };

  const until = quiet ? quietUntil(quiet, zoneFor(quiet, timezone, profile), at) : undefined;
  const expected = expectedOutcome(kept.judgement.targets, {
    isSmart: false,
    quietUntil: until,
    refusal: refusalBy(await fullAt(caps, at)),
  });
  const { now } = expected;
  const count = (open: readonly FrequencyCap[], targets: readonly Target[], time: number) => {
    const counted = open.filter((cap) => targets.some((target) => concerns(cap, target)));
    for (const cap of counted) counter.add(cap, timezone, time);
    return open.filter((cap) => !counted.includes(cap));
  };

  const open = count(caps, now, at);
  // A deferred message is checked when it is sent, by the caps that have not counted it by then.
  const sentAt = until ?? at;
  const refusal = refusalBy(await fullAt(open, sentAt));
  const later = expected.later.filter((target) => refusal(target) === undefined);
  count(open, later, sentAt);
  const late = now.length + later.length === 0 ? expected.later.flatMap((target) => refusal(target) ?? []) : [];
  const reason = expected.reason ?? countedReason(late);
  if (reason !== undefined) return { kind: "skipped", reason };

  const isRead = ({ channel }: Target) => !hasNoText(shown, channel);
  const read = { now: now.filter(isRead), later: later.filter(isRead) };
  return read.now.length + read.later.length > 0 ? { kind: "sent", ...read, until } : { kind: "failed" };
}
