// The mailbox providers, and how they judge a sender.
import type { InsightsGetDeliverabilityAnswer } from "../../sdk/src/types.gen.ts";

export type MailRow = InsightsGetDeliverabilityAnswer["rows"][number];
type Provider = MailRow["mailbox_provider"];

const NAMES: Record<Provider, string> = {
  gmail: "Gmail",
  microsoft: "Outlook, Hotmail",
  yahoo: "Yahoo, AOL",
  apple: "iCloud",
  gmx: "GMX, WEB.DE",
  t_online: "T-Online",
  orange: "Orange",
  free: "Free",
  libero: "Libero",
  seznam: "Seznam",
  mail_ru: "Mail.ru",
  proton: "Proton",
  qq: "QQ",
  netease: "163, 126",
  other: "Other domains",
};
export const mailboxName = (provider: Provider): string => NAMES[provider];

type JudgedOutcome = "bounced" | "complained";

/** Shares of accepted mails, as Google, Yahoo, Microsoft and SES publish them: from `watch` on they look closer, from `high` on they refuse. */
export const LIMITS: Record<JudgedOutcome, readonly [watch: number, high: number]> = {
  bounced: [0.02, 0.05],
  complained: [0.001, 0.003],
};

/** A share of fewer mails is no evidence: one bounce of ten is 10%. */
export const JUDGED_FROM = 100;

export type MailVerdict = "fine" | "watch" | "high";

export function mailVerdict(row: Pick<MailRow, JudgedOutcome | "sent">, what: JudgedOutcome): MailVerdict {
  const [watch, high] = LIMITS[what];
  const rate = row.sent < JUDGED_FROM ? 0 : row[what] / row.sent;
  if (rate >= high) return "high";
  return rate >= watch ? "watch" : "fine";
}

const percents = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 2 });
/** With two decimals, since a limit is 0.1%. */
export const fineShare = (part: number, whole: number): string => (whole === 0 ? "–" : percents.format(part / whole));

const sum = (rows: readonly MailRow[], name: Exclude<keyof MailRow, "mailbox_provider">): number =>
  rows.reduce((all, row) => all + (row[name] ?? 0), 0);

export const allMails = (rows: readonly MailRow[]) => ({
  sent: sum(rows, "sent"),
  delivered: sum(rows, "delivered"),
  bounced: sum(rows, "bounced"),
  complained: sum(rows, "complained"),
  unsubscribed: sum(rows, "unsubscribed"),
  opened_human: sum(rows, "opened_human"),
});
