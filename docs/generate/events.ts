// One sample event per function, for `npm run invoke` and `sam local`, with a message that its schema accepts.
import type { DynamoDBStreamEvent, SQSEvent } from "aws-lambda";
import type * as v from "valibot";
import { publishSite } from "../../infra/publish-site.ts";
import { proxyEvent } from "../../local/gateway-event.ts";
import { ACCOUNT, REGION } from "../../local/lambda.ts";
import { queues } from "../../shared/contract/messages.ts";
import type { Credential } from "../../shared/http/access.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import type { Ids } from "../../shared/kernel/ids.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import type { Contents } from "./contents.ts";
import { EXAMPLE_ID, exampleOf } from "./examples.ts";
import { schemaOf } from "./json-schema.ts";

const SENT_AT = Date.parse("2026-11-20T12:00:00.000Z");

/** Placeholder of a credential; `npm run invoke` replaces it by the demo workspace's. */
const credentialHeaders: Record<Credential, Record<string, string>> = {
  sdk: { "x-sdk-key": "{sdk_key}" },
  server: { authorization: "Bearer {server_key}" },
  dashboard: { authorization: "Bearer {access_token}" },
  agent: { authorization: "Bearer {agent_key}" },
};

const still = {
  clock: { now: () => SENT_AT, sleep: () => Promise.resolve() },
  ids: { uuid: () => EXAMPLE_ID, uuidAt: () => EXAMPLE_ID, bytes: (n: number) => Buffer.alloc(n, 7) } as Ids,
};

/** Function name → its sample event. */
export function sampleEvents({ groups, workers, stream, operator }: Contents): Map<string, unknown> {
  const events = new Map<string, unknown>();
  for (const { name, endpoints } of groups) {
    const first = endpoints.find(standsAlone) ?? endpoints[0];
    if (first) events.set(`api-${name}`, requestEvent(first));
  }
  events.set("fallback", gatewayEvent("GET", "/nowhere", {}, "$default"));
  const subscriber_id = "{subscriber_id}";
  events.set(stream.name, {
    ...requestEvent(stream.endpoint, true),
    rawQueryString: `subscriber_id=${subscriber_id}`,
    queryStringParameters: { subscriber_id },
  });
  events.set(publishSite.name, deploymentEvent);
  events.set(operator.name, exampleOf(schemaOf(operator.input, "input"), {}));
  for (const worker of workers)
    events.set(worker.name, worker.eventSource === "queue" ? queueEvent(worker.name) : tableEvent());
  return events;
}

/** What CloudFormation sends to a custom resource. */
const deploymentEvent = {
  RequestType: "Update",
  ResponseURL: "https://example.com/answer",
  StackId: `arn:aws:cloudformation:${REGION}:${ACCOUNT}:stack/Engagement/${EXAMPLE_ID}`,
  RequestId: EXAMPLE_ID,
  LogicalResourceId: "SiteFiles",
} satisfies v.InferInput<typeof publishSite.input>;

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** A request that succeeds in an empty workspace: it names no ids and has no file. */
const standsAlone = ({ route, shape }: Endpoint): boolean =>
  !route.includes("/:") && !shape.form && !UUID.test(JSON.stringify(shape.example ?? {}));

/** A request to an endpoint, with the first credential that it accepts. */
export function requestEvent({ route, access, shape }: Endpoint, functionUrl = false) {
  const [method = "", path = ""] = route.replaceAll(/:\w+/g, EXAMPLE_ID).split(" ");
  const [kind] = access.credentials;
  const fields = shape.query ? exampleOf(schemaOf(shape.query, "input"), {}) : {};
  const query = new URLSearchParams({ ...(fields as object), ...shape.example?.query }).toString();
  const body = shape.body && (shape.example?.body ?? exampleOf(schemaOf(shape.body, "input"), {}));
  const headers = {
    host: "api.example.com",
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(kind && credentialHeaders[kind]),
  };
  const parameters = Object.fromEntries([...route.matchAll(/:(\w+)/g)].map(([, name]) => [name!, EXAMPLE_ID]));
  const target = query ? `${path}?${query}` : path;
  return gatewayEvent(method, target, headers, functionUrl ? "$default" : routeKeyOf(route), {
    body,
    parameters,
    functionUrl,
  });
}

function gatewayEvent(
  method: string,
  path: string,
  headers: Record<string, string>,
  routeKey: string,
  { body, ...target }: { body?: unknown; parameters?: Record<string, string>; functionUrl?: boolean } = {},
) {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const request = { method, path, headers, body: bytes, sourceIp: "203.0.113.7" };
  return proxyEvent(still, request, { routeKey, ...target });
}

function queueEvent(queue: keyof typeof queues): SQSEvent {
  const message = exampleOf(schemaOf(queues[queue].message, "input"), {});
  return {
    Records: [
      {
        messageId: EXAMPLE_ID,
        receiptHandle: "sample",
        body: JSON.stringify(message),
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: String(SENT_AT),
          SenderId: "AIDASAMPLE",
          ApproximateFirstReceiveTimestamp: String(SENT_AT),
        },
        messageAttributes: {},
        md5OfBody: "",
        eventSource: "aws:sqs",
        eventSourceARN: `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue}`,
        awsRegion: REGION,
      },
    ],
  };
}

/** A stream record of a row that needs a reaction: a queued job. */
function tableEvent(): DynamoDBStreamEvent {
  const key = { pk: { S: `T#${EXAMPLE_ID}#JOB` }, sk: { S: EXAMPLE_ID } };
  const image = {
    ...key,
    id: { S: EXAMPLE_ID },
    status: { S: "queued" },
    created_at: { S: new Date(SENT_AT).toISOString() },
    [tableDefinition.reactAttribute]: { S: "job" },
  };
  return {
    Records: [
      {
        eventID: "sample",
        eventName: "INSERT",
        eventVersion: "1.1",
        eventSource: "aws:dynamodb",
        awsRegion: REGION,
        dynamodb: {
          ApproximateCreationDateTime: SENT_AT / 1_000,
          Keys: key,
          NewImage: image,
          SequenceNumber: "1",
          SizeBytes: 1,
          StreamViewType: "NEW_AND_OLD_IMAGES",
        },
        eventSourceARN: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/engagement/stream/2026-11-20T12:00:00.000`,
      },
    ],
  };
}
