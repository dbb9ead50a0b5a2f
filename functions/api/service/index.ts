// The service about itself: whether it is well, and what it offers.
import { brotliDecompressSync } from "node:zlib";
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { platformWrite } from "../../../shared/resources.ts";
import { platformKeys } from "../../../shared/store/keys.ts";
import { packedOpenApi } from "./openapi.gen.ts";
import { pageOf, pagePolicy } from "./page.ts";

/** A deployment changes it, nothing else does. */
const KEPT_SECONDS = 300;

const endpoint = endpoints({ credentials: [], effect: "read", uses: [platformWrite] });

let unpacked: string | undefined;
/** The document is compressed in the bundle, and unpacked at the first request for it. */
const openApi = (): string => {
  unpacked ??= brotliDecompressSync(Buffer.from(packedOpenApi, "base64")).toString();
  return unpacked;
};

export const service = group("service", "The service about itself.", [
  endpoint(
    "GET /healthz",
    {},
    {
      summary: "Whether the service can reach its table",
      returns: v.object({ status: v.literal("ok") }),
      errors: ["SERVICE_UNAVAILABLE"],
    },
    async ({ platform }) => {
      await platform.get(platformKeys.sweep(), { eventual: true });
      return { status: "ok" as const };
    },
  ),

  endpoint(
    "GET /openapi.json",
    {},
    {
      summary: "This description, as OpenAPI 3.1",
      text: { type: "application/json", headers: { "access-control-allow-origin": "*" } },
      cacheSeconds: KEPT_SECONDS,
    },
    async () => openApi(),
  ),

  endpoint(
    "GET /docs",
    {},
    {
      summary: "This description, as a page to read",
      text: { type: "text/html; charset=utf-8", headers: { "content-security-policy": pagePolicy } },
      cacheSeconds: KEPT_SECONDS,
    },
    async () => pageOf(openApi()),
  ),
]);
