// The tools of agents, from the endpoints that are marked for them and their operations in the OpenAPI document.
import type { ToolSpec } from "../../functions/api/mcp/tools.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import { byText } from "../../shared/kernel/order.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { type Contents, operationsOf } from "./contents.ts";
import type { OpenApi, OperationObject } from "./openapi.ts";

type Tool = Omit<ToolSpec, "inputSchema"> & { inputSchema: JsonSchema };

const COMPONENT = "#/components/schemas/";

/** `campaignsGetReport` → `campaigns_get_report` */
const snake = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What a component may take in the list of tools; a longer one is a resource of its own. */
const MAX_INLINE = 600;

/** What the endpoint checks, and a model does not need. */
const LEFT_OUT = new Set([
  "additionalProperties",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "minimum",
  "maximum",
  "title",
  "format",
]);

const firstSentence = (text: string): string => /^.*?[.:](?=\s|$)/s.exec(text)?.[0].replace(/[.:]$/, "") ?? text;

/** A component as a resource: with all that it refers to. */
function standalone(name: string, { components }: OpenApi): JsonSchema & { $defs?: Record<string, JsonSchema> } {
  const $defs: Record<string, JsonSchema> = {};
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value === "string" && value.startsWith(COMPONENT)) {
      const other = value.slice(COMPONENT.length);
      if (!$defs[other]) {
        $defs[other] = {};
        $defs[other] = visit(components.schemas[other]) as JsonSchema;
      }
      return `#/$defs/${other}`;
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, visit(one)]));
  };
  const found = visit(components.schemas[name]) as JsonSchema;
  return Object.keys($defs).length === 0 ? found : { ...found, $defs };
}

/**
 * A schema for the list of tools: one sentence a field, short components in place, and of long grammars where to read
 * them, because a model pays for every character of the list.
 */
function listed(schema: JsonSchema, document: OpenApi, grammars: Set<string>): JsonSchema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    const { $ref, description, ...rest } = value as Record<string, unknown>;
    const said = typeof description === "string" ? firstSentence(description) : undefined;
    if (typeof $ref === "string") return refered($ref.slice(COMPONENT.length), said);
    // A property may have one of these names: then it is a schema.
    const fields = Object.entries(rest)
      .filter(([key, one]) => !LEFT_OUT.has(key) || (typeof one === "object" && one !== null))
      .filter(([key]) => !(key === "type" && (Array.isArray(rest.enum) || typeof rest.const === "string")))
      .filter(([key, one]) => !(key === "examples" && Array.isArray(one)))
      .map(([key, one]) => [key, visit(one)]);
    return { ...Object.fromEntries(fields), ...(said && { description: said }) };
  };
  const refered = (name: string, said: string | undefined): unknown => {
    const component = document.components.schemas[name] as JsonSchema & { description?: string };
    const isShort = JSON.stringify(standalone(name, document)).length <= MAX_INLINE;
    if (isShort) return { ...(visit(component) as object), ...(said && { description: said }) };
    grammars.add(name);
    const about = said ?? firstSentence(component.description ?? name);
    return {
      ...(component.type && { type: component.type }),
      description: `${about}. Grammar: resource grammar:${name}`,
    };
  };
  return visit(schema) as JsonSchema;
}

/** Parameters of path and query, and the fields of the body, side by side; a body without fields is `body`. */
function inputOf(
  endpoint: Endpoint,
  { parameters = [], requestBody }: OperationObject,
  document: OpenApi,
  grammars: Set<string>,
): JsonSchema {
  const named = parameters.filter((parameter) => parameter.in === "path" || parameter.in === "query");
  const body = requestBody?.content["application/json"]?.schema;
  const isFlat = (endpoint.shape.body as { entries?: object } | undefined)?.entries !== undefined;
  const whole = body ? { properties: { body }, required: ["body"] } : {};
  const { properties: bodyFields = {}, required: bodyRequired = [] } = isFlat ? (body ?? {}) : whole;
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
  return listed(
    {
      type: "object",
      properties: { ...properties, ...bodyFields },
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    document,
    grammars,
  );
}

function toolsOf(contents: Contents, document: OpenApi, grammars: Set<string>): Tool[] {
  return operationsOf(contents).flatMap(({ endpoint }): Tool[] => {
    const { route, access, shape } = endpoint;
    const scope = access.agents;
    if (!scope) return [];
    const [method = "", path = ""] = routeKeyOf(route).split(" ");
    const operation = document.paths[path]![method.toLowerCase()]!;
    const tool = {
      title: shape.summary,
      description: shape.description ? firstSentences(shape.description) : "",
      scope,
      route,
      inputSchema: inputOf(endpoint, operation, document, grammars),
    };
    if (scope === "write:send") return planAndConfirm(tool);
    const readOnlyHint = access.effect === "read";
    // Of a tool that only reads, the others say nothing.
    const annotations: ToolSpec["annotations"] = readOnlyHint
      ? { readOnlyHint }
      : { readOnlyHint, destructiveHint: false, openWorldHint: false };
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

const MAX_DESCRIPTION = 240;

/** As many whole sentences as fit. */
function firstSentences(text: string): string {
  const sentences = text.replaceAll("\n", " ").match(/.*?[.!?](?=\s|$)\s*|.+$/g) ?? [text];
  let said = "";
  for (const sentence of sentences) if (said === "" || (said + sentence).length <= MAX_DESCRIPTION) said += sentence;
  return said.trim();
}

/** functions/api/mcp/tools.gen.ts. A component that several grammars name is written once, because the bundle carries it. */
export function toolsFile(contents: Contents, document: OpenApi): string {
  const grammars = new Set<string>();
  const lines = toolsOf(contents, document, grammars).map((tool) => `  ${JSON.stringify(tool)},`);
  const shared = new Map<string, string>();
  const named = [...grammars].sort().map((name) => {
    const { $defs = {}, ...own } = standalone(name, document);
    for (const [other, schema] of Object.entries({ ...$defs, [name]: own })) shared.set(other, JSON.stringify(schema));
    return `  ${name}: ${JSON.stringify(Object.keys($defs).filter((other) => other !== name))},`;
  });
  const defs = [...shared].sort(byText(([name]) => name)).map(([name, text]) => `  ${name}: ${text},`);
  return `// Generated by \`npm run docs\`; never edited.
import type { ToolSpec } from "./tools.ts";

/** The schemas of grammars, and of what they refer to. */
export const schemas: Readonly<Record<string, object>> = {
${defs.join("\n")}
};

/** The grammars that are resources, with the schemas that each refers to. */
export const grammars: Readonly<Record<string, readonly string[]>> = {
${named.join("\n")}
};

export const toolSpecs: readonly ToolSpec[] = [
${lines.join("\n")}
];
`;
}
