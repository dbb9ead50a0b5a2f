// Later news of a mail changes the figures of its recipient if no other channel reached them (AMB-139).

/**
 * `found`: an unanswered mail that arrived. `missed`: an unanswered mail that bounced. `lost`: any other bounced mail.
 */
export const recipientFates = ["found", "missed", "lost"] as const;
export type RecipientFate = (typeof recipientFates)[number];

interface Result {
  kind: "arrived" | "bounced" | "complained" | "unsubscribed";
  isAlone?: boolean;
  isUnsure?: boolean;
}

/** The fate of a recipient by the result of a mail; undefined if it changes nothing for them. */
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

/** The change of a send's figures by a fate. @param n -1 takes it back */
export function figuresOfFate(fate: RecipientFate, n: 1 | -1): Figures {
  const before: Figures = fate === "lost" ? { delivered: -n } : { failed: -n, uncertain: -n };
  return { ...before, [fate === "found" ? "delivered" : "bounced"]: n };
}
