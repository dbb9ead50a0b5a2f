// The dependencies of a function beside the store's: its access to the outside.
import type { OutboundDeps } from "../egress/recording.ts";
import type { Providers } from "../providers/provider.ts";

export interface FunctionDeps extends OutboundDeps {
  /** Replaces all providers of messages: the local service has its own. */
  providers?: Providers;
}
