// Who was touched by which send and when, as seen from outside: by providers, by inboxes and by the claims of chunks.
import { SECOND } from "../../shared/clock.ts";
import { isHeldOut } from "../../shared/rules/split.ts";
import { inboxRow } from "./entities.ts";
import { isSurelyIn, mustHold, type Send } from "./ledger.ts";
import { type ProviderBook, providerBook } from "./provider-book.ts";
import type { SimWorld } from "./world.ts";

/** Something happened at some time of a span; `isSure`: it certainly did. */
export interface Span {
  from: number;
  to: number;
  isSure: boolean;
}

export interface Touches {
  /** When the chunks of a job were claimed for the first time, the first and the last of them. */
  claimed(job: string): { from: number; to: number } | undefined;
  /** The times at which a subscriber got a message of a job, delivered for all that is known. */
  deliveries(job: string, subscriber: string): Span[];
  /** When a job first had to do with a subscriber, at the latest. */
  first(job: string, subscriber: string): number | undefined;
  /** Everybody whom a job tried to reach. */
  treated(job: string): Set<string>;
}

/** Between the time of a round, by the clock of its process, and what follows from it. */
const ROUND_MS = 45 * SECOND;

const books = new WeakMap<SimWorld, Touches>();

export function touchesOf(world: SimWorld): Touches {
  const existing = books.get(world);
  if (existing) return existing;
  const { kernel, profile } = world;
  const book: ProviderBook = providerBook(world);
  const claims = new Map<string, { from: number; to: number }>();
  const inboxes = new Map<string, Map<string, number[]>>();
  world.onCommit(({ pk, sk, before, after }) => {
    if (before || !after) return;
    const [, , kind, job = ""] = pk.split("#");
    const now = kernel.now();
    if (kind === "J" && sk.startsWith("K#")) {
      const known = claims.get(job);
      claims.set(job, { from: known?.from ?? now, to: now });
    }
    const row = inboxRow(pk, sk);
    if (!row) return;
    const ofJob = inboxes.get(String(after.job)) ?? new Map<string, number[]>();
    inboxes.set(String(after.job), ofJob);
    ofJob.set(row.subscriber, [...(ofJob.get(row.subscriber) ?? []), now]);
  });
  const around = (at: number) => ({ from: at - ROUND_MS - profile.skewMs, to: at + profile.skewMs + 1 });
  const touches: Touches = {
    claimed: (job) => {
      const found = claims.get(job);
      return found && { from: around(found.from).from, to: around(found.to).to };
    },
    first: (job, subscriber) => {
      const calls = [...(book.calls.get(job)?.get(subscriber)?.values() ?? [])].flat().map(({ at }) => at);
      const times = [...calls, ...(inboxes.get(job)?.get(subscriber) ?? [])].map((at) => around(at).to);
      return times.length > 0 ? Math.min(...times) : undefined;
    },
    treated: (job) => new Set([...(book.calls.get(job)?.keys() ?? []), ...(inboxes.get(job)?.keys() ?? [])]),
    deliveries: (job, subscriber) => [
      ...(inboxes.get(job)?.get(subscriber) ?? []).map((at) => ({ ...around(at), isSure: true })),
      ...[...(book.calls.get(job)?.get(subscriber)?.values() ?? [])]
        .flat()
        .flatMap((call) =>
          call.told?.status === "accepted" ? [{ ...around(call.at), isSure: !book.isLost(call) }] : [],
        ),
    ],
  };
  books.set(world, touches);
  return touches;
}

/** Those of a send's audience that its holdout keeps back, as far as is sure. */
export const heldOutOf = ({ ledger }: SimWorld, job: string, send: Send): string[] =>
  [...ledger.people.values()]
    .filter(
      (person) =>
        isSurelyIn(ledger, send, person.id) && mustHold(send, person) && isHeldOut(job, person.id, send.holdout),
    )
    .map(({ id }) => id);
