// How many messages a workspace may send in a period: as its plan says, or its own cap where that is lower.
import type { Billing } from "../../sdk/src/types.gen.ts";

export const sendLimitOf = ({ limits, monthly_send_cap }: Billing): number =>
  Math.min(limits.sends, monthly_send_cap ?? limits.sends);
