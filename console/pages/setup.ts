// The pages by which a workspace is set up: one file, because they share more with each other than with the rest.
import * as Channels from "./channels/index.tsx";
import * as Settings from "./settings/index.tsx";
import * as Webhooks from "./webhooks/index.tsx";

export const views = { Channels, Settings, Webhooks };
