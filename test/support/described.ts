// Compares a response of the service with the published document.
import type { OpenApi, OperationObject } from "../../docs/generate/openapi.ts";
import { faultsOf } from "./json-schema.ts";
import type { Answer } from "./world.ts";

interface DescribedRoute {
  route: string;
  operation: OperationObject;
}

interface Route extends DescribedRoute {
  segments: string[];
}

const indexes = new WeakMap<OpenApi, Map<string, Route[]>>();

/** The operations of a document by method and number of segments, those with most literal segments first. */
function indexOf(document: OpenApi): Map<string, Route[]> {
  const known = indexes.get(document);
  if (known) return known;
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      segments: path.split("/"),
      operation,
    })),
  );
  const literal = ({ segments }: Route) => segments.filter((segment) => !segment.startsWith("{")).length;
  const index = Map.groupBy(
    routes.sort((a, b) => literal(b) - literal(a)),
    ({ route, segments }) => `${route.split(" ", 1)[0]} ${segments.length}`,
  );
  indexes.set(document, index);
  return index;
}

/** The operation that a request reaches: a literal segment comes before a parameter. */
function operationAt(document: OpenApi, request: string): DescribedRoute | undefined {
  const [method = "", target = ""] = request.split(" ");
  const given = target.split("?", 1)[0]!.split("/");
  return indexOf(document)
    .get(`${method.toUpperCase()} ${given.length}`)
    ?.find(({ segments }) => segments.every((segment, i) => segment.startsWith("{") || segment === given[i]));
}

/** @returns nothing where the answer is as described, or where the request reaches no endpoint. */
export function faultsOfAnswer(document: OpenApi, { status, headers, body }: Answer, request: string): string[] {
  const found = operationAt(document, request);
  if (!found) return [];
  const { route, operation } = found;
  const given = operation.responses[status];
  if (!given) return [`${route} answered ${status} ${JSON.stringify(body)}, which is not described`];
  const response = "$ref" in given ? document.components.responses[given.$ref.split("/").at(-1)!]! : given;
  const [type, media] = Object.entries(response.content ?? {})[0] ?? [];
  const faults = media && typeof body !== "string" ? faultsOf(media.schema, body, document.components.schemas) : [];
  const code = (body as { code?: string } | undefined)?.code;
  if (status >= 400 && media?.examples && code && !Object.hasOwn(media.examples, code))
    faults.push(`has the code ${code}, which is not described`);
  if (!media && body !== "") faults.push("has a body that is not described");
  if (type && !String(headers["content-type"]).startsWith(type))
    faults.push(`is ${headers["content-type"]}, not ${type}`);
  return faults.map((fault) => `${route} ${status}: ${fault}`);
}
