// How far a chunk has got: what is deferred comes again, and what is stored with a claim is read as it was
// (docs/decisions/0013).
import fc from "fast-check";
import { expect, it } from "vitest";
import { resultOf } from "../../functions/workers/deliver/tally.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import { knownProviders } from "../../shared/rules/mailbox-providers.ts";
import {
  type Addressee,
  isPassed,
  newProgress,
  note,
  type Progress,
  type SendOutcome,
  type Unit,
} from "../../shared/rules/progress.ts";
import { nextRound, putOff, unitsOf, waitingFor } from "../../shared/rules/progress-rounds.ts";
import { progressOf, progressText } from "../../shared/rules/progress-text.ts";

const at = fc.integer({ min: 1, max: 2_000_000_000_000 });
const unit = fc.record(
  {
    recipient: fc.integer({ min: 0, max: 199 }),
    target: fc.integer({ min: 0, max: 19 }),
    tries: fc.array(at, { maxLength: 4 }),
    due: fc.oneof(at, fc.constant(0)),
    quiet: at,
    throttledSince: at,
    isHeld: fc.constant(true as const),
  },
  { requiredKeys: ["recipient", "target", "tries", "due"] },
);
/** Only what waits for its channel may be held. */
const waitingUnit = unit.map(
  ({ isHeld, ...one }): Unit => (isHeld && one.throttledSince !== undefined ? { ...one, isHeld } : one),
);
const units = fc
  .uniqueArray(waitingUnit, { selector: ({ recipient, target }) => `${recipient}.${target}`, maxLength: 60 })
  .map((list): Unit[] => list.sort((a, b) => a.recipient - b.recipient || a.target - b.target));
const verdict = fc.record(
  {
    state: fc.constantFrom(
      "sent" as const,
      "failed" as const,
      "retryable" as const,
      "unknown" as const,
      "skipped" as const,
    ),
    reason: fc.stringMatching(/^[a-z_ :=;,.~!-]{1,20}$/),
    mailbox: fc.constantFrom(...knownProviders),
  },
  { requiredKeys: ["state"] },
);
const channel = fc.constantFrom("ios", "email");
const bits = fc.bigInt({ min: 0n, max: (1n << 200n) - 1n });
const progress = fc.record({
  at: fc.option(at, { nil: undefined }),
  recorded: fc.boolean(),
  work: fc.option(units, { nil: undefined }),
  from: fc.nat(200),
  to: fc.nat(200),
  noted: fc.nat(200),
  pending: fc.array(verdict, { maxLength: 30 }),
  capped: fc.array(fc.nat(200), { maxLength: 10 }),
  counted: bits,
  countedBy: fc.dictionary(fc.constantFrom("push", "email"), bits),
  next: units,
  reached: fc.dictionary(fc.constantFrom("ios", "email", "in_app"), bits),
  missed: fc.dictionary(channel, bits),
  unsure: fc.dictionary(channel, bits),
  mailboxes: fc.dictionary(fc.constantFrom(...knownProviders), fc.integer({ min: 1, max: 200 })),
  why: fc.dictionary(fc.nat(199).map(String), fc.constantFrom("capped", "no_device", "5: x=y;z")),
  open: fc.constant({}),
  fallbackSteps: fc.nat(9),
  fallbackConflicts: fc.nat(9),
  // None and undefined are stored alike.
  tried: fc.option(fc.dictionary(channel, fc.integer({ min: 1, max: 200 }), { minKeys: 1 }), { nil: undefined }),
  errors: fc.dictionary(channel, fc.integer({ min: 1, max: 200 })),
  passed: fc.boolean(),
  slots: fc.dictionary(channel, fc.record({ at, rate: fc.constantFrom(0.5, 8) })),
});

it("docs/decisions/0013 D-QUIET whatever is stored with a claim is read as it was", () => {
  fc.assert(
    fc.property(progress, (known) => {
      expect(progressOf(progressText(known as Progress))).toEqual(known);
    }),
  );
});

it("a hundred who wait for the same hour are less than a kilobyte (D-QUIET)", () => {
  const addressees = Array.from({ length: 100 }, (): Addressee => ({ targets: [{ channel: "ios" }], isSmart: false }));
  const known = newProgress();
  putOff(known, addressees, () => ({ due: 1_795_200_000_000, quiet: 1_795_200_000_000 }));
  expect(progressText(known).length).toBeLessThan(1_024);
});

