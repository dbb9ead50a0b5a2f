// How mails are delivered, by mailbox provider and by day (docs/decisions/0149).
import { DAY, timestamp } from "../../kernel/clock.ts";
import { invalid } from "../../kernel/errors.ts";
import { compareTexts } from "../../kernel/order.ts";
import { isKnownProvider, type MailboxProvider, mailboxProviders } from "../../rules/mailbox-providers.ts";
import type { StoreReader } from "../context.ts";
import { dayOf } from "../events/events.ts";
import { familyOf } from "../families.ts";
import { countersOfDays } from "./days.ts";
import { type MailboxFigure, mailboxFigures } from "./hours.ts";
import { startOfDay, type Window } from "./insights.ts";

type Figures = Record<MailboxFigure | "sent", number>;

const MAX_DAYS = 366;

const names = Object.keys(mailboxFigures) as MailboxFigure[];
const figureOf = new Map<string, MailboxFigure>(names.map((name) => [mailboxFigures[name], name]));
const noFigures = (): Figures => ({
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  opened_human: 0,
});

/** The deliverability in a window. @throws 422 for a window that is too long */
export async function deliverabilityOf(store: StoreReader, window: Window) {
  if (window.end - window.start > MAX_DAYS * DAY)
    throw invalid({ start: `must be at most ${MAX_DAYS} days before end` });
  const days = await figuresByDay(store, window);
  const buckets = [...days]
    .sort(([a], [b]) => compareTexts(a, b))
    .flatMap(([day, figures]) =>
      mailboxProviders.flatMap((mailbox_provider) => {
        const figure = figures[mailbox_provider];
        return isEmpty(figure) ? [] : [{ at: timestamp(startOfDay(day)), mailbox_provider, ...figure }];
      }),
    );
  const rows = mailboxProviders.flatMap((mailbox_provider) => {
    const ownBuckets = buckets.filter((bucket) => bucket.mailbox_provider === mailbox_provider);
    return ownBuckets.length === 0 ? [] : [{ mailbox_provider, ...ratesOf(summed(ownBuckets)) }];
  });
  return { rows: rows.sort((a, b) => b.sent - a.sent), buckets };
}

const isEmpty = (figures: Figures): boolean => Object.values(figures).every((n) => n === 0);

/** Figures by day. All mails are counted too: those of no provider with figures of its own belong to the others. */
async function figuresByDay(
  store: StoreReader,
  { start, end }: Window,
): Promise<Map<string, Record<MailboxProvider, Figures>>> {
  const days = new Map<string, Record<MailboxProvider, Figures>>();
  for (const row of await countersOfDays(store, { from: dayOf(timestamp(start)), to: dayOf(timestamp(end)) })) {
    const figures = days.get(row.sk) ?? noneByProvider();
    days.set(row.sk, figures);
    for (const [name, n] of familyOf(row, "c|email|")) {
      const figure = names.find((candidate) => candidate === name);
      if (figure) add(figures.other, figure, n);
    }
    for (const [name, n] of familyOf(row, "m|")) {
      const [provider = "", letter = ""] = name.split("|");
      const figure = figureOf.get(letter);
      if (!figure || !isKnownProvider(provider)) continue;
      add(figures[provider], figure, n);
      add(figures.other, figure, -n);
    }
  }
  return days;
}

const noneByProvider = () =>
  Object.fromEntries(mailboxProviders.map((provider) => [provider, noFigures()])) as Record<MailboxProvider, Figures>;

/** Adds up figures: an accepted mail arrived or bounced. */
function add(figures: Figures, figure: MailboxFigure, n: number): void {
  figures[figure] += n;
  if (figure === "delivered" || figure === "bounced") figures.sent += n;
}

function summed(all: readonly Figures[]): Figures {
  const sums = noFigures();
  for (const figures of all) for (const name of [...names, "sent"] as const) sums[name] += figures[name];
  return sums;
}

const ratesOf = (figures: Figures) => ({
  ...figures,
  bounce_rate: shareOf(figures.bounced, figures.sent),
  complaint_rate: shareOf(figures.complained, figures.sent),
});

const shareOf = (n: number, sent: number): number | null => (sent > 0 ? n / sent : null);
