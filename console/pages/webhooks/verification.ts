// What a receiver needs to verify a request, as code that can be pasted.

export const verification = `import { verifyWebhook } from "engagement-sdk/webhook";

// rawBody: the bytes of the request, before a parser has changed them.
const isOurs = verifyWebhook(secret, rawBody, request.headers["x-service-signature"]);`;
