// States of a chat-app template (WAT-6, D-WAT): after the draft is submitted, the provider decides.

export const chatAppCategories = ["MARKETING", "UTILITY", "AUTHENTICATION"] as const;

export const chatAppTemplateStatuses = [
  "draft",
  "pending",
  "approved",
  "rejected",
  "paused",
  "disabled",
  "in_appeal",
  "archived",
  "deleted",
] as const;
type ChatAppTemplateStatus = (typeof chatAppTemplateStatuses)[number];

export const chatAppTemplateMoves = {
  /** Sent to the provider for review. From then on the provider sets the status: any status but draft. */
  submit: { from: ["draft", "rejected"], to: "pending" },
} as const satisfies Record<string, { from: readonly ChatAppTemplateStatus[]; to: ChatAppTemplateStatus }>;

type Verdict = Exclude<ChatAppTemplateStatus, "draft">;

/** The provider's statuses, from its responses and its callbacks. */
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

/** Provider statuses with more detail than our status. They are returned as the reason. */
const informative = new Set(["FLAGGED", "LOCKED", "LIMIT_EXCEEDED", "PENDING_DELETION"]);

/** Our status and reason for a status of the provider; undefined for an unknown one. */
export function verdictOf(
  word: string,
  reason: string | undefined,
): { status: Verdict; reason: string | undefined } | undefined {
  const status = verdicts.get(word);
  const named = reason === undefined || reason === "" || reason === "NONE" ? undefined : reason;
  return status && { status, reason: named ?? (informative.has(word) ? word : undefined) };
}

/** `Order shipped!` → `order_shipped`: the provider accepts only lower-case letters, digits and `_` in names. */
export const providerName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");

const VARIABLE = /\{\{(\d{1,2})\}\}/g;

/** The number of variables of a body: `{{1}}`, `{{2}}` … */
export const variablesOf = (body: string): number => new Set(body.match(VARIABLE)).size;

/** A body with the texts of its variables. */
export const filledBody = (body: string, texts: readonly string[]): string =>
  body.replaceAll(VARIABLE, (variable, n) => texts[Number(n) - 1] ?? variable);

/** Keywords that opt out when they are the whole text of a message (AMB-90). */
const OPT_OUTS = new Set(["stop", "stopall", "unsubscribe", "cancel", "end", "quit"]);

export const isOptOut = (text: string): boolean => OPT_OUTS.has(text.trim().toLowerCase());
