// Smart channel as a pure rule: which class comes first, and why (SMA-2 to SMA-5, D-ARB, AMB-96).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byRank, classesOf, type Engagements, rankClasses } from "../../shared/rules/arbitration.ts";
import { type ChannelType, channelClasses, channelTypes, classOf } from "../../shared/rules/channel-types.ts";
import type { Target } from "../../shared/rules/reach.ts";

const history = fc
  .record({ delivered: fc.nat(300), share: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ delivered, share }) => ({ delivered, engaged: Math.floor(delivered * share) }));
const engagements: fc.Arbitrary<Engagements> = fc
  .array(fc.tuple(fc.constantFrom(...channelClasses), history))
  .map((entries) => Object.fromEntries(entries));
const some = fc.uniqueArray(fc.constantFrom(...channelClasses), { minLength: 1 });
const known = fc.record({ personal: engagements, tenant: engagements });

describe("ranking", () => {
  it("ranks each reachable class once, whatever the order they are given in (SMA-2)", () => {
    fc.assert(
      fc.property(some, known, (classes, histories) => {
        const ranked = rankClasses(classes, histories);
        expect(ranked.map(({ class: one }) => one).sort()).toEqual([...classes].sort());
        expect(rankClasses(classes.toReversed(), histories)).toEqual(ranked);
        for (const [i, { score }] of ranked.slice(1).entries()) expect(ranked[i]!.score).toBeGreaterThanOrEqual(score);
      }),
    );
  });

  it("the source is personal from 5 deliveries, the workspace's from 100, else the default (SMA-4, SMA-5, D-ARB)", () => {
    fc.assert(
      fc.property(some, known, (classes, { personal, tenant }) => {
        for (const { class: one, source } of rankClasses(classes, { personal, tenant })) {
          const own = personal[one]?.delivered ?? 0;
          const all = tenant[one]?.delivered ?? 0;
          const ofOthers = all >= 100 ? "tenant" : "default";
          expect(source).toBe(own >= 5 ? "personal" : ofOthers);
        }
      }),
    );
  });

  it("one more answer never lowers a class (D-ARB)", () => {
    fc.assert(
      fc.property(some, known, fc.nat(5), (classes, { personal, tenant }, pick) => {
        const one = classes[pick % classes.length]!;
        const own = { delivered: personal[one]?.delivered ?? 5, engaged: (personal[one]?.engaged ?? 0) + 1 };
        const place = (mine: Engagements) =>
          rankClasses(classes, { personal: mine, tenant }).findIndex((ranked) => ranked.class === one);
        const before = place({ ...personal, [one]: { ...own, engaged: own.engaged - 1 } });
        expect(place({ ...personal, [one]: own })).toBeLessThanOrEqual(before);
      }),
    );
  });

  it("without any history the default order decides, and a score of 0.25 is what a newcomer has (D-ARB, AMB-96)", () => {
    const ranked = rankClasses(channelClasses.toReversed(), { personal: {}, tenant: {} });
    expect(ranked.map(({ class: one }) => one)).toEqual(["push", "email", "web_push", "chat_app", "sms", "in_app"]);
    expect(ranked.map(({ score }) => score)).toEqual([0.25, 0.249, 0.248, 0.247, 0.246, 0.245]);
  });

  it.each([
    ["at 4 deliveries the own history does not count", { delivered: 4, engaged: 4 }, "default", 0.249],
    ["at 5 it does", { delivered: 5, engaged: 5 }, "personal", 6 / 9],
    ["deliveries without answers lower a class", { delivered: 16, engaged: 0 }, "personal", 1 / 20],
  ])("%s (SMA-4, D-ARB)", (_, email, source, score) => {
    const [ranked] = rankClasses(["email"], { personal: { email }, tenant: {} });
    expect(ranked).toEqual({ class: "email", source, score });
  });

  it("targets follow their classes, and each class stands once (SMA-6)", () => {
    const channels = fc.uniqueArray(fc.constantFrom<ChannelType>(...channelTypes), { minLength: 1 });
    fc.assert(
      fc.property(channels, known, (types, histories) => {
        const targets: Target[] = types.map((channel) => ({ channel }));
        const classes = types.map(classOf);
        const ranked = rankClasses(classes, histories);
        const ordered = byRank(targets, ranked);
        expect(ordered).toHaveLength(targets.length);
        expect(classesOf(ordered).map(([first]) => classOf(first!.channel))).toEqual(ranked.map((one) => one.class));
      }),
    );
  });
});
