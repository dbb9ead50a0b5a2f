// The documentation beside the gateway, as the edge serves it (docs/edge.md): built at the first request for it.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { guides } from "../docs/generate/guides.ts";
import { buildDocumentation, type SiteFile, type SiteFiles } from "../docs/site/build.ts";
import { pagePolicy } from "../docs/site/page.ts";
import { answerFile, type Gateway, type GatewayResponse, pathOf } from "./gateway.ts";
import type { GatewayRequest } from "./gateway-event.ts";

const DOCUMENT = new URL("../docs/openapi.json", import.meta.url);
const PATH = /^\/(?:docs(?:\/|$)|openapi\.json$)/;

let built: SiteFiles | undefined;
const files = (): SiteFiles => {
  built ??= buildDocumentation(JSON.parse(readFileSync(DOCUMENT, "utf8")), guides());
  return built;
};

/** The gateway together with the documentation, under one address. */
export function withDocumentation(gateway: Gateway): Gateway {
  return {
    ...gateway,
    handle: async (request) => {
      const path = pathOf(request.path);
      if (!PATH.test(path)) return gateway.handle(request);
      return answerFile(
        request,
        () => files().get(path),
        (file) => answer(request, file),
      );
    },
  };
}

/** How the edge compresses, by the name that clients accept. The best first; its own level of Brotli is not known. */
const encodings: readonly [name: string, encode: (content: Buffer) => Buffer][] = [
  ["br", (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
  ["gzip", (content) => gzipSync(content)],
];

function answer({ headers }: GatewayRequest, { content, type, cacheControl }: SiteFile): GatewayResponse {
  const accepted = String(headers["accept-encoding"] ?? "");
  const [encoding, encode] =
    encodings.find(([name]) => new RegExp(`\\b${name}\\b(?!;q=0(?:\\.0*)?(?:,|$))`).test(accepted)) ?? [];
  const body = encode ? encode(content) : content;
  return {
    status: 200,
    headers: {
      "content-type": type,
      "cache-control": cacheControl,
      "content-security-policy": pagePolicy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "access-control-allow-origin": "*",
      vary: "accept-encoding",
      ...(encoding && { "content-encoding": encoding }),
      "content-length": String(body.length),
    },
    body,
  };
}
