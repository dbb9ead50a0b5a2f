// The AWS clients of local functions, and the address of the service.
import { awsClients } from "../shared/aws.ts";
import type { Aws } from "../shared/deps.ts";
import { type Hooks, requestHandler, type Services, unsigned } from "./aws/protocol.ts";
import { REGION } from "./lambda.ts";

export const HOST = "http://127.0.0.1";

/** Real SDK clients whose requests reach the embedded services without a socket. */
export function localClients(
  services: Services,
  hooks?: Hooks,
  baseUrl: () => string = () => HOST,
  settings: object = {},
): Aws {
  const clients = awsClients({
    ...settings,
    region: REGION,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    requestHandler: requestHandler(services, hooks),
  });
  // Signed links and forms lead back to this process, which serves the bucket of imports beside the gateway.
  const s3 = {
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    endpoint: () => addressOf(baseUrl()),
  };
  return (clientClass, own) =>
    clients(clientClass, clientClass.name === "S3Client" ? { ...s3, ...own } : { signer: unsigned, ...own });
}

async function addressOf(baseUrl: string) {
  const { protocol, hostname, port } = new URL(baseUrl);
  return { protocol, hostname, path: "/", ...(port && { port: Number(port) }) };
}
