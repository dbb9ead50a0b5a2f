import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { armOf, bucket, isHeldOut } from "../../shared/rules/split.ts";

const job = "7f1b0c9e-0000-4000-8000-000000000001";

describe("deterministic split", () => {
  it.each([
    [1, 2444, 2037],
    [2, 2307, 8320],
    [3, 2635, 3123],
  ])("the split gives the published buckets for subscriber %i (ABH-1, ABH-2)", (n, holdout, split) => {
    const subscriber = `00000000-0000-4000-8000-00000000000${n}`;
    expect(bucket("holdout", job, subscriber)).toBe(holdout);
    expect(bucket("split", job, subscriber)).toBe(split);
  });

  it("the split gives the published shares over 100,000 ids, holdout and arm independent of each other (ABH-1, ABH-2)", () => {
    let heldOut = 0;
    let inA = 0;
    let both = 0;
    for (let n = 0; n < 100_000; n++) {
      const isOut = isHeldOut(job, `s${n}`, 10);
      const isA = armOf(job, `s${n}`, 50) === "a";
      if (isOut) heldOut++;
      if (isA) inA++;
      if (isOut && isA) both++;
    }
    expect({ heldOut, inA, both }).toEqual({ heldOut: 10_282, inA: 50_012, both: 5_115 });
    expect(Math.abs(both / heldOut - inA / 100_000)).toBeLessThan(0.01);
  });

  it("the split holds out no subscriber at 0 and keeps the boundary exact (ABH-4)", () => {
    const subscriber = "00000000-0000-4000-8000-000000000001"; // buckets 2444 and 2037
    expect([0, 24, 25, 99].map((percentage) => isHeldOut(job, subscriber, percentage))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect([0, 20, 21, 100].map((percentage) => armOf(job, subscriber, percentage))).toEqual(["b", "b", "a", "a"]);
  });

  it("the split reads the first four bytes of the hash, big endian (ABH-1)", () => {
    fc.assert(
      fc.property(fc.constantFrom("holdout" as const, "split" as const), fc.uuid(), fc.uuid(), (purpose, unit, id) => {
        const hex = createHash("sha256").update(`${purpose}:${unit}:${id}`).digest("hex").slice(0, 8);
        expect(bucket(purpose, unit, id)).toBe(Number.parseInt(hex, 16) % 10_000);
      }),
    );
  });

  it("the split keeps all subscribers in the holdout when it grows (ABH-2)", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 0, max: 98 }), (id, percentage) => {
        if (isHeldOut(job, id, percentage)) expect(isHeldOut(job, id, percentage + 1)).toBe(true);
        if (armOf(job, id, percentage) === "a") expect(armOf(job, id, percentage + 1)).toBe("a");
      }),
    );
  });
});
