// The simulator's seeds that run through the SDK in every test run: one of each scenario that is brief.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 402, seeds: 4, viaSdk: true, profileOf: (seed) => (seed % 5 === 0 ? "storm" : "firstLine") });
