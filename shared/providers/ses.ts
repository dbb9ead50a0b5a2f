// E-mail by Amazon SES: the source as we made it, tagged with what its events are told by (D-EMAIL).
import { GetEmailIdentityCommand, SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import type { Clock } from "../clock.ts";
import type { Deps } from "../deps.ts";
import { DONE, TIMEOUT_MS } from "../egress/egress.ts";
import type { Addresses, CredentialsFor, Outcome, Outgoing, Verification } from "./provider.ts";
import { rejected, retryable } from "./provider.ts";

type Email = CredentialsFor<"email">;

const AGAIN = new Set([
  "LimitExceededException",
  "ServiceUnavailable",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
]);
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
  // One try: SES knows no idempotency token, and a second try may be a second mail (docs/decisions/0010).
  const client = deps.aws(SESv2Client, { maxAttempts: 1 });

  const ask = (command: SendEmailCommand | GetEmailIdentityCommand) =>
    inTime(deps.clock, (abortSignal) => client.send(command as SendEmailCommand, { abortSignal }));

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
        const answer = await ask(command);
        if (answer === NO_ANSWER) return { status: "unknown", reason: "no answer in time" };
        return { status: "accepted", ...(answer.MessageId && { providerId: answer.MessageId }) };
      } catch (error) {
        return outcomeOf(error as SesError);
      }
    },
    verify: async ({ from_email }) => {
      const domain = from_email.slice(from_email.lastIndexOf("@") + 1);
      let last: Verification = { ok: false, error: `SES does not know ${from_email} nor ${domain}.` };
      for (const EmailIdentity of [from_email, domain]) {
        try {
          const answer = await ask(new GetEmailIdentityCommand({ EmailIdentity }));
          if (answer === NO_ANSWER) return { ok: false, error: "SES did not answer in time.", mayPass: true };
          if ((answer as { VerifiedForSendingStatus?: boolean }).VerifiedForSendingStatus) return { ok: true };
          last = { ok: false, error: `SES has not verified ${EmailIdentity} for sending.` };
        } catch (error) {
          const { name, message } = error as SesError;
          if (name === "NotFoundException") continue;
          const mayPass = outcomeOf(error as SesError).status !== "rejected";
          return { ok: false, error: message, ...(mayPass && { mayPass }) };
        }
      }
      return last;
    },
  };
}

async function inTime<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof NO_ANSWER> {
  const [limit, done] = [new AbortController(), new AbortController()];
  const late = clock.sleep(TIMEOUT_MS, done.signal).then((): typeof NO_ANSWER => {
    if (!done.signal.aborted) limit.abort();
    return NO_ANSWER;
  });
  try {
    return await Promise.race([work(limit.signal), late]);
  } finally {
    done.abort(DONE);
  }
}

function outcomeOf({ name, code, $metadata }: SesError): Outcome {
  const status = $metadata?.httpStatusCode;
  if (AGAIN.has(name) || status === 429 || status === 503) return retryable(name);
  if (status !== undefined && status >= 400 && status < 500) return rejected(name);
  if (status === undefined && code !== undefined && UNREACHED.has(code)) return retryable(code);
  return { status: "unknown", reason: code ?? name };
}
