// The second half of the simulator's seeds that run through the SDK in every test run.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 451, seeds: 8, viaSdk: true, profileOf: (seed) => (seed % 5 === 0 ? "storm" : "firstLine") });
