// The published description, as it is in the tree: that it is fresh is proven by test/openapi.test.ts.
import { readFileSync } from "node:fs";
import type { OpenApi } from "../../docs/generate/openapi.ts";

export const document: OpenApi = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));
