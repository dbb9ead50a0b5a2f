// Bundled instead of the cache of the SDK's endpoint discovery, 8 KB in every client: no operation of ours discovers.
export function EndpointCache(): void {
  // The client makes one when it is created, and uses it only where discovery is switched on.
}
