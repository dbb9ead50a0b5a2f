// The pages on which messages are written and released: one file, because they share more with each other than with the rest.
import * as Campaigns from "./campaigns/index.tsx";
import * as Content from "./content/index.tsx";
import * as Send from "./send/index.tsx";

export const views = { Campaigns, Content, Send };
