// Who was touched by which send and when, as seen from outside: by providers, by inboxes and by the claims of chunks.
import { SECOND } from "../../shared/kernel/clock.ts";
import { progressOf } from "../../shared/rules/progress-text.ts";
import { isHeldOut } from "../../shared/rules/split.ts";
import { inboxRow, subscribersOf } from "./entities.ts";
import { isSurelyIn, mustHold, type Send } from "./ledger.ts";
import { type ProviderBook, providerBook } from "./provider-book.ts";
import type { Call } from "./providers.ts";
import type { SimWorld } from "./world.ts";

/** Something happened at some time of a span; `isSure`: it certainly did. */
export interface Span {
  from: number;
  to: number;
  /** When it was handed over, at the latest: a round that a crash interrupts hands over long after its time. */
  doneBy: number;
  isSure: boolean;
}

export interface Touches {
  /** When the chunks of a job were claimed for the first time, the first and the last of them. */
  claimed(job: string): { from: number; to: number } | undefined;
  /** The times of the rounds in which a subscriber got a message of a job, delivered for all that is known (AMB-109). */
  deliveries(job: string, subscriber: string): Span[];
  /** When a job first had to do with a subscriber, at the latest. */
  first(job: string, subscriber: string): number | undefined;
  /** When the round began in which it did, at the latest. */
  begun(job: string, subscriber: string): number | undefined;
  /** The recipients that a job tried to reach. */
  treated(job: string): Set<string>;
}

/** Between the time of a round, by the clock of its process, and what follows from it. */
export const ROUND_MS = 45 * SECOND;

const books = new WeakMap<SimWorld, Touches>();

export function touchesOf(world: SimWorld): Touches {
  const existing = books.get(world);
  if (existing) return existing;
  const { kernel, profile } = world;
  const book: ProviderBook = providerBook(world);
  const claims = new Map<string, { from: number; to: number }>();
  const inboxes = new Map<string, Map<string, Handover[]>>();
  const handovers = new Map<Call, Handover>();
  const rounds = createRounds(world);
  world.onProviderCall((call) => {
    handovers.set(call, { at: call.at, begun: rounds.begun(call.job, call.subscriber) ?? call.at });
  });
  world.onCommit(({ pk, sk, before, after }) => {
    if (!after) return;
    const [, , kind, id = ""] = pk.split("#");
    const now = kernel.now();
    const isOnJob = kind === "JOB" && before?.owner === undefined && after.owner !== undefined;
    if (isOnJob || (!before && kind === "J" && sk.startsWith("K#"))) {
      const job = isOnJob ? sk : id;
      const known = claims.get(job);
      claims.set(job, { from: known?.from ?? now, to: now });
    }
    if (before) return;
    const row = inboxRow(pk, sk);
    if (!row) return;
    const sender = String(after.job);
    const ofJob = inboxes.get(sender) ?? new Map<string, Handover[]>();
    inboxes.set(sender, ofJob);
    const handover = { at: now, begun: rounds.begun(sender, row.subscriber) ?? now };
    ofJob.set(row.subscriber, [...(ofJob.get(row.subscriber) ?? []), handover]);
  });
  const around = (at: number) => ({ from: at - ROUND_MS - profile.skewMs, to: at + profile.skewMs + 1 });
  const spanOf = ({ at, begun }: Handover, isSure: boolean): Span => ({
    ...around(begun),
    doneBy: around(at).to,
    isSure,
  });
  const handedOver = (job: string, subscriber: string): Handover[] => [
    ...callsTo(job, subscriber).flatMap((call) => handovers.get(call) ?? []),
    ...(inboxes.get(job)?.get(subscriber) ?? []),
  ];
  const callsTo = (job: string, subscriber: string) =>
    [...(book.calls.get(job)?.get(subscriber)?.values() ?? [])].flat();
  const earliest = (times: readonly number[]) => (times.length > 0 ? around(Math.min(...times)).to : undefined);
  const touches: Touches = {
    claimed: (job) => {
      const found = claims.get(job);
      return found && { from: around(found.from).from, to: around(found.to).to };
    },
    first: (job, subscriber) => earliest(handedOver(job, subscriber).map(({ at }) => at)),
    begun: (job, subscriber) => earliest(handedOver(job, subscriber).map(({ begun }) => begun)),
    treated: (job) => new Set([...(book.calls.get(job)?.keys() ?? []), ...(inboxes.get(job)?.keys() ?? [])]),
    deliveries: (job, subscriber) => [
      ...(inboxes.get(job)?.get(subscriber) ?? []).map((handover) => spanOf(handover, true)),
      ...callsTo(job, subscriber).flatMap((call) => {
        const handover = handovers.get(call);
        return handover && call.told?.status === "accepted" ? [spanOf(handover, !book.isLost(call))] : [];
      }),
    ],
  };
  books.set(world, touches);
  return touches;
}

interface Handover {
  at: number;
  /** When the claim of its round fixed the time of the round. */
  begun: number;
}

/** The rounds of chunks, as their claims fix them (AMB-109). */
function createRounds(world: SimWorld) {
  const chunks = new Map<string, string>();
  /** By chunk: the time of its round, by the clock of its process, and when that was first stored. */
  const current = new Map<string, { time: number; begun: number }>();
  world.onCommit(({ pk, sk, before, after }) => {
    const [, , kind, id = ""] = pk.split("#");
    if (!after || (kind !== "J" && (kind !== "JOB" || after.recipients === undefined))) return;
    const isOnJob = kind === "JOB";
    const job = isOnJob ? sk : id;
    const place = isOnJob ? job : `${job} ${sk.slice(2)}`;
    const isChunk = isOnJob || sk.startsWith("C#");
    if (isChunk && !before) for (const subscriber of subscribersOf(after)) chunks.set(`${job} ${subscriber}`, place);
    const isClaim = isOnJob ? after.owner !== undefined : sk.startsWith("K#") && !after.closed;
    if (!isClaim) return;
    const time = progressOf(after.progress?.toString()).at ?? Number(after.at);
    if (current.get(place)?.time !== time) current.set(place, { time, begun: world.kernel.now() });
  });
  return {
    begun: (job: string, subscriber: string): number | undefined =>
      current.get(chunks.get(`${job} ${subscriber}`) ?? "")?.begun,
  };
}

/** Those of a send's audience that its holdout keeps back, as far as is sure. */
export const heldOutOf = ({ ledger }: SimWorld, job: string, send: Send): string[] =>
  [...ledger.people.values()]
    .filter(
      (person) =>
        isSurelyIn(ledger, send, person.id) && mustHold(send, person) && isHeldOut(job, person.id, send.holdout),
    )
    .map(({ id }) => id);
