// The OpenAPI 3.1 document, derived from the declarations.
import type { Credential } from "../../shared/http/access.ts";
import type { Deprecation } from "../../shared/http/deprecation.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import { methodNames, pascal } from "../../shared/http/operation-names.ts";
import { byText } from "../../shared/kernel/order.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { namedShapes, type Shapes, schemasOf } from "./components.ts";
import { type Contents, type Operation, operationsOf } from "./contents.ts";
import { described } from "./descriptions.ts";
import { errorSchemas, refusalsOf } from "./errors.ts";
import { exampleOf } from "./examples.ts";
import { grammars } from "./grammars.ts";
import { schemaOf } from "./json-schema.ts";
import { overview } from "./overview.ts";
import { headersOf, pathParameters, queryParameters } from "./parameters.ts";
import { type CodeSample, samplesOf } from "./samples.ts";
import { webhookOperations } from "./webhooks.ts";

export const VERSION = "1.0.0";

const securitySchemes: Record<Credential, object> = {
  sdk: {
    type: "apiKey",
    in: "header",
    name: "X-SDK-Key",
    description:
      "The workspace's publishable SDK key. A workspace may demand `X-User-Hash` beside it, in calls that name a user.",
  },
  server: { type: "http", scheme: "bearer", description: "A server key, `service_srv_…`, with scopes." },
  dashboard: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "An access token of a member." },
  agent: { type: "http", scheme: "bearer", description: "An agent key, `service_mcp_…`, for `/v1/mcp` alone." },
};

/** Who may call, in words, with the permission or scope that is required. */
function callersOf({ credentials, permission, scope }: Endpoint["access"]): string {
  if (credentials.length === 0) return "Public: it requires no credential.";
  const callers = [
    credentials.includes("sdk") && "apps, with the SDK key",
    credentials.includes("server") && (scope ? `servers, with the scope \`${scope}\`` : "servers, with any server key"),
    credentials.includes("dashboard") &&
      (permission ? `members, with the permission \`${permission}\`` : "members of any role"),
    credentials.includes("agent") && "agents, with an agent key",
  ].filter(Boolean);
  return `For ${callers.join("; ")}.`;
}

interface Response {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: JsonSchema; example?: unknown; examples?: Record<string, { value: unknown }> }>;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: true;
  "x-deprecated"?: Deprecation;
  "x-codeSamples"?: CodeSample[];
  security: Record<string, never[]>[];
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema; [more: string]: unknown }[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema; example?: unknown }> };
  responses: Record<string, Response | { $ref: string }>;
}