it("a deferred recipient comes again at the time, once, and is neither delivered nor failed meanwhile (D-QUIET)", () => {
  const size = 30;
  const addressees = Array.from({ length: size }, (): Addressee => ({ targets: [{ channel: "ios" }], isSmart: false }));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: size, maxLength: size }), (hours) => {
      const known = newProgress();
      const sent: number[] = [];
      let now = 0;
      for (let rounds = 0; rounds < 10; rounds++) {
        putOff(known, addressees, ({ recipient }) => {
          const due = hours[recipient]! * 1_000;
          return due > now ? { due, quiet: due } : undefined;
        });
        for (const one of unitsOf(known, addressees)) {
          sent.push(one.recipient);
          note(known, one, addressees[one.recipient]!, { outcome: { kind: "accepted" }, at: now });
          known.to++;
        }
        const waiting = waitingFor(known);
        const { delivered, failed, skipped } = resultOf(known, size);
        expect([delivered, failed, skipped, waiting.size]).toEqual([sent.length, 0, 0, size - sent.length]);
        const begins = nextRound(known, now);
        if (begins === undefined) break;
        expect(begins).toBeGreaterThan(now);
        now = begins;
      }
      expect(sent.toSorted((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, n) => n));
    }),
  );
});

it("a failure is tried again after a minute, or as much later as its provider says (docs/decisions/0013)", () => {
  const addressee: Addressee = { targets: [{ channel: "sms" }], isSmart: false };
  const fresh: Unit = { recipient: 0, target: 0, tries: [], due: 0 };
  const waitFor = (retryAfterSeconds: number) => {
    const state = newProgress();
    note(state, fresh, addressee, { outcome: { kind: "retryable", reason: "500", retryAfterSeconds }, at: 1_000 });
    return state.next[0]!.due - 1_000;
  };

  expect([0, 30, 600].map(waitFor)).toEqual([60_000, 60_000, 600_000]);
});

it.each<[string, SendOutcome, object]>([
  ["is refused", { kind: "rejected", reason: "410" }, { missed: { sms: 1n }, unsure: {} }],
  ["gets no answer", { kind: "unknown", reason: "timeout" }, { missed: { sms: 1n }, unsure: { sms: 1n } }],
  [
    "is throttled for a day",
    { kind: "retryable", reason: "429", isThrottled: true },
    { missed: { sms: 1n }, unsure: {} },
  ],
  ["is skipped by a cap", { kind: "skipped", reason: "capped" }, { missed: {}, unsure: {} }],
  ["is canceled", { kind: "rejected", reason: "canceled" }, { missed: {}, unsure: {} }],
  ["is tried again", { kind: "retryable", reason: "500" }, { missed: {}, unsure: {} }],
])("a message that %s is a failure of its channel, an uncertain one, or none (AMB-139)", (_, outcome, noted) => {
  const addressee: Addressee = { targets: [{ channel: "sms" }], isSmart: false };
  const state = newProgress();
  note(state, { recipient: 0, target: 0, tries: [], due: 0, throttledSince: 0 }, addressee, { outcome, at: DAY });

  expect({ missed: state.missed, unsure: state.unsure }).toEqual(noted);
});

it("a throttle leaves the tries as they are, waits longer each time, and fails after a day (AMB-111)", () => {
  const start = Date.UTC(2026, 10, 20);
  const addressee: Addressee = { targets: [{ channel: "sms" }], isSmart: false };
  const throttle = (unit: Unit, at: number, retryAfterSeconds = 0) => {
    const state = newProgress();
    const outcome = { kind: "retryable", reason: "429", retryAfterSeconds, isThrottled: true } as const;
    return { verdict: note(state, unit, addressee, { outcome, at }), next: state.next[0], why: state.why };
  };
  const fresh: Unit = { recipient: 0, target: 0, tries: [start - 60_000], due: 0 };
  const first = throttle(fresh, start);
  expect(first.verdict).toEqual({ state: "retryable", reason: "429", tries: fresh.tries });
  expect(first.next).toEqual({ ...fresh, throttledSince: start, due: start + 2_000 });
  const waiting: Unit = { ...fresh, throttledSince: start };
  const waits = [10_000, 600_000].map((ms) => (throttle(waiting, start + ms).next?.due ?? 0) - start - ms);
  expect(waits).toEqual([10_000, 60_000]);
  expect(throttle(waiting, start, 900).next?.due).toBe(start + 900_000);
  const day = 24 * 3_600_000;
  expect(throttle(waiting, start + day - 1).next?.due).toBe(start + day);
  const last = throttle(waiting, start + day);
  expect([last.next, last.verdict.reason, last.why]).toEqual([undefined, "rate_limited", { 0: "rate_limited" }]);
});

it.each<[what: string, waits: Partial<Unit>, isPast: boolean]>([
  ["waits for the end of quiet hours is not worked through", { quiet: 2_000 }, false],
  ["waits for a provider that throttles is not worked through", { throttledSince: 1_000 }, false],
  ["waits for another time alone is worked through", {}, true],
])("a chunk all of which %s, so that others may begin or not (F21)", (_, waits, isPast) => {
  const unit: Unit = { recipient: 0, target: 0, tries: [], due: 2_000, ...waits };

  expect(isPassed({ ...newProgress(), work: [unit] })).toBe(isPast);
  expect(isPassed({ ...newProgress(), next: [unit] })).toBe(isPast);
});
