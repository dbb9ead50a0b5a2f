// Email by Amazon SES: our own MIME source, with tags that its events return (D-EMAIL).
import {
  GetAccountCommand,
  GetEmailIdentityCommand,
  SESv2Client,
  SendEmailCommand,
  type Tag,
} from "@aws-sdk/client-sesv2";
import type { CredentialsFor } from "../contract/credentials.ts";
import { TIMEOUT_MS } from "../egress/egress.ts";
import { HOUR, MINUTE } from "../kernel/clock.ts";
import { type Deps, perEnvironment } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import { onAbort, withTimeLimit } from "../kernel/time-limit.ts";
import { UNLIMITED } from "../rules/pacing.ts";
import type { AccountRate } from "../store/channels/pace.ts";
import {
  type Addresses,
  accepted,
  type Outcome,
  type OutgoingMessage,
  rejected,
  retryable,
  throttled,
  unverified,
  type Verification,
} from "./provider.ts";

type Email = CredentialsFor<"email">;

/** Errors of the sending rate, and of the daily quota. */
const THROTTLED = new Set(["LimitExceededException", "Throttling", "ThrottlingException", "TooManyRequestsException"]);
/** Errors of our own credentials, which tell nothing about the mail. */
const EXPIRED = new Set(["ExpiredToken", "ExpiredTokenException"]);
const UNREACHED = new Set(["EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND"]);
const NO_ANSWER = Symbol("no answer");

interface SesError extends Error {
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

export interface Ses {
  send(credentials: Email, message: OutgoingMessage<Addresses["email"]>, source: string): Promise<Outcome>;
  /**
   * Verifies an identity. @param tenant the workspace that would send: an identity may be limited to some workspaces
   */
  verify(credentials: Email, tenant: string): Promise<Verification>;
}

/** Mails by Amazon SES, with the identity that the credentials name. */
export function openSes(deps: Pick<Deps, "aws" | "clock" | "env">): Ses {
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
        return answer === NO_ANSWER ? { kind: "unknown", reason: "no answer in time" } : accepted(answer.MessageId);
      } catch (error) {
        return outcomeOf(errorOf(error));
      }
    },
    verify: async ({ from_email }, tenant) => {
      const domain = from_email.slice(from_email.lastIndexOf("@") + 1);
      let verdict: Verification = unverified(`SES does not know ${from_email} nor ${domain}.`);
      for (const EmailIdentity of [from_email, domain]) {
        const command = new GetEmailIdentityCommand({ EmailIdentity });
        try {
          const answer = await inTime((options) => client.send(command, options));
          if (answer === NO_ANSWER) return unverified("SES did not answer in time.", { isTemporary: true });
          const use = useOf(answer.Tags, tenant);
          if (use === "of_others") return unverified(`The SES identity ${EmailIdentity} is given to other workspaces.`);
          if (answer.VerifiedForSendingStatus && (use === "given" || deps.env.STRANGERS !== "1"))
            verdict = { kind: "verified" };
          else if (verdict.kind !== "verified")
            verdict = unverified(
              answer.VerifiedForSendingStatus
                ? `The SES identity ${EmailIdentity} is not given to this workspace: ask the operator.`
                : `SES has not verified ${EmailIdentity} for sending.`,
            );
        } catch (error) {
          const failure = errorOf(error);
          if (failure.name === "NotFoundException") continue;
          return unverified(failure.message, { isTemporary: outcomeOf(failure).kind !== "rejected" });
        }
      }
      return verdict;
    },
  };
}

/** The tag of an identity with the ids of the workspaces that may send from it, separated by blanks. */
const GIVEN_TO = "engagement-workspace";

function useOf(tags: Tag[] | undefined, tenant: string): "given" | "of_others" | "not_said" {
  const recipient = tags?.find(({ Key }) => Key === GIVEN_TO)?.Value;
  if (recipient === undefined) return "not_said";
  return recipient.split(/\s+/).includes(tenant) ? "given" : "of_others";
}

/** The SDK throws only errors. */
const errorOf = (error: unknown) => error as SesError;

function outcomeOf({ name, code, $metadata }: SesError): Outcome {
  const status = $metadata?.httpStatusCode;
  if (THROTTLED.has(name) || status === 429) return throttled(name);
  if (name === "ServiceUnavailable" || EXPIRED.has(name) || status === 503) return retryable(name);
  if (status !== undefined && status >= 400 && status < 500) return rejected(name);
  if (status === undefined && code !== undefined && UNREACHED.has(code)) return retryable(code);
  return { kind: "unknown", reason: code ?? name };
}

/** The rest is for the service's own mails, and for other senders in the account. */
const SHARE = 0.9;
const READ_EVERY_MS = HOUR;
const RETRY_MS = 5 * MINUTE;

/** The rate of the account; undefined if it cannot be read. */
type SesAccount = () => Promise<AccountRate | undefined>;

export const sesAccount = /* @__PURE__ */ perEnvironment(
  "sesAccount",
  { grants: [{ actions: ["ses:GetAccount"], on: "email-account" }] },
  (deps): SesAccount => (deps.sandbox ? async () => undefined : openAccount(deps)),
);

function openAccount({ aws, clock, log }: Deps): SesAccount {
  const client = aws(SESv2Client, { maxAttempts: 1 });
  let cached: { until: number; rate: Promise<AccountRate | undefined> } | undefined;

  const read = async (): Promise<AccountRate | undefined> => {
    const at = clock.now();
    const answer = await withTimeLimit(clock, TIMEOUT_MS, (abortSignal) =>
      Promise.race([onAbort(abortSignal, undefined), client.send(new GetAccountCommand({}), { abortSignal })]),
    );
    if (!answer) throw new Error("SES did not answer in time.");
    const rate = (answer.SendQuota?.MaxSendRate ?? 0) * SHARE;
    return { at, rate: rate > 0 && rate < UNLIMITED ? rate : undefined };
  };

  return () => {
    const now = clock.now();
    if (cached && now < cached.until) return cached.rate;
    const before = cached?.rate;
    const rate = read().catch((error) => {
      log({ level: "warn", message: "the sending rate of SES could not be read", ...errorFields(error) });
      cached = { until: now + RETRY_MS, rate };
      return before;
    });
    cached = { until: now + READ_EVERY_MS, rate };
    return rate;
  };
}
