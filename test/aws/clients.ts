// What a function depends on, with real SDK clients: tests mock their `send`, or say what AWS answers over HTTP.
import { mockClient } from "aws-sdk-client-mock";
import type { Deps } from "../../shared/kernel/deps.ts";
import { idsFrom } from "../../shared/kernel/ids.ts";
import { requestRetries } from "../../shared/kernel/retries.ts";
import { awsClients } from "../../shared/runtime/aws.ts";
import { openRows, type Rows } from "../../shared/store/rows.ts";
import { spent, TableClient } from "../../shared/store/table-client.ts";

export const TABLE_NAME = "engagement";

export const NOW = Date.parse("2026-11-20T21:13:00Z");

interface AwsDeps extends Deps {
  /** Milliseconds of each pause. */
  pauses: number[];
}

/** @param configuration of every client */
export function awsDeps(env: Record<string, string>, configuration: object = {}): AwsDeps {
  const pauses: number[] = [];
  const sleep = async (ms: number) => {
    pauses.push(ms);
  };
  const clock = { now: () => NOW, sleep };
  let made = 0;
  const ids = { ...idsFrom((length) => Buffer.alloc(length, 255)), uuid: () => `id-${++made}` };
  const aws = awsClients({
    region: "eu-central-1",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    ...configuration,
  });
  return { aws, clock, ids, env, log: () => undefined, pauses };
}

/** An error as an SDK client throws it. */
export const failure = (name: string, more: object = {}): Error =>
  Object.assign(new Error(`${name}: in prose`), { name, $metadata: {}, ...more });

/** The raw table whose client is mocked: every command succeeds and says nothing, until a test says otherwise. */
export function mockedTable() {
  // A test of this process that ran before may have begun to count.
  spent.isCounted = false;
  const deps = awsDeps({ TABLE_NAME });
  const table = mockClient(deps.aws(TableClient));
  table.onAnyCommand().resolves({});
  const rows: Rows = openRows(deps)(() => true);
  return { deps, table, rows, sent: () => table.calls().map(({ args: [{ input }] }) => input) };
}

export interface HttpAnswer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** An answer of DynamoDB. */
export const ok = (body: object = {}): HttpAnswer => ({ status: 200, body: JSON.stringify(body) });

/** An error as DynamoDB words it. */
export const refusal = (name: string, status = 400, more: object = {}): HttpAnswer => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: `${name}: in prose`, ...more }),
});

/** Deps whose requests get these answers in turn: an error is a connection that broke. */
export function answeredDeps(env: Record<string, string>, answers: (HttpAnswer | Error)[]) {
  const requests: { operation: string; body: Record<string, unknown> }[] = [];
  const requestHandler = {
    handle: async ({ headers, body }: { headers: Record<string, string>; body: string }) => {
      requests.push({
        operation: headers["x-amz-target"]?.split(".")[1] ?? "",
        body: JSON.parse(Buffer.from(body).toString()),
      });
      const answer = answers[requests.length - 1];
      if (!answer) throw new Error("There is no further answer.");
      if (answer instanceof Error) throw answer;

      const json = { "content-type": "application/x-amz-json-1.0" };
      const response = { statusCode: answer.status, headers: answer.headers ?? json, body: Buffer.from(answer.body) };
      return { response };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    metadata: { handlerProtocol: "answered" },
  };
  const deps = awsDeps(env, { requestHandler });
  return { deps: { ...deps, aws: requestRetries(deps.aws, deps.clock, deps.ids).aws }, requests };
}
