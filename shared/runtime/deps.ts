// What a function depends on beside the store's deps: how it reaches the outside.
import type { OutboundDeps } from "../egress/recording.ts";
import type { Providers } from "../providers/provider.ts";

export interface FunctionDeps extends OutboundDeps {
  /** Replaces all providers of messages: the local service has its own. */
  providers?: Providers;
}
