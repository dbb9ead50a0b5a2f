// Preloaded before Amazon's runtime client: replaces its native part, which a streaming function hardly needs.
import { registerHooks } from "node:module";

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "./rapid-client.node" ? { url: import.meta.url, shortCircuit: true } : next(specifier, context),
});

/** Buffered answers; a streaming function has none. */
export function done(id: string): never {
  throw new Error(`${id} was answered whole, not as a stream.`);
}

/** Before the client ends the process: an error that no handler caught. */
export function error(id: string, body: string): void {
  process.stderr.write(`${id} broke off: ${body}\n`);
}
