// What the console derives from the API: who may do what, what it weighs, what each reason is called.
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { access } from "../../console/app/access.gen.ts";
import { judge } from "../../console/app/judge.ts";
import { countSentence } from "../../console/app/sentences.ts";
import { buildConsole } from "../../console/build.ts";
import { groups } from "../../functions/index.ts";
import { type Permission, permissions, roles } from "../../shared/contract/roles.ts";
import { type Feature, planHas, planNames } from "../../shared/rules/plans.ts";

it("every role and plan is judged as the API judges it (CON-5)", () => {
  const dashboard = groups
    .flatMap(({ endpoints }) => endpoints)
    .filter(({ access: { credentials, permission, feature, effect } }) => {
      const isLimited = permission !== undefined || feature !== undefined || effect === "write";
      return isLimited && credentials.includes("dashboard");
    });
  expect(Object.keys(access)).toHaveLength(dashboard.length);
  for (const [operation, { permission, feature }] of Object.entries(access))
    for (const role of roles)
      for (const plan of planNames) {
        const holders: readonly string[] = permission ? permissions[permission as Permission] : roles;
        const allowed = holders.includes(role) && (!feature || planHas(plan, feature as Feature));
        const verdict = judge(operation, { role, readOnly: false, plan });
        expect([operation, role, plan, verdict.allowed]).toEqual([operation, role, plan, allowed]);
        expect(verdict.reason === "").toBe(allowed);
      }
  expect(judge("subscribers.list", { role: "viewer", readOnly: true, plan: "free" }).allowed).toBe(true);
  expect(judge("campaigns.release", { role: "owner", readOnly: true, plan: "pro" }).allowed).toBe(false);
  expect(judge("campaigns.release", { role: "analyst", readOnly: false, plan: "pro" }).reason).toBe(
    "Only owners, admins and marketers may send.",
  );
});

it("while a workspace is suspended nothing is written but what the API takes then (CON-5, ERR-6)", () => {
  const writes = groups
    .flatMap(({ endpoints }) => endpoints)
    .filter(({ access: { effect, credentials } }) => effect === "write" && credentials.includes("dashboard"));
  const isOpen = (operation: string) =>
    judge(operation, { role: "owner", readOnly: false, plan: "enterprise", isSuspended: true }).allowed;
  const open = Object.keys(access).filter((operation) => access[operation]!.effect && isOpen(operation));
  expect(open).toHaveLength(writes.filter((write) => write.access.openWhileSuspended).length);
  expect(isOpen("campaigns.create")).toBe(false);
  expect(isOpen("billing.update")).toBe(true);
});

it("a person who waits on one channel is counted once (CON-3)", () => {
  const counts = { total: 5, sent: 3, deferred: 2, skipped: 1, held_out: 1 };
  expect(countSentence(counts, { no_consent: 1 })).toBe(
    "Of 5 people: 3 people get it, 2 of them at least in part after quiet hours; 1 is held out as control group; " +
      "1 does not: no consent for this channel.",
  );
});

it("where everybody gets it, nobody is told apart (CON-3)", () => {
  const everyone = { total: 96, sent: 96, deferred: 0, held_out: 0 };
  expect(countSentence(everyone, {})).toBe("All 96 people get it.");
  expect(countSentence({ ...everyone, total: 1, sent: 1 }, {})).toBe("1 person gets it.");
});

describe("weight", async () => {
  const files = await buildConsole();
  const sizes = [...files].map(([path, { content }]) => [path, gzipSync(content).length] as const);
  const total = (pick: (path: string) => boolean) =>
    sizes.filter(([path]) => pick(path)).reduce((sum, [, bytes]) => sum + bytes, 0);

  it("the console keeps its budgets: first script 45 KB, a later one 27 KB, styles 15 KB, everything 264 KB, compressed (CON-1)", () => {
    const page = files.get("/console/index.html")!.content.toString();
    expect(total((path) => path.endsWith(".js") && page.includes(path))).toBeLessThan(45_000);
    // The chart of journeys and those of the figures are among them.
    const later = sizes.filter(([path]) => path.endsWith(".js") && !page.includes(path));
    expect(later.length).toBeGreaterThan(10);
    expect(later.filter(([, bytes]) => bytes >= 27_000)).toEqual([]);
    expect(total((path) => path.endsWith(".css"))).toBeLessThan(15_000);
    expect(total(() => true)).toBeLessThan(264_000);
  });

  it("the console holds no React, and names no other site (CON-1)", () => {
    const texts = [...files].filter(([path]) => path.endsWith(".js")).map(([, { content }]) => content.toString());
    for (const text of texts) {
      expect(text).not.toMatch(/react-dom|__SECRET_INTERNALS/);
      expect(text.match(/https?:\/\/(?!(www\.w3\.org|localhost|(login\.)?example\.com))[a-z]/g) ?? []).toEqual([]);
    }
  });
});
