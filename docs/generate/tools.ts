// The tools of agents, from the endpoints that are marked for them and their operations in the OpenAPI document.

import type { AgentScope } from "../../shared/contract/roles.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { type Contents, operationsOf } from "./contents.ts";
import type { OpenApi, OperationObject } from "./openapi.ts";

interface Tool {
  name: string;
  title: string;
  description: string;
  scope: AgentScope;
  route: string;
  inputSchema: JsonSchema;
  annotations: Record<string, boolean>;
}

const COMPONENT = "#/components/schemas/";

/** `campaignsGetReport` → `campaigns_get_report` */
const snake = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A schema that stands alone: the components that it names are its `$defs`. */
function alone(schema: JsonSchema, { components }: OpenApi): JsonSchema {
  const defs: Record<string, JsonSchema> = {};
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value === "string" && value.startsWith(COMPONENT)) {
      const name = value.slice(COMPONENT.length);
      if (!defs[name]) {
        defs[name] = {};
        defs[name] = visit(components.schemas[name]) as JsonSchema;
      }
      return `#/$defs/${name}`;
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, visit(one)]));
  };
  const found = visit(schema) as JsonSchema;
  return Object.keys(defs).length === 0 ? found : { ...found, $defs: defs };
}

/** Parameters of path and query, and the fields of the body, side by side; a body without fields is `body`. */
function inputOf(endpoint: Endpoint, { parameters = [], requestBody }: OperationObject, document: OpenApi): JsonSchema {
  const named = parameters.filter((one) => one.in === "path" || one.in === "query");
  const body = requestBody?.content["application/json"]?.schema;
  const isFlat = (endpoint.shape.body as { entries?: object } | undefined)?.entries !== undefined;
  const bodyFields = body && isFlat ? (body.properties ?? {}) : body ? { body } : {};
  const bodyRequired = body && isFlat ? (body.required ?? []) : body ? ["body"] : [];
  const properties = Object.fromEntries(
    named.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(typeof description === "string" && { description }) },
    ]),
  );
  const taken = Object.keys(bodyFields).filter((name) => Object.hasOwn(properties, name));
  if (taken.length > 0)
    throw new Error(`${endpoint.route} has ${taken.join(", ")} both in its path or query and its body.`);
  const required = [...named.filter((one) => one.required).map(({ name }) => name), ...bodyRequired];
  return alone(
    {
      type: "object",
      properties: { ...properties, ...bodyFields },
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    document,
  );
}

function toolsOf(contents: Contents, document: OpenApi): Tool[] {
  return operationsOf(contents).flatMap(({ endpoint }): Tool[] => {
    const { route, access, shape } = endpoint;
    const scope = access.agents;
    if (!scope) return [];
    const [method = "", path = ""] = routeKeyOf(route).split(" ");
    const operation = document.paths[path]![method.toLowerCase()]!;
    const tool = {
      title: shape.summary,
      description: [shape.summary, shape.description].filter(Boolean).join(". "),
      scope,
      route,
      inputSchema: inputOf(endpoint, operation, document),
    };
    if (scope === "write:send") return planAndConfirm(tool);
    const readOnlyHint = access.effect === "read";
    const annotations = { readOnlyHint, destructiveHint: false, openWorldHint: false };
    return [{ name: snake(operation.operationId), ...tool, annotations }];
  });
}

/** A send has two tools: what is confirmed is what was planned. */
const planAndConfirm = (send: Omit<Tool, "name" | "annotations">): Tool[] => [
  {
    ...send,
    name: "plan_send",
    title: "Plan a send: who would get it, what it says, what it costs",
    description:
      "Nothing is sent. Returns counts, samples, cost and a token that is valid for 10 minutes. Show the plan to a " +
      "person before confirm_send. Of idempotency_key there is no need.",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
  {
    ...send,
    name: "confirm_send",
    title: "Send what was planned",
    description:
      "Takes the token of plan_send. Refused if the content or the audience has changed since. A repeated call returns " +
      "the same send.",
    inputSchema: {
      type: "object",
      properties: { token: { type: "string", description: "Of plan_send" } },
      required: ["token"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  },
];

/** functions/api/mcp/tools.gen.ts. A component that several tools name is written once, because the bundle carries it. */
export function toolsFile(contents: Contents, document: OpenApi): string {
  const shared = new Map<string, string>();
  const lines = toolsOf(contents, document).map(({ inputSchema: { $defs = {}, ...schema }, ...tool }) => {
    for (const [name, one] of Object.entries($defs as Record<string, JsonSchema>))
      shared.set(name, JSON.stringify(one));
    const names = Object.keys($defs as object).map((name) => `${JSON.stringify(name)}: defs.${name}`);
    const input = JSON.stringify(schema).slice(0, -1) + (names.length > 0 ? `,"$defs":{${names.join(",")}}}` : "}");
    return `  ${JSON.stringify(tool).slice(0, -1)},"inputSchema":${input}},`;
  });
  const defs = [...shared].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, text]) => `  ${name}: ${text},`);
  return `// Generated by \`npm run docs\`; never edited.
import type { ToolSpec } from "./tools.ts";

const defs = {
${defs.join("\n")}
};

export const toolSpecs: readonly ToolSpec[] = [
${lines.join("\n")}
];
`;
}
