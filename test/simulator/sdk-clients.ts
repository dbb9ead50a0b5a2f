// Real SDK clients over the same hooks: for some seeds, to cover serialization and the SDK's own retries.
import { type Hooks, requestHandler, type Services, unsigned } from "../../local/aws/index.ts";
import { REGION } from "../../local/lambda.ts";
import type { Aws, Client } from "../../shared/kernel/deps.ts";
import { awsClients } from "../../shared/runtime/aws.ts";
import type { Kernel } from "./kernel.ts";

const MAX_ATTEMPTS = 5;

export function sdkClients(kernel: Kernel, services: Services, hooks: Hooks): Aws {
  const make = awsClients({
    region: REGION,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(services, hooks),
    retryStrategy: withoutPauses,
  });
  // The embedded S3 checks signatures.
  const s3 = { forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED", endpoint: "http://127.0.0.1" };
  const counted = new WeakMap<Client, Client>();
  return ((clientClass) => {
    const client = make(clientClass, clientClass.name === "S3Client" ? s3 : { signer: unsigned });
    if (!counted.has(client)) counted.set(client, countSends(client, kernel));
    return counted.get(client);
  }) as Aws;
}

/** While a send is under way and waits for no event, the kernel waits for it. */
const countSends = (client: Client, { outside }: Kernel): Client => ({
  send: async (command) => {
    outside.running++;
    try {
      return await client.send(command);
    } finally {
      outside.running--;
    }
  },
});

/** The standard strategy's verdicts without its real pauses: those of the simulation are virtual. */
const withoutPauses = {
  mode: "standard",
  acquireInitialRetryToken: async () => tokenOf(0),
  refreshRetryTokenForRetry: async ({ getRetryCount }: RetryToken, { errorType }: { errorType: string }) => {
    const count = getRetryCount() + 1;
    if (errorType === "CLIENT_ERROR" || count >= MAX_ATTEMPTS) throw new Error("No further attempt.");
    return tokenOf(count);
  },
  recordSuccess: () => undefined,
};

interface RetryToken {
  getRetryCount(): number;
  getRetryDelay(): number;
}

const tokenOf = (count: number): RetryToken => ({ getRetryCount: () => count, getRetryDelay: () => 0 });
