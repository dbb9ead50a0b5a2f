// Deliveries of webhooks as their receiver checks them: each is signed with the secret of its endpoint (WHK-5, D-HOOKS).
import { createHash, createHmac } from "node:crypto";
import { type Body, DAY, SECOND } from "../model/kit.ts";

interface Endpoint {
  secret: string;
  previous?: string;
  rotated: number;
}

export interface Signatures {
  /** What an answer tells of secrets, and nothing after it. */
  learn(path: string, body: Body, now: number): void;
  check(delivery: { headers: Body; body: string }, now: number): void;
  /** Of deliveries that no endpoint has signed as it should. */
  wrong: Body[];
}

/** The signature of a body, by the specification. */
function signed(secret: string, body: string): string {
  const key = createHash("sha256").update(secret).digest("hex");
  return `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
}

export function openSignatures(): Signatures {
  const endpoints = new Map<string, Endpoint>();
  const wrong: Body[] = [];

  /** For 24 hours after a rotation both secrets sign; just at the end of them either is right. */
  const isBy = (
    { secret, previous, rotated }: Endpoint,
    { headers, body }: { headers: Body; body: string },
    now: number,
  ) => {
    const [own, before] = [headers["x-service-signature"], headers["x-service-signature-previous"]];
    if (own !== signed(secret, body)) return false;
    if (previous !== undefined && Math.abs(now - rotated - DAY) <= SECOND) return true;
    const isRecent = previous !== undefined && now < rotated + DAY;
    return isRecent ? before === signed(previous, body) : before === undefined;
  };

  return {
    wrong,
    learn: (path, body, now) => {
      if (!body?.secret) return;
      const id = body.id ?? path.split("/").at(-3);
      const previous = endpoints.get(id)?.secret;
      endpoints.set(id, { secret: body.secret, ...(previous && { previous }), rotated: now });
    },
    check: (delivery, now) => {
      const isSigned = [...endpoints.values()].some((endpoint) => isBy(endpoint, delivery, now));
      if (!isSigned) wrong.push({ at: now, ...delivery });
    },
  };
}
