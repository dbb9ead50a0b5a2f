// Statuses of subscriptions that people pay for, which say nothing about mail.
import { keysOf, perHeader } from "./import-names.ts";

/** Columns that occur only in files of such payments. */
const OF_PAYMENTS = new RegExp(
  `^(?:${[
    "(?:next|last)(?:charge|billing|renewal|rebill)(?:date|at|on|status)?",
    "next(?:payment|order|shipment)(?:date|at|on)?",
    "(?:billing|charge|renewal)(?:interval|period|cycle|frequency)",
    "cancelatperiodend",
    "currentperiod(?:start|end)(?:date|at|on)?",
    "delinquent",
    "pledgeamount",
  ].join("|")})$`,
);
const STATUS = /^(?:subscriptions?|customer|user|member|membership|patron)?(?:status|state)$/;

const hasPayments = perHeader((header) => [...keysOf(header)].some((key) => OF_PAYMENTS.test(key)));

export const isOfPurchase = (key: string, header: readonly string[]): boolean =>
  STATUS.test(key) && hasPayments(header);
