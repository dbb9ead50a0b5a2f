// E-mail by Amazon SES: our own MIME source, with tags that its events return (D-EMAIL).
import { GetEmailIdentityCommand, SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import type { CredentialsFor } from "../contract/credentials.ts";
import { TIMEOUT_MS } from "../egress/egress.ts";
import { onAbort, withTimeLimit } from "../egress/time-limit.ts";
import type { Deps } from "../kernel/deps.ts";
import {
  type Addresses,
  accepted,
  type Outcome,
  type Outgoing,
  rejected,
  retryable,
  throttled,
  unverified,
  type Verification,
} from "./provider.ts";

type Email = CredentialsFor<"email">;

/** The sending rate, and the quota of a day. */
const THROTTLED = new Set(["LimitExceededException", "Throttling", "ThrottlingException", "TooManyRequestsException"]);
/** Our own credentials, which says nothing of the mail. */
const EXPIRED = new Set(["ExpiredToken", "ExpiredTokenException"]);
const UNREACHED = new Set(["EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND"]);
const NO_ANSWER = Symbol("no answer");

interface SesError extends Error {
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

export interface Ses {
  send(credentials: Email, message: Outgoing<Addresses["email"]>, source: string): Promise<Outcome>;
  verify(credentials: Email): Promise<Verification>;
}

export function openSes(deps: Pick<Deps, "aws" | "clock">): Ses {
  // One attempt: SES has no idempotency token, so a second one may send a second mail (docs/decisions/0010).
  const client = deps.aws(SESv2Client, { maxAttempts: 1 });

  const inTime = <T>(send: (options: { abortSignal: AbortSignal }) => Promise<T>) =>
    withTimeLimit(deps.clock, TIMEOUT_MS, (abortSignal) =>
      Promise.race([onAbort(abortSignal, NO_ANSWER), send({ abortSignal })]),
    );

  return {
    send: async ({ from_email, configuration_set }, { tenant, job, subscriber, address, at }, source) => {
      const tags = { tenant, job, subscriber, ...(at !== undefined && { at: String(at) }) };
      const command = new SendEmailCommand({
        FromEmailAddress: from_email,
        Destination: { ToAddresses: [address.email] },
        Content: { Raw: { Data: Buffer.from(source) } },
        EmailTags: Object.entries(tags).map(([Name, Value]) => ({ Name, Value })),
        ...(configuration_set && { ConfigurationSetName: configuration_set }),
      });
      try {
        const answer = await inTime((options) => client.send(command, options));
        return answer === NO_ANSWER ? { status: "unknown", reason: "no answer in time" } : accepted(answer.MessageId);
      } catch (error) {
        return outcomeOf(errorOf(error));
      }
    },
    verify: async ({ from_email }) => {
      const domain = from_email.slice(from_email.lastIndexOf("@") + 1);
      let last = unverified(`SES does not know ${from_email} nor ${domain}.`);
      for (const EmailIdentity of [from_email, domain]) {
        const command = new GetEmailIdentityCommand({ EmailIdentity });
        try {
          const answer = await inTime((options) => client.send(command, options));
          if (answer === NO_ANSWER) return unverified("SES did not answer in time.", true);
          if (answer.VerifiedForSendingStatus) return { ok: true };
          last = unverified(`SES has not verified ${EmailIdentity} for sending.`);
        } catch (error) {
          const failure = errorOf(error);
          if (failure.name === "NotFoundException") continue;
          return unverified(failure.message, outcomeOf(failure).status !== "rejected");
        }
      }
      return last;
    },
  };
}

/** The SDK throws nothing else. */
const errorOf = (error: unknown) => error as SesError;

function outcomeOf({ name, code, $metadata }: SesError): Outcome {
  const status = $metadata?.httpStatusCode;
  if (THROTTLED.has(name) || status === 429) return throttled(name);
  if (name === "ServiceUnavailable" || EXPIRED.has(name) || status === 503) return retryable(name);
  if (status !== undefined && status >= 400 && status < 500) return rejected(name);
  if (status === undefined && code !== undefined && UNREACHED.has(code)) return retryable(code);
  return { status: "unknown", reason: code ?? name };
}
