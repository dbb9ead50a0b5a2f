// The simulator's seeds of every run: the second half of those that call the stand-ins straight.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 201, seeds: 200 });
