// The outcomes of messages, by address: rows of the ledger, and messages of the inbox, when they are written.
import { createHash } from "node:crypto";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { isPseudonym, timeOfUuid, uuidV7 } from "../../../shared/kernel/ids.ts";
import { type Change, type Changes, isNew } from "../../../shared/store/changes.ts";
import type { Item } from "../../../shared/store/model.ts";
import { Message } from "../../../shared/store/sends/inbox/inbox-items.ts";
import { TouchItem } from "../../../shared/store/sends/ledger/ledger-items.ts";
import { timeOfTouch } from "../../../shared/store/sends/ledger/touches.ts";
import { subscriberIn } from "../../../shared/store/webhooks/occurrences.ts";
import type { Origin } from "./published.ts";

/** The outcome of a message to one address. */
export interface Outcome {
  origin: Origin;
  id: string;
  /** A state of the ledger, or `complained`. */
  state: string;
  /** RFC 3339. */
  at: string;
  subscriber: string;
  job: string;
  channel: string | undefined;
  reason: string | undefined;
  details: { arm?: string | undefined; device?: string | undefined; provider_id?: string | undefined };
}

type Touch = Change<typeof TouchItem>;

/**
 * Every outcome of a batch of changes. Rows that an erasure writes under a pseudonym are left out, because their
 * outcomes were published before.
 */
export const outcomesOf = (changes: Changes): Outcome[] =>
  [
    ...changes.where(TouchItem, isOfSubscriber("R#")).flatMap(outcomesOfTouch),
    ...changes.where(Message, isOfSubscriber("I#")).filter(isNew).map(outcomeOfMessage),
  ].filter(({ subscriber }) => !isPseudonym(subscriber));

const isOfSubscriber =
  (prefix: string) =>
  ({ pk, sk }: Item): boolean =>
    pk.split("#")[2] === "U" && sk.startsWith(prefix);

/** A recipient who waits since the chunk was claimed has no outcome yet. */
const WAITING = "assigned";

function outcomesOfTouch(change: Touch): Outcome[] {
  const { before, after } = change;
  const { state, complained } = after;
  const states = [
    ...(state !== before?.state && state !== WAITING ? [state] : []),
    ...(complained && !before?.complained ? ["complained"] : []),
  ];
  return states.map((touchState) => outcomeOfTouch(change, touchState));
}

function outcomeOfTouch({ before, after, ...change }: Touch, state: string): Outcome {
  const { job, channel, reason, arm, device, provider_id, tries } = after;
  const first = tries?.at(-1) ?? timestamp(timeOfTouch(after));
  return {
    origin: change,
    id: idOf(timeOfTouch(after), after, state),
    state,
    at: before ? timestamp(change.at) : first,
    subscriber: subscriberIn(after.pk),
    job,
    channel,
    reason,
    details: { arm, device, provider_id },
  };
}

function outcomeOfMessage({ before: _, after, ...change }: Change<typeof Message>): Outcome {
  const at = timeOfUuid(after.sk.slice("I#".length));
  return {
    origin: change,
    id: idOf(at, after, "sent"),
    state: "sent",
    at: timestamp(at),
    subscriber: subscriberIn(after.pk),
    job: after.job,
    channel: "in_app",
    reason: undefined,
    details: { arm: after.arm },
  };
}

/** The id of an outcome, the same however often it is published. */
const idOf = (at: number, { pk, sk }: Pick<Item, "pk" | "sk">, state: string): string =>
  uuidV7(at, createHash("sha256").update(`${pk}|${sk}|${state}`).digest());
