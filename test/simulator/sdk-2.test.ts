// The second half of the simulator's seeds that run through the SDK in every test run.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 452, seeds: 4, viaSdk: true, profileOf: (seed) => (seed % 5 === 0 ? "storm" : "firstLine") });
