// The pages of files about people: one file, because they share more with each other than with the rest.
import { View as Exports } from "./exports/index.tsx";
import { View as Import } from "./import/index.tsx";
import { View as Suppressions } from "./suppressions/index.tsx";

export const views = { Exports, Import, Suppressions };
