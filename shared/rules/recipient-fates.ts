// What becomes of a mail later changes the figures of its recipient, where no other channel reached them (AMB-139).

/** `found`: arrived though its provider had not answered. `missed`: of such a one, came back. `lost`: came back. */
export const recipientFates = ["found", "missed", "lost"] as const;
export type RecipientFate = (typeof recipientFates)[number];

interface Result {
  kind: "arrived" | "bounced" | "complained" | "unsubscribed";
  isAlone?: boolean;
  isUnsure?: boolean;
}

/** What a result of a mail means for its recipient; undefined where it changes nothing for them. */
export function fateOf({ kind, isAlone = false, isUnsure = false }: Result): RecipientFate | undefined {
  if (!isAlone) return undefined;
  switch (kind) {
    case "arrived":
      return "found";
    case "bounced":
      return isUnsure ? "missed" : "lost";
    default:
      return undefined;
  }
}

type Figures = Partial<Record<"delivered" | "bounced" | "failed" | "uncertain", number>>;

/** What a fate adds to the figures of a send. @param n -1 takes it back */
export function figuresOfFate(fate: RecipientFate, n: 1 | -1): Figures {
  const before: Figures = fate === "lost" ? { delivered: -n } : { failed: -n, uncertain: -n };
  return { ...before, [fate === "found" ? "delivered" : "bounced"]: n };
}
