// Compares a response of the service with the published document.
import type { OpenApi, OperationObject } from "../../docs/generate/openapi.ts";
import { faultsOf } from "./json-schema.ts";
import type { Answer } from "./world.ts";

interface Found {
  route: string;
  operation: OperationObject;
}

/** The operation that a request reaches: a literal segment comes before a parameter. */
function operationAt({ paths }: OpenApi, request: string): Found | undefined {
  const [method = "", target = ""] = request.split(" ");
  const given = target.split("?", 1)[0]!.split("/");
  const fitting = Object.entries(paths).flatMap(([path, methods]) => {
    const segments = path.split("/");
    const operation = methods[method.toLowerCase()];
    const fits =
      segments.length === given.length && segments.every((one, i) => one.startsWith("{") || one === given[i]);
    return operation && fits
      ? [{ route: `${method} ${path}`, operation, literal: segments.filter((one) => !one.startsWith("{")).length }]
      : [];
  });
  return fitting.sort((a, b) => b.literal - a.literal)[0];
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
