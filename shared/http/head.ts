// HEAD, which the gateway routes to the handler of the GET (E14 in docs/edge.md).
import type { ApiHandler } from "./serve.ts";

/** The answer to a HEAD: the headers of the GET, with the length of the body that is left out. */
export const withoutBody =
  (run: ApiHandler): ApiHandler =>
  async (event, context) => {
    const { body = "", isBase64Encoded, ...answer } = await run(event, context);
    const length = Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8");
    return { ...answer, headers: { ...answer.headers, "content-length": String(length) } };
  };
