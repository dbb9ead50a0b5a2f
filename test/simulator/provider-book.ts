// What providers were asked and what they said, by job, subscriber and address: the truth about every send.
import { SECOND } from "../../shared/kernel/clock.ts";
import { RETRY_AFTER_MS } from "../../shared/rules/progress.ts";
import type { Call } from "./providers.ts";
import { receiptsOf } from "./receipts.ts";
import type { SimWorld } from "./world.ts";

/** An invocation ends within this time. */
const INVOCATION_MS = 75 * SECOND;
/** A lease is so much longer than an invocation. */
const LEASE_MARGIN_MS = 10 * SECOND;

export interface ProviderBook {
  /** By job, subscriber and address, in the order of the calls. */
  calls: Map<string, Map<string, Map<string, Call[]>>>;
  /** Whether the service may not know what the provider answered: its process died, or said that it failed. */
  isLost(call: Call): boolean;
  /** Whether the mail provider reported afterwards that the mail arrived, or came back. */
  isReported(call: Call): boolean;
}

const isKnown = (fate: string): boolean => fate === "delivered" || fate === "bounced";

const books = new WeakMap<SimWorld, ProviderBook>();

/** The book of a world; opened before the run begins. */
export function providerBook(world: SimWorld): ProviderBook {
  const existing = books.get(world);
  if (existing) return existing;
  const calls: ProviderBook["calls"] = new Map();
  const troubles = new Map<string, number[]>();
  world.onProviderCall((call) => {
    const ofJob = calls.get(call.job) ?? new Map<string, Map<string, Call[]>>();
    calls.set(call.job, ofJob);
    const ofSubscriber = ofJob.get(call.subscriber) ?? new Map<string, Call[]>();
    ofJob.set(call.subscriber, ofSubscriber);
    ofSubscriber.set(call.target, [...(ofSubscriber.get(call.target) ?? []), call]);
  });
  world.onLog(({ label }) => troubles.set(label, [...(troubles.get(label) ?? []), world.kernel.now()]));
  const book: ProviderBook = {
    calls,
    isLost: ({ told, by, at }) =>
      // With clocks this far apart a lease may end while its worker is still at it.
      world.profile.skewMs > LEASE_MARGIN_MS ||
      told === undefined ||
      !by.alive ||
      (troubles.get(by.label) ?? []).some((trouble) => trouble >= at && trouble <= at + INVOCATION_MS),
    isReported: (call) => receiptsOf(world).some((receipt) => receipt.call === call && isKnown(receipt.fate)),
  };
  books.set(world, book);
  return book;
}

/** What must or may be true of one address after its last call. */
interface Verdict {
  isDelivered: boolean;
  mayBeDelivered: boolean;
  /** Reasons of a failure that are possible; empty for none. */
  reasons: Set<string>;
  /** The provider refused for now, and must be asked again. */
  isUnfinished: boolean;
}

export const UNCONFIRMED = "delivery_unconfirmed";

export function verdictOn(book: ProviderBook, calls: readonly Call[]): Verdict {
  const reasons = new Set<string>();
  let [isDelivered, mayBeDelivered, isUnfinished] = [false, false, false];
  for (const call of calls) if (book.isLost(call)) reasons.add(UNCONFIRMED);
  const last = calls.at(-1);
  const isLost = last !== undefined && book.isLost(last);
  const told = last?.told;
  if (told?.kind === "accepted") {
    mayBeDelivered = true;
    isDelivered = !isLost;
  }
  // What nobody knew is delivered, or bounced, as soon as its provider says so.
  if (isLost || told?.kind === "unknown") mayBeDelivered ||= calls.some(book.isReported);
  if (told?.kind === "unknown") reasons.add(UNCONFIRMED);
  if (told?.kind === "rejected") reasons.add(told.reason);
  if (told?.kind === "retryable") {
    const tries = calls.filter(({ isThrottled }) => !isThrottled).length;
    const isLastTry = !last?.isThrottled && tries > RETRY_AFTER_MS.length;
    if (isLastTry || isLost) reasons.add(told.reason);
    isUnfinished = !isLastTry && !isLost;
  }
  return { isDelivered, mayBeDelivered, reasons, isUnfinished };
}
