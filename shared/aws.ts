// The only file that makes AWS SDK clients for a deployed function.
import type { Aws, Client, ClientClass } from "./deps.ts";

/**
 * What a client would otherwise look for in the environment and in files at its first call. Without `info` and `error`
 * in the logger, no call copies its input and output for a logger that keeps neither.
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
  return <C extends Client>(clientClass: ClientClass<C>, own: object = {}): C => {
    let client = made.get(clientClass) as C | undefined;
    if (!client) {
      client = new clientClass({ ...settled, ...configuration, ...own });
      made.set(clientClass, client);
    }
    return client;
  };
}
