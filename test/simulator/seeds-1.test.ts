// The simulator's seeds of every run: the first half of those that call the stand-ins straight.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 1, seeds: 200 });
