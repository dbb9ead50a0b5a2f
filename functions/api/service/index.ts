// The service itself: its health, and the reference of its API.

import { brotliDecompressSync } from "node:zlib";
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { release } from "../../../shared/runtime/resources.ts";
import { platformRead } from "../../../shared/store/context.ts";
import { SweepItem } from "../../../shared/store/platform-items.ts";
import { packedGuides } from "./guides.gen.ts";
import { packedOpenApi } from "./openapi.gen.ts";
import { type Guide, pageOf, pagePolicy } from "./page.ts";

/** Only a deployment changes the reference. */
const CACHE_SECONDS = 300;

const endpoint = endpoints({ credentials: [], effect: "read", uses: [] });

let unpacked: string | undefined;
/** The document is compressed in the bundle, and unpacked at the first request for it. */
const openApi = (): string => {
  unpacked ??= brotliDecompressSync(Buffer.from(packedOpenApi, "base64")).toString();
  return unpacked;
};

const guides = (): Guide[] => JSON.parse(brotliDecompressSync(Buffer.from(packedGuides, "base64")).toString());

export const service = group("service", "Health, and the reference of the API.", [
  endpoint(
    "GET /healthz",
    { uses: [platformRead, release] },
    {
      summary: "Whether the service can reach its table, which version it is and in which region it keeps its data",
      returns: v.object({
        status: v.literal("ok"),
        version: v.string(),
        /** Of the repository that was deployed; `unknown` without Git. */
        commit: v.string(),
        region: v.pipe(v.string(), v.description("The AWS region of all data; `local` on a laptop")),
      }),
      errors: ["SERVICE_UNAVAILABLE"],
    },
    async ({ platform, release }) => {
      await platform.get(SweepItem, {}, { eventual: true });
      return { status: "ok" as const, ...release };
    },
  ),

  endpoint(
    "GET /openapi.json",
    {},
    {
      summary: "This description, as OpenAPI 3.1",
      text: { type: "application/json", headers: { "access-control-allow-origin": "*" } },
      cacheSeconds: CACHE_SECONDS,
    },
    async () => openApi(),
  ),

  endpoint(
    "GET /docs",
    {},
    {
      summary: "The documentation: guides, and this description, on one page",
      text: { type: "text/html; charset=utf-8", headers: { "content-security-policy": pagePolicy } },
      cacheSeconds: CACHE_SECONDS,
    },
    async () => pageOf(openApi(), guides()),
  ),
]);
