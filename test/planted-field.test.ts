// The recipe "Add a field to a stored item" of CONTRIBUTING.md, tried on campaigns: two lines, and the field is everywhere.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const plants = [
  ["shared/store/campaigns/items.ts", "holdout_percentage: v.number(),", "color: v.optional(v.string()),"],
  [
    "functions/api/campaigns/input.ts",
    "holdout_percentage: v.optional(Percentage(0), 0),",
    'color: v.optional(v.picklist(["red", "blue"])),',
  ],
] as const;
const PLANT = JSON.stringify(plants.map(([path, line, added]) => [path, line, `${line} ${added}`]));

it("a field of a campaign that is planted in two places is checked, stored, returned, copied, replaced and documented (F7)", () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--import",
      "./test/support/plant.ts",
      "test/support/planted-campaign.ts",
    ],
    { cwd: ROOT, encoding: "utf8", env: { ...process.env, PLANT, NODE_OPTIONS: "" } },
  );
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    refused: [422, ["color"]],
    colors: [
      [201, "red"],
      [200, "red"],
      [201, "red"],
      [200, "blue"],
      [200, null],
      [200, null],
    ],
    isInRequest: true,
    isInResponse: true,
  });
}, 120_000);

it("CONTRIBUTING.md names the two places", () => {
  const recipes = readFileSync(`${ROOT}CONTRIBUTING.md`, "utf8");
  expect(plants.map(([path]) => path).filter((path) => !recipes.includes(`\`${path}\``))).toEqual([]);
});
