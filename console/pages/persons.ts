// The pages of who got what, and why: one file, because they share more with each other than with the rest.
import * as Activity from "./activity/index.tsx";
import * as People from "./people/index.tsx";

export const views = { Activity, People };
