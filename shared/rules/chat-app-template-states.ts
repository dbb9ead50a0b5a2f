// States of a chat-app template (WAT-6, D-WAT): drafted here, then the provider's word decides.

export const chatAppTemplateStatuses = [
  ...(["draft", "pending", "approved", "rejected", "paused"] as const),
  ...(["disabled", "in_appeal", "archived", "deleted"] as const),
] as const;
export type ChatAppTemplateStatus = (typeof chatAppTemplateStatuses)[number];

export const chatAppTemplateMoves = {
  /** Sent to the provider for review; from then on it is whatever the provider says, any state but draft. */
  submit: { from: ["draft", "rejected"], to: "pending" },
} as const satisfies Record<string, { from: readonly ChatAppTemplateStatus[]; to: ChatAppTemplateStatus }>;

type Verdict = Exclude<ChatAppTemplateStatus, "draft">;

/** The provider's words, from its answers and its callbacks. */
const verdicts: ReadonlyMap<string, Verdict> = new Map<string, Verdict>([
  ["PENDING", "pending"],
  ["APPROVED", "approved"],
  ["REINSTATED", "approved"],
  ["FLAGGED", "approved"],
  ["LOCKED", "paused"],
  ["PAUSED", "paused"],
  ["REJECTED", "rejected"],
  ["LIMIT_EXCEEDED", "rejected"],
  ["DISABLED", "disabled"],
  ["IN_APPEAL", "in_appeal"],
  ["ARCHIVED", "archived"],
  ["DELETED", "deleted"],
  ["PENDING_DELETION", "deleted"],
]);

/** Words that say more than the state they stand for, so that they are a reason of their own. */
const telling = new Set(["FLAGGED", "LOCKED", "LIMIT_EXCEEDED", "PENDING_DELETION"]);

/** What a word of the provider means, with its reason if there is one; undefined for a word that we do not know. */
export function verdictOf(
  word: string,
  reason: string | undefined,
): { status: Verdict; reason: string | undefined } | undefined {
  const status = verdicts.get(word);
  const given = reason === undefined || reason === "" || reason === "NONE" ? undefined : reason;
  return status && { status, reason: given ?? (telling.has(word) ? word : undefined) };
}

/** `Order shipped!` → `order_shipped`: how the provider wants names spelled. */
export const providerName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");

/** How many texts are filled in: `{{1}}`, `{{2}}` … */
export const variablesOf = (body: string): number => new Set(body.match(/\{\{\d{1,2}\}\}/g)).size;

/** What people write to be left alone, alone in a message (AMB-90). */
const OPT_OUTS = new Set(["stop", "stopall", "unsubscribe", "cancel", "end", "quit"]);

export const isOptOut = (text: string): boolean => OPT_OUTS.has(text.trim().toLowerCase());
