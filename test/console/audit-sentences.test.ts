// The audit page has words for every operation that the trail records.
import { expect, it } from "vitest";
import { access } from "../../console/app/access.gen.ts";
import { textOf } from "../../console/pages/settings/audit-sentences.ts";

it("every operation that changes something is told in words (RDA-23)", () => {
  const audited = Object.keys(access).filter((action) => ["write", "own"].includes(access[action]?.effect ?? ""));
  const named = audited.filter((action) => textOf(action));
  expect(named).toEqual(audited);
  expect(["campaigns.release", "journeys.createMigration", "subscribers.bulkDelete"].map(textOf)).toEqual([
    { done: "released", tried: "release", what: "the campaign", isNamed: true },
    { done: "moved", tried: "move", what: "runs of the journey", isNamed: true },
    { done: "erased", tried: "erase", what: "people", isNamed: false },
  ]);
});
