// A Lambda environment: one bundle in a thread of its own, with its own env variables, called by messages.
import { parentPort, workerData } from "node:worker_threads";
import { awslambda, responseStream } from "../../../local/lambda-stream.ts";

export interface Ask {
  id: number;
  event: unknown;
  streaming: boolean;
}
export type Reply =
  | { id: number; kind: "answer"; answer: unknown }
  | { id: number; kind: "failure"; message: string }
  | { id: number; kind: "start"; status: number; headers: Record<string, string | string[]> }
  | { id: number; kind: "chunk"; text: string };

// Where the platform offers it, before the bundle is loaded.
Object.assign(globalThis, { awslambda });
const { handler } = (await import((workerData as { file: string }).file)) as {
  handler: (...given: unknown[]) => Promise<unknown>;
};
const port = parentPort!;
const reply = (message: Reply) => port.postMessage(message);
const context = { awsRequestId: "request", callbackWaitsForEmptyEventLoop: true };

port.on("message", async ({ id, event, streaming }: Ask) => {
  const { stream } = responseStream({
    start: (status, headers) => reply({ id, kind: "start", status, headers }),
    write: (chunk) => {
      reply({ id, kind: "chunk", text: chunk.toString() });
      return true;
    },
    end: () => undefined,
  });
  try {
    const answer = await (streaming ? handler(event, stream, context) : handler(event, context));
    reply({ id, kind: "answer", answer: answer ?? null });
  } catch (error) {
    reply({ id, kind: "failure", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
