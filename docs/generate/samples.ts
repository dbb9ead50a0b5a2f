// An example request of every operation, as curl and as code of the SDK: `x-codeSamples` of the document.
import { camel } from "../../shared/http/operation-names.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";

interface SampledEndpoint {
  group: string;
  /** The method of the SDK; undefined where the SDK has none. */
  method: string | undefined;
  verb: string;
  path: string;
  credentials: readonly string[];
  parameters: readonly { name: string; in: string; required: boolean; example?: unknown; schema: JsonSchema }[];
  body: { type: string; example?: unknown } | undefined;
}

export interface CodeSample {
  lang: "curl" | "TypeScript";
  source: string;
}

export const samplesOf = (operation: SampledEndpoint): CodeSample[] => [
  { lang: "curl", source: curlOf(operation) },
  ...(operation.method === undefined ? [] : [{ lang: "TypeScript" as const, source: codeOf(operation) }]),
];

const HEADERS: Record<string, string> = {
  sdk: "X-SDK-Key: $SDK_KEY",
  server: "Authorization: Bearer $SERVER_KEY",
  dashboard: "Authorization: Bearer $ACCESS_TOKEN",
  agent: "Authorization: Bearer $AGENT_KEY",
};

const shell = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A parameter of the query that is required, or that the declaration shows by an example. */
const isShown = (one: SampledEndpoint["parameters"][number]) => one.in === "query" && one.example !== undefined;

function curlOf({ verb, path, credentials, parameters, body }: SampledEndpoint): string {
  const query = parameters
    .filter(isShown)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join("&");
  const target = path.replaceAll(/\{(\w+)\}/g, "$$$1") + (query && `?${query}`);
  const [credential = ""] = credentials;
  const method = { GET: "", HEAD: " -I" }[verb] ?? ` -X ${verb}`;
  return [
    `curl${method} "$BASE_URL${target}"`,
    ...(HEADERS[credential] ? [`-H "${HEADERS[credential]}"`] : []),
    ...bodyOf(body),
  ].join(" \\\n  ");
}

function bodyOf(body: SampledEndpoint["body"]): string[] {
  if (body?.example === undefined) return [];
  if (body.type === "application/json")
    return ["-H 'Content-Type: application/json'", `-d ${shell(JSON.stringify(body.example))}`];
  if (body.type === "application/x-www-form-urlencoded")
    return Object.entries(body.example as object).flatMap(([name, values]) =>
      [values].flat().map((value) => `--data-urlencode ${name}=${shell(String(value))}`),
    );
  return Object.entries(body.example as object).map(([name, value]) =>
    /file/.test(name) ? `-F ${name}=@${name}` : `-F ${name}=${shell(String(value))}`,
  );
}

/** A value as the code of a program. */
function literal(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([name, one]) => {
    const text = literal(one, deeper);
    return isList ? text : `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ${text}`;
  });
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const pad = isList || parts.length === 0 ? "" : " ";
  const line = `${open}${pad}${parts.join(", ")}${pad}${close}`;
  if (indent.length + line.length <= 90 && !line.includes("\n")) return line;
  return `${open}\n${parts.map((part) => `${deeper}${part},\n`).join("")}${indent}${close}`;
}

function codeOf({ group, method, verb, parameters, body }: SampledEndpoint): string {
  const query = parameters.filter(isShown);
  const given = [
    ...parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name),
    ...(body ? [body.type === "application/json" ? literal(body.example) : "form"] : []),
    ...(query.length > 0 ? [literal(Object.fromEntries(query.map(({ name, example }) => [name, example])))] : []),
  ];
  const call = `await service.${camel(group)}.${method}(${given.join(", ")});`;
  const head = body && body.type !== "application/json" ? formOf(body.example) : "";
  return head + (verb === "DELETE" ? call : `const answer = ${call}`);
}

const formOf = (example: unknown): string =>
  `const form = new FormData();\n${Object.entries((example ?? {}) as object)
    .map(([name, value]) => `form.set(${JSON.stringify(name)}, ${/file/.test(name) ? name : JSON.stringify(value)});\n`)
    .join("")}`;

const INDENT = "  ";

interface SampledOperation {
  operationId: string;
  "x-codeSamples"?: CodeSample[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

/** test/samples.gen.ts: the code of every operation, so that the compiler checks it against the SDK. */
export function samplesModule({ paths }: { paths: Record<string, Record<string, SampledOperation>> }): string {
  const functions = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, "x-codeSamples": samples = [], parameters = [], requestBody }) => {
      const code = samples.find(({ lang }) => lang === "TypeScript")?.source;
      if (code === undefined) return [];
      const files = Object.keys(requestBody?.content["multipart/form-data"]?.schema.properties ?? {})
        .filter((name) => /file/.test(name))
        .map((name) => `${name}: Blob`);
      const ids = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `${name}: string`);
      const given = ["service: Endpoints", ...ids, ...files].join(", ");
      const [, call] = /^(?:const answer = )?(await [^;]*);$/.exec(code) ?? [];
      const body = call ?? `{\n${`${code}\nreturn answer;`.replaceAll(/^/gm, INDENT)}\n}`;
      return [`export const ${operationId} = async (${given}) => ${body};`];
    });
  return `// Generated by \`npm run docs\`: the code samples of docs/openapi.json, for the compiler. Never edited.
import type { Endpoints } from "../sdk/src/types.gen.ts";

${functions.join("\n")}
`;
}
