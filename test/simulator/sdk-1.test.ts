// The simulator's seeds of every run that go the whole way of the SDK: the first half.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 401, seeds: 50, viaSdk: true, profileOf: (seed) => (seed % 5 === 0 ? "storm" : "firstLine") });
