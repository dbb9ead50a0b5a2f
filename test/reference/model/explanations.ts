// Who got a send, who did not, and why (A4, F2).
import { limitOf, listing } from "./checks.ts";
import { ANY, type Body, DAY, iso, isoOrNull, isUuid, OneOf, type Request, Unordered } from "./kit.ts";
import type { Delivery, Job, Recipient } from "./records/sends.ts";
import { shownState } from "./tallies.ts";
import { existing, found, type World } from "./world.ts";

const reasonOf = ({ state, reasons, deliveries }: Recipient): Body => {
  // Of several channels, the provider of one may have refused, and the service another.
  const isOfProvider = deliveries.some((one) => one.state === "failed" && !reasons.includes(one.reason ?? ""));
  if (state === "skipped" || (state === "failed" && reasons.length > 0 && !isOfProvider)) return new OneOf(reasons);
  if (state === "failed" || state === "bounced") return ANY;
  return deliveries.length === 0 || state === "delivered" || state === "held_out" ? null : ANY;
};

/** Of a person who was reached on several channels any of them may be named. */
function channelOf({ state, deliveries }: Recipient): Body {
  if (state === "skipped" || state === "held_out") return ANY;
  const reached = deliveries.filter((delivery) => state !== "delivered" || delivery.state === "delivered");
  return new OneOf([...new Set(reached.map(({ channel }) => channel.type))]);
}

/** Once quiet hours are over it does not wait for them, though its campaign or journey may hold it (AMB-14, AMB-73). */
const endAhead = ({ now }: World, { deferred_until: end }: Recipient): number | null =>
  end !== null && end > now ? end : null;

/** SUB-10: rows of erased people stay, without a name. Unknown external ids have an id of the product's own. */
export function line(world: World, recipient: Recipient): Body {
  const { subscriber_id, variant } = recipient;
  const state = shownState(recipient);
  const isUnknown = recipient.reasons.includes("unknown_subscriber");
  const isErased = world.erased.includes(subscriber_id) || (!isUnknown && !found(world.subscribers, subscriber_id));
  // Who was unknown may have been created since.
  const external_id = isUnknown ? ANY : recipient.external_id;
  const known = { subscriber_id: isUuid(subscriber_id) ? subscriber_id : ANY, external_id };
  return {
    ...(isErased ? { subscriber_id: null, external_id: null } : known),
    state,
    ...{ reason: reasonOf(recipient), channel: channelOf(recipient), variant_id: variant },
    deferred_until: isoOrNull(endAhead(world, recipient)),
  };
}

export function recipients(world: World, request: Request, job: Job) {
  const size = limitOf(request, 100, 1000);
  const { state } = request.query;
  const matching = job.recipients.filter((recipient) => [undefined, shownState(recipient)].includes(state));
  return listing("items", new Unordered(matching.map((recipient) => line(world, recipient))), size);
}

/** A11: the recipients of the sends of seven days. */
export function activity(world: World, request: Request) {
  const size = limitOf(request, 50, 100);
  const isShown = ({ created_at, error }: Job) => created_at >= world.now - 7 * DAY && !error;
  const items = world.jobs.filter(isShown).flatMap((job) => {
    const { type, id } = job.source;
    // Of sends at one instant that no answer tells, which is which stays open.
    const notification_id = type === "journey" || job.spec.confirms ? ANY : job.id;
    const source = type === "api" ? ANY : { type, id };
    return job.recipients.map((recipient) => {
      const { variant_id: _, ...rest } = line(world, recipient);
      return { ...rest, notification_id, source };
    });
  });
  return listing("items", new Unordered(items), size);
}

const DECISION: Record<string, string> = {
  delivered: "sent",
  failed: "sent",
  bounced: "sent",
  held_out: "held_out",
  skipped: "skipped",
};

/** F2: what was decided, drawn and tried for one person. */
export function explain(world: World, job: Job, subscriber: string): Body {
  const person = existing(world.subscribers, subscriber);
  // An external id that named nobody then has a line of its own, also for its owner now.
  const names = [subscriber, person.external_id];
  const recipient = job.recipients.find(({ subscriber_id }) => names.includes(subscriber_id));
  const decision = job.status === "completed" ? "not_in_audience" : ANY;
  if (!recipient) return { subscriber_id: subscriber, decision };
  const { spec, unit } = job;
  const held_out = recipient.state === "held_out";
  const body = {
    ...{ notification_id: job.id, subscriber_id: subscriber, decision: DECISION[recipient.state] ?? ANY },
    ...{ state: shownState(recipient), reason: reasonOf(recipient), held_out },
    holdout: {
      percentage: spec.holdout_percentage ?? 0,
      bucket: unit ? world.bucket("holdout", unit, subscriber) : ANY,
    },
    variant_id: recipient.state === "skipped" ? ANY : recipient.variant,
    attempts:
      recipient.state === "skipped" || recipient.reasons.length > 0 || isOfOldInbox(world, recipient)
        ? ANY
        : attemptsAt(job, recipient),
  };
  return body;
}

/** What was tried, and the channels of which a cap kept it (F16). Whether a smart send asked a class that it did not need is open. */
function attemptsAt({ spec }: Job, { deliveries, planned }: Recipient): Body {
  const tried = deliveries.filter(({ attempts }) => attempts.length > 0);
  const isTold = ({ channel, device }: Delivery) =>
    deliveries.some((one) => one.channel === channel && one.device === device);
  const capped = planned.filter((delivery) => !isTold(delivery));
  if (capped.length > 0 && spec.channel_arbitration_mode === "smart") return ANY;
  return new Unordered([
    ...tried.map(attempt),
    ...capped.map((delivery) => attempt({ ...delivery, state: "skipped" })),
  ]);
}

/** INB-4: a message in an inbox is its own record of the delivery. */
const isOfOldInbox = ({ now }: World, { deliveries }: Recipient): boolean =>
  deliveries.some(({ channel, attempts }) => channel.type === "in_app" && attempts.some((at) => now >= at + 30 * DAY));

const attempt = (delivery: Delivery): Body => ({
  ...{ channel: delivery.channel.type, device_id: delivery.device?.id ?? null },
  state: shownState({ ...delivery, deliveries: [delivery] }),
  // The inbox is no provider that is called.
  attempted_at: delivery.channel.type === "in_app" ? ANY : delivery.attempts.map(iso),
});
