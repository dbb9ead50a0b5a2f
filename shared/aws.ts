// The only file that makes AWS SDK clients for a deployed function.
import type { Aws, Client, ClientClass } from "./parts.ts";

/** One client per class, made on first use; the region and credentials are those of the function. */
export function awsClients(configuration: object = {}): Aws {
  const made = new Map<ClientClass<Client>, Client>();
  return <C extends Client>(clientClass: ClientClass<C>, own: object = {}): C => {
    let client = made.get(clientClass) as C | undefined;
    if (!client) {
      client = new clientClass({ useQueueUrlAsEndpoint: false, maxAttempts: 5, ...configuration, ...own });
      made.set(clientClass, client);
    }
    return client;
  };
}
