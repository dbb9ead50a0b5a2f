// Bundled instead of the SDK's cache of discovered endpoints, which takes 8 KB in every client: we call no such
// operation.
export function EndpointCache(): void {
  // A new client makes one, and uses it only if discovery is switched on.
}
