// The second half of the simulator's seeds that call the stand-ins directly in every test run.
import { testSeeds } from "./slice.ts";

testSeeds({ from: 18, seeds: 16 });
