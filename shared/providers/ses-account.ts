// How fast SES lets the account send: read once an hour by each environment that sends mails (AMB-111).
import { GetAccountCommand, SESv2Client } from "@aws-sdk/client-sesv2";
import { TIMEOUT_MS } from "../egress/egress.ts";
import { onAbort, withTimeLimit } from "../egress/time-limit.ts";
import { HOUR, MINUTE } from "../kernel/clock.ts";
import type { Capability, Deps } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import { UNLIMITED } from "../rules/pacing.ts";
import type { AccountRate } from "../store/channels/pace.ts";

/** The rest is for the service's own mails, and for what others in the account send. */
const SHARE = 0.9;
const READ_EVERY_MS = HOUR;
const RETRY_MS = 5 * MINUTE;

/** The rate of the account; undefined while it cannot be read. */
type SesAccount = () => Promise<AccountRate | undefined>;

/** Reads the sending rate of the account of SES. */
export const sesAccount: Capability<"sesAccount", SesAccount> = {
  as: "sesAccount",
  env: [],
  grants: [{ actions: ["ses:GetAccount"], on: "email-account" }],
  open: (deps) => {
    const read = deps.sandbox ? async () => undefined : openAccount(deps);
    return () => read;
  },
};

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
