// The audit page has words for every operation that the trail records.
import { expect, it } from "vitest";
import { saidBy, textOf } from "../../console/pages/settings/audit-sentences.ts";
import { groups } from "../../functions/index.ts";
import { actionsOf } from "../../shared/http/auditing.ts";

/** What the trail records: whatever changes something, and what is left out of it where a consent is stated. */
const audited = groups.flatMap((group) => {
  const actions = actionsOf(group);
  return group.endpoints
    .filter(({ access: { effect } }) => effect === "write" || effect === "own")
    .filter(({ access: { credentials, unaudited = [], consents } }) => {
      const isRecorded = credentials.some((credential) => credential !== "sdk" && !unaudited.includes(credential));
      return isRecorded || consents !== undefined;
    })
    .map(({ route }) => actions.get(route)!);
});

it("every operation that changes something is told in words (RDA-23)", () => {
  const named = audited.filter((action) => textOf(action));
  expect(named).toEqual(audited);
  expect(["campaigns.release", "journeys.createMigration", "subscribers.bulkDelete"].map(textOf)).toEqual([
    { done: "released", tried: "release", what: "the campaign", isNamed: true },
    { done: "moved", tried: "move", what: "runs of the journey", isNamed: true },
    { done: "erased", tried: "erase", what: "people", isNamed: false },
  ]);
});

it("a dry run is not told as an import, and an invitation names whom it is for (RDA-23)", () => {
  const saidOf = (dry_run: boolean) => textOf(saidBy({ action: "imports.importLists", status: 202, dry_run }))?.what;

  expect([saidOf(true), saidOf(false)]).toEqual(["the dry run of the import", "the import"]);
  expect(textOf("team.createInvitation")).toMatchObject({ what: "the colleague", isNamed: true });
});