export interface OpenApi {
  openapi: string;
  info: object;
  servers: object[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: Record<string, object>;
  components: {
    securitySchemes: object;
    headers: object;
    responses: Record<string, Response>;
    schemas: Record<string, JsonSchema>;
  };
}

const requestId = { "X-Request-Id": { $ref: "#/components/headers/XRequestId" } };

export async function openApiOf(contents: Contents): Promise<OpenApi> {
  const operations = operationsOf(contents);
  const shapes = namedShapes(operations, Object.keys({ ...errorSchemas, ...grammars }));
  const schemas = Object.fromEntries(
    Object.entries({ ...errorSchemas, ...grammars, ...schemasOf(shapes, "output") }).map(([name, schema]) => [
      name,
      described(schema, [name]),
    ]),
  );
  const names = new Map(contents.groups.map((group) => [group.name, methodNames(group)]));
  const responses: OpenApi["components"]["responses"] = {};
  const paths: OpenApi["paths"] = {};
  for (const operation of operations) {
    const [method = "", path = ""] = routeKeyOf(operation.endpoint.route).split(" ");
    const name = names.get(operation.group)?.get(operation.endpoint.route) ?? "open";
    const object = operationOf(operation, name, { shapes, schemas });
    for (const [status, { name: key, response }] of refusalsOf(operation.endpoint)) {
      responses[key] = response;
      object.responses[status] = { $ref: `#/components/responses/${key}` };
      const reply = operation.endpoint.shape.replies?.[status]?.returns;
      const { schema } = response.content["application/json"]!;
      if (reply)
        object.responses[status] = {
          ...response,
          content: { "application/json": { schema: { oneOf: [schema, schemaOf(reply, "output", shapes)] } } },
        };
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: object };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Engagement messaging service",
      version: VERSION,
      summary: "Messages to your users, with a ledger of every send.",
      description: await overview(contents),
      contact: { name: "Whoever runs this deployment" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      {
        url: "{base_url}",
        description: "Where the service runs, as `npm start` or the deployment says",
        variables: { base_url: { default: "http://127.0.0.1:3000" } },
      },
    ],
    tags: [...contents.groups, contents.stream].map(({ name, about }) => ({ name, description: about })),
    paths,
    webhooks: webhookOperations(),
    components: {
      securitySchemes,
      headers: {
        XRequestId: { description: "Names this request in our logs.", schema: { type: "string" } },
        RetryAfter: { description: "Whole seconds to wait.", schema: { type: "integer", minimum: 0 } },
        IdempotentReplayed: {
          description: "The first answer to this key, again.",
          schema: { const: "true", type: "string" },
        },
        ...(operations.some(({ endpoint }) => endpoint.shape.deprecated) && announcementHeaders),
      },
      responses: Object.fromEntries(Object.entries(responses).sort(byText(([status]) => status))),
      schemas,
    },
  };
}

interface DocumentParts {
  shapes: Shapes;
  schemas: Readonly<Record<string, JsonSchema>>;
}

function operationOf({ group, endpoint, isStream }: Operation, name: string, found: DocumentParts): OperationObject {
  const { access, shape } = endpoint;
  const id = group + pascal(name);
  const notes = [
    shape.deprecated && `Deprecated since ${shape.deprecated.since}, gone from ${shape.deprecated.sunset} on.`,
    shape.deprecated?.successor && `\`${shape.deprecated.successor}\` takes its place.`,
    shape.description,
    callersOf(access),
    access.agents && `A tool of agents, with the scope \`${access.agents}\`.`,
    access.feature && `Needs a plan with \`${access.feature}\`.`,
  ].filter(Boolean);
  const parameters = [...pathParameters(endpoint), ...queryParameters(endpoint, isStream), ...headersOf(endpoint)];
  const object: OperationObject = {
    operationId: id,
    tags: [group],
    summary: shape.summary,
    description: notes.join("\n\n"),
    ...(shape.deprecated && { deprecated: true as const, "x-deprecated": shape.deprecated }),
    security: access.credentials.map((credential) => ({ [credential]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(shape.body && {
      requestBody: { required: true, content: { "application/json": bodyOf(endpoint, found, id) } },
    }),
    ...(shape.form && {
      requestBody: { required: true, content: { "multipart/form-data": formOf(endpoint, found, id) } },
    }),
    ...(shape.raw !== undefined && {
      requestBody: {
        required: true,
        content: {
          [shape.raw]: {
            schema: shape.rawFields ? described(schemaOf(shape.rawFields, "input"), [`${id}Body`]) : { type: "object" },
            ...(shape.example?.body && { example: shape.example.body }),
          },
        },
      },
    }),
    responses: successesOf(endpoint, found, isStream, id),
  };
  return { ...object, "x-codeSamples": samplesOf(sampledOf({ group, endpoint, isStream }, name, object)) };
}

function sampledOf({ group, endpoint, isStream }: Operation, name: string, object: OperationObject) {
  const [verb = "", path = ""] = routeKeyOf(endpoint.route).split(" ");
  const [content] = Object.entries(object.requestBody?.content ?? {});
  return {
    group,
    method: isStream || endpoint.shape.text || endpoint.access.credentials.includes("agent") ? undefined : name,
    verb,
    path,
    credentials: endpoint.access.credentials,
    parameters: object.parameters ?? [],
    body: content && { type: content[0], example: content[1].example },
  };
}

function bodyOf({ shape }: Operation["endpoint"], { schemas }: DocumentParts, id: string) {
  const schema = described(schemaOf(shape.body!, "input"), [`${id}Body`]);
  return { schema, example: shape.example?.body ?? exampleOf(schema, schemas) };
}

function formOf({ shape: { form, example } }: Operation["endpoint"], { schemas }: DocumentParts, id: string) {
  const { part, fields, isOptional } = form!;
  const { properties, required = [], ...rest } = schemaOf(fields, "input");
  const file: JsonSchema = { type: "string", contentMediaType: "application/octet-stream" };
  const whole = {
    ...rest,
    properties: { ...properties, [part]: file },
    required: [...required, ...(isOptional ? [] : [part])],
  };
  const schema = described(whole, [`${id}Body`]);
  const sample = { ...(exampleOf(schema, schemas) as object), [part]: "the bytes of the file" };
  return { schema, example: { ...sample, ...example?.body } };
}

function successesOf(
  { shape }: Operation["endpoint"],
  { shapes, schemas }: DocumentParts,
  isStream: boolean,
  id: string,
) {
  const status = shape.status ?? (shape.returns || shape.text || isStream ? 200 : 204);
  const description = isStream ? "The stream, open for up to 90 seconds" : "Done";
  const success: Response = { description, headers: { ...requestId, ...(shape.deprecated && announcement) } };
  if (isStream && shape.returns) {
    const frame = schemaOf(shape.returns, "output", shapes);
    const schema = { type: "string", contentMediaType: "application/json", contentSchema: frame };
    success.content = { "text/event-stream": { schema: { ...schema, description: "Each `data:` is one of these" } } };
  } else if (shape.text) {
    const type = shape.text.type.split(";")[0]!;
    success.content = { [type]: { schema: { type: type === "application/json" ? "object" : "string" } } };
  } else if (shape.returns) {
    const schema = described(schemaOf(shape.returns, "output", shapes), [`${id}Answer`]);
    const example = shape.example?.returns ?? exampleOf(schema, schemas, { whole: true });
    success.content = { "application/json": { schema, example } };
  }
  const replay = { ...success, description: "The first answer again", headers: { ...success.headers, ...replayed } };
  const found = { ...success, description: "It was known, and is brought up to date" };
  const replies = Object.entries(shape.replies ?? {}).map(
    ([other, { description: said, returns }]): [string, Response] => [
      other,
      {
        description: said,
        headers: success.headers!,
        ...(returns && {
          content: { "application/json": { schema: described(schemaOf(returns, "output", shapes), [`${id}Answer`]) } },
        }),
      },
    ],
  );
  return {
    ...Object.fromEntries(replies),
    [status]: success,
    ...(shape.idempotent && { 200: replay }),
    ...(shape.upserts && { 200: found }),
  };
}

const announcementHeaders = {
  Deprecation: { description: "Since when it is known that this goes (RFC 9745).", schema: { type: "string" } },
  Sunset: { description: "When it goes (RFC 8594).", schema: { type: "string" } },
  Link: { description: "What takes its place, as `successor-version`.", schema: { type: "string" } },
};
const announcement = Object.fromEntries(
  Object.keys(announcementHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

const replayed = { "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" } };
