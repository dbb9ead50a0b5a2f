// Journeys to begin with, by the rules with which the service judges them.
import { expect, it } from "vitest";
import { graphOf, starters } from "../../console/pages/journeys/starters.ts";
import { graphProblems } from "../../shared/rules/journey-paths.ts";

it.each([undefined, ...starters])("the steps of $name can be activated (CON-3)", (starter) => {
  const graph = graphOf(starter, ["channel"]);
  expect(graphProblems({ ...graph })).toEqual([]);
});
