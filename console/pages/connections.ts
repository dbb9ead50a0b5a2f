// The pages of what the workspace is connected to: one file, because they share more with each other than with the rest.
import * as Channels from "./channels/index.tsx";
import * as Webhooks from "./webhooks/index.tsx";

export const views = { Channels, Webhooks };
