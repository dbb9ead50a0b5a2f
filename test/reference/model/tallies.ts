// Numbers of a send (AMB-95): one recipient counts once.
import { type Body, Exactly, OneOf, SECOND } from "./kit.ts";
import type { Delivery, Job, Recipient } from "./records/sends.ts";

/** The outcome of a provider that does not answer in time. */
export const UNANSWERED = "timeout";
export const ANSWER_TIME = 10 * SECOND;

/** AMB-95: what may have arrived is uncertain, and counts as failed. */
export const shownState = ({ state, deliveries = [] }: { state: string; deliveries?: Delivery[] }): string =>
  state === "failed" && deliveries.some(({ reason }) => reason === UNANSWERED) ? "uncertain" : state;

export function countsOf({ recipients }: Pick<Job, "recipients">): Body {
  const count = (...states: string[]) => recipients.filter(({ state }) => states.includes(state)).length;
  return {
    total: recipients.length,
    delivered: count("delivered"),
    failed: count("failed"),
    skipped: count("skipped"),
    held_out: count("held_out"),
    ...later(recipients),
    uncertain: recipients.filter((one) => shownState(one) === "uncertain").length,
  };
}

/** AMB-139. */
export const later = (recipients: Recipient[]) => ({
  bounced: recipients.filter(({ state }) => state === "bounced").length,
  complained: recipients.filter(({ hasComplained }) => hasComplained).length,
  unsubscribed: recipients.filter(({ hasUnsubscribed }) => hasUnsubscribed).length,
});

/** The deliveries of a recipient by each type of channel whose message did not reach it for another reason than a bounce. */
export function lostOf({ deliveries }: Recipient): [type: string, own: Delivery[]][] {
  const byType = Map.groupBy(deliveries, ({ channel }) => channel.type);
  return [...byType].filter(([, own]) => {
    const states = own.map(({ state }) => state);
    return states.includes("failed") && states.every((state) => state === "failed" || state === "skipped");
  });
}

/** AMB-139: by a type of channel, whatever another channel did. */
export function lossesBy(type: string, recipients: Recipient[]) {
  const lost = recipients.flatMap(lostOf).filter(([of]) => of === type);
  const isUncertain = ({ reason }: Delivery) => reason === UNANSWERED;
  return { failed: lost.length, uncertain: lost.filter(([, own]) => own.some(isUncertain)).length };
}

/** Where several reasons are true of one person, any of them may be the one that is counted. */
export function reasonsOf({ recipients }: Job): Body {
  const lists = recipients.filter(({ state }) => state === "skipped").map(({ reasons }) => reasons);
  let maps: Record<string, number>[] = [{}];
  for (const reasons of lists) {
    const grown = maps.flatMap((map) => reasons.map((reason) => ({ ...map, [reason]: (map[reason] ?? 0) + 1 })));
    const distinct = new Map(grown.map((map) => [JSON.stringify(Object.entries(map).sort()), map]));
    maps = [...distinct.values()];
  }
  return new OneOf(maps.map((map) => new Exactly(map)));
}

/** Some of its people were tried or decided on, and it is not over: such numbers are not promised before. */
export const isUnderWay = (jobs: Job[]): boolean =>
  jobs.some(
    ({ status, recipients }) =>
      status === "processing" &&
      recipients.some(
        ({ state, deliveries }) =>
          !["pending", "deferred"].includes(state) || deliveries.some(({ attempts }) => attempts.length > 0),
      ),
  );
