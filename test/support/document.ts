// The published description, as it is in the tree: that it is fresh is proven by test/openapi.test.ts.
import { readFileSync } from "node:fs";
import type { OpenApi, OperationObject } from "../../docs/generate/openapi.ts";
import { routeKeyOf } from "../../shared/http/endpoint.ts";

export const document: OpenApi = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));

/** What a document says of a route. @param route as declared, with its parameters after colons */
export function operationOf(route: string, { paths }: OpenApi = document): OperationObject {
  const [method = "", path = ""] = routeKeyOf(route).split(" ");
  return paths[path]![method.toLowerCase()]!;
}
