// What serving a request may touch, beside the capabilities of the endpoint.
import type { Capability } from "../kernel/deps.ts";
import { auditTrail } from "../store/audit/trail.ts";
import { secrets } from "../store/capabilities.ts";
import { type Platform, platformWrite } from "../store/context.ts";
import { requestTokens } from "./request-tokens.ts";
import { sdkLimits } from "./sdk-limits.ts";
import { tokenVerifier } from "./tokens.ts";
import { edgeOnly, viewer } from "./viewer.ts";

/** Rows of callers are read; counters of requests and the last use of a key are updated. */
export type CallerRows = Pick<Platform, "get" | "getEach" | "change" | "clock">;

const callerRows: Capability<"platform", CallerRows> = {
  as: "platform",
  env: platformWrite.env,
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"], on: "table" }],
  open: platformWrite.open,
};

/** Whether users must confirm their e-mail addresses before they invite, send or add credentials. */
const addressConfirmation: Capability<"demandsConfirmation", boolean> = {
  as: "demandsConfirmation",
  env: ["CONFIRM_ADDRESSES"],
  grants: [],
  open: ({ env }) => {
    const isDemanded = env.CONFIRM_ADDRESSES === "1";
    return () => isDemanded;
  },
};

/** The caller, the rate limits, the address of the client, whether users confirm theirs, and the audit trail. */
export const servingUses = [
  callerRows,
  secrets,
  tokenVerifier,
  viewer,
  edgeOnly,
  requestTokens,
  sdkLimits,
  addressConfirmation,
  auditTrail,
] as const;
