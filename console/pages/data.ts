// The pages of many people at once, in files and by rules: one file, because they share more with each other than with the rest.
import * as Exports from "./exports/index.tsx";
import * as Import from "./import/index.tsx";
import * as Segments from "./segments/index.tsx";
import * as Suppressions from "./suppressions/index.tsx";

export const views = { Exports, Import, Segments, Suppressions };
