// The AWS clients of local functions, and the address of the service.
import { awsClients } from "../shared/aws.ts";
import type { Aws } from "../shared/deps.ts";
import { type Hooks, requestHandler, type Services, unsigned } from "./aws/protocol.ts";
import { REGION } from "./lambda.ts";

export const HOST = "http://127.0.0.1";

/** Middleware whose headers and log the embedded services do not read: a third of a request's processor time. */
const UNREAD = ["getUserAgentMiddleware", "recursionDetectionMiddleware", "loggerMiddleware"];

const hasMiddleware = (client: object): client is { middlewareStack: { remove(name: string): boolean } } =>
  "middlewareStack" in client;

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
  return (clientClass, own) => {
    const client = clients(
      clientClass,
      clientClass.name === "S3Client" ? { ...s3, ...own } : { signer: unsigned, ...own },
    );
    if (hasMiddleware(client)) for (const name of UNREAD) client.middlewareStack.remove(name);
    return client;
  };
}

async function addressOf(baseUrl: string) {
  const { protocol, hostname, port } = new URL(baseUrl);
  return { protocol, hostname, path: "/", ...(port && { port: Number(port) }) };
}
