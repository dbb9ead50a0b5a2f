// Lift and attribution as pure rules: the vectors of the rulings, an A/A test, windows and last touches.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attribute, type Touch } from "../../shared/rules/attribution.ts";
import { liftOf } from "../../shared/rules/lift.ts";
import { randomFrom } from "../simulator/random.ts";

describe("lift", () => {
  it("vectors: Newcombe-Wilson at 95 % (F9, ISG-8)", () => {
    const big = liftOf({ size: 90_000, converters: 4_500 }, { size: 10_000, converters: 400 });
    expect([big.points, big.low, big.high].map((x) => Number(x!.toFixed(4)))).toEqual([1, 0.5741, 1.3941]);
    expect(big.significant).toBe(true);
    expect(big.pValue).toBeLessThan(0.0001);
    const small = liftOf({ size: 1_000, converters: 52 }, { size: 100, converters: 4 });
    expect([small.points, small.low, small.high].map((x) => Number(x!.toFixed(4)))).toEqual([1.2, -4.7617, 4.0883]);
    expect(small.pValue).toBeCloseTo(0.6, 2);
    expect(small.significant).toBe(false);
  });

  it("an empty arm has a rate of 0 and no interval (ISG-7)", () => {
    expect(liftOf({ size: 10, converters: 5 }, { size: 0, converters: 0 })).toMatchObject({
      points: 50,
      low: null,
      high: null,
      pValue: null,
      significant: false,
    });
  });

  it("arms in which all or none converted have an interval and no smallest detectable lift (F9)", () => {
    for (const rate of [0, 1]) {
      const arm = (size: number) => ({ size, converters: rate * size });
      expect(liftOf(arm(16), arm(4))).toMatchObject({ points: 0, pValue: 1, significant: false, detectable: null });
    }
    expect(liftOf({ size: 16, converters: 0 }, { size: 4, converters: 1 }).detectable).toBeGreaterThan(0);
  });

  it("an A/A test is significant in 5 ± 2% of 1,000 seeds (F9)", () => {
    const random = randomFrom(7);
    const arm = (size: number) => ({
      size,
      converters: Array.from({ length: size }, () => random.chance(0.1)).filter(Boolean).length,
    });
    const hits = Array.from({ length: 1_000 }, () => liftOf(arm(600), arm(300))).filter(
      ({ significant }) => significant,
    );
    expect(hits.length).toBeGreaterThanOrEqual(30);
    expect(hits.length).toBeLessThanOrEqual(70);
  });
});

describe("attribution", () => {
  const touch = (job: string, at: number, more: Partial<Touch> = {}): Touch => ({
    job,
    at,
    group: "treated",
    isDelivered: true,
    ...more,
  });

  it("every touch within the window counts, the last delivered one gets the conversion (D-ATTRIB)", () => {
    const touches = [touch("a", 0), touch("b", 5_000), touch("c", 9_000, { isDelivered: false }), touch("d", 11_000)];
    const { jobs, last } = attribute(touches, 10_000, 10);
    expect(jobs.map(({ job }) => job)).toEqual(["c", "b", "a"]);
    expect(last?.job).toBe("b");
    expect(attribute(touches, 10_001, 10).jobs.map(({ job }) => job)).toEqual(["c", "b"]);
  });

  it("held-out subscribers are counted as such (D-ATTRIB)", () => {
    const { jobs, last } = attribute([touch("a", 0, { group: "held_out", isDelivered: false })], 1_000, 10);
    expect(jobs).toEqual([{ job: "a", group: "held_out", isAssigned: true, isDelivered: false }]);
    expect(last).toBeUndefined();
  });

  it("a late round is a touch from its own time, and counts for lift from the assignment (AMB-109, AMB-110)", () => {
    const late = touch("a", 8_000, { assignedAt: 0 });
    const assigned = touch("a", 0, { isDelivered: false });
    const [only] = attribute([late], 12_000, 10).jobs;
    expect(only).toEqual({ job: "a", group: "treated", isAssigned: false, isDelivered: true });
    expect(attribute([assigned, late], 9_000, 10).jobs).toEqual([{ ...only, isAssigned: true }]);
    expect(attribute([assigned, late], 7_000, 10)).toMatchObject({ jobs: [{ isDelivered: false }], last: undefined });
  });

  it("each job once, newest first, whatever the order they come in", () => {
    const arbitrary = fc.array(
      fc.record({
        job: fc.constantFrom("a", "b", "c", "d"),
        at: fc.integer({ min: 0, max: 100_000 }),
        isDelivered: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(arbitrary, fc.integer({ min: 0, max: 100_000 }), (touches, at) => {
        const all = touches.map((each) => touch(each.job, each.at, each));
        const { jobs } = attribute(all, at, 60);
        expect(
          attribute([...all].reverse(), at, 60)
            .jobs.map(({ job }) => job)
            .sort(),
        ).toEqual(jobs.map(({ job }) => job).sort());
        expect(new Set(jobs.map(({ job }) => job)).size).toBe(jobs.length);
        for (const { job, isDelivered } of jobs) {
          const own = all.filter((each) => each.job === job && each.at <= at && at - each.at <= 60_000);
          expect(own.length).toBeGreaterThan(0);
          expect(own.some((each) => each.isDelivered)).toBe(isDelivered);
        }
      }),
    );
  });
});
