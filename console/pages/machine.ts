// The pages of the service on this machine: one file, because they share more with each other than with the rest.
import * as Operator from "./operator/index.tsx";
import * as Outbox from "./outbox/index.tsx";

export const views = { Operator, Outbox };
