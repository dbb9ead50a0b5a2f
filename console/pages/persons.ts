// The pages of people, one by one and many at once, and of what they got: one file, because they share more with each other than with the rest.
import * as Activity from "./activity/index.tsx";
import * as Exports from "./exports/index.tsx";
import * as Import from "./import/index.tsx";
import * as People from "./people/index.tsx";
import * as Segments from "./segments/index.tsx";
import * as Suppressions from "./suppressions/index.tsx";

export const views = { Activity, Exports, Import, People, Segments, Suppressions };
