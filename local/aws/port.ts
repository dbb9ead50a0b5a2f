// The embedded AWS services on a loopback port, for the AWS CLI, a database browser or a conformance suite.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { handleAwsRequest, type Services } from "./protocol.ts";
import { QUEUE_HOST } from "./sqs/queues.ts";

export interface AwsPort {
  readonly url: string;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Fits an object of S3; batches of DynamoDB are far smaller. */
const BODY_LIMIT = 128 * 1024 * 1024;
const DATABASE_LIMIT = 16 * 1024 * 1024;

export async function startAwsPort(
  services: Services,
  port: number,
  log: (message: string, details: { error: string }) => void,
): Promise<AwsPort> {
  const server = createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      const isTooLong =
        body && body.length > DATABASE_LIMIT && /^DynamoDB/.test(String(request.headers["x-amz-target"]));
      if (!body || isTooLong) return void response.writeHead(413, { connection: "close" }).end();
      const { pathname, searchParams } = new URL(request.url ?? "/", `http://${HOST}`);
      const answer = await handleAwsRequest(services, {
        method: request.method ?? "POST",
        path: pathname,
        query: queryOf(searchParams),
        headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
        body,
      });
      response.writeHead(answer.status, answer.headers).end(withHost(answer.body, request.headers));
    } catch (error) {
      log("A request to the embedded AWS services failed.", { error: String(error) });
      response.destroy();
    }
  });
  await once(server.listen(port, HOST), "listening");
  const listening = (server.address() as AddressInfo).port;
  return {
    url: `http://${HOST}:${listening}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const URL_ANSWERS = /^AmazonSQS\.(CreateQueue|GetQueueUrl|ListQueues)$/;
const HOST_FORM = /^[\w.:[\]-]+$/;

/** SDKs send to the host of a queue's URL: it is the one that they asked. */
function withHost<B>(body: B, { host = "", "x-amz-target": target }: IncomingHttpHeaders): B | string {
  if (typeof body !== "string" || !URL_ANSWERS.test(String(target)) || !HOST_FORM.test(host)) return body;
  return body.replaceAll(`"${QUEUE_HOST}`, `"http://${host}/`);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function queryOf(parameters: URLSearchParams): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length > 1 ? values : values[0]!;
  }
  return query;
}
