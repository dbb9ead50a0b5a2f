// The only file that makes AWS SDK clients for a deployed function.
import type { Aws, Client, ClientClass } from "../kernel/deps.ts";

/**
 * Settings that a client would otherwise look for in the environment and in files at its first call. Without `info` and
 * `error` in the logger, calls do not copy their input and output for a logger that ignores them.
 */
const settled = {
  logger: { debug: () => undefined, warn: console.warn },
  maxAttempts: 5,
  retryMode: "standard",
  defaultsMode: "standard",
  authSchemePreference: [],
  accountIdEndpointMode: "preferred",
  endpointDiscoveryEnabledProvider: async () => false,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  useQueueUrlAsEndpoint: false,
  userAgentAppId: "engagement-messaging",
};

/** One client per class, made on first use; the region and credentials are those of the function. */
export function awsClients(configuration: object = {}): Aws {
  const made = new Map<ClientClass<Client>, Client>();
  return <C extends Client>(clientClass: ClientClass<C>, options: object = {}): C => {
    let client = made.get(clientClass) as C | undefined;
    if (!client) {
      client = new clientClass({ ...settled, ...configuration, ...options });
      if ("config" in client && client.config instanceof Object) giveFastShape(client.config);
      made.set(clientClass, client);
    }
    return client;
  };
}

/**
 * The SDK copies the configuration of its client three times for each request. V8 keeps that object as a dictionary,
 * because it was built one property at a time, and the copies took 40 % of a request's processor time. An object that
 * is used as a prototype gets a fast shape.
 */
function giveFastShape(configuration: object): void {
  for (const _name in Object.create(configuration)) return;
}
