// How mails arrive, by mailbox provider: what the list of recipients says, by the day of the mail (AMB-139).
import { ok } from "./access.ts";
import { windowOf } from "./attribution.ts";
import { CLICKS, channelOf, OPENS } from "./interactions.ts";
import { ANY, type Body, DAY, iso, MINUTE, type Request } from "./kit.ts";
import type { Job, Recipient } from "./records/sends.ts";
import { timeOf } from "./series.ts";
import type { World } from "./world.ts";

const COUNTRY = "(com|net|[a-z]{2}|com?\\.[a-z]{2})";
/** Whose mailboxes these domains are; every other domain is of `other`. */
const PROVIDERS: Record<string, RegExp> = {
  gmail: /^(gmail|googlemail)\.com$/,
  microsoft: new RegExp(`^((hotmail|outlook|live)\\.${COUNTRY}|(msn|windowslive|passport)\\.com)$`),
  yahoo: new RegExp(`^((yahoo|aol)\\.${COUNTRY}|(ymail|rocketmail|aim)\\.com|verizon\\.net)$`),
  apple: /^(icloud|me|mac)\.com$/,
  gmx: new RegExp(`^(gmx\\.${COUNTRY}|web\\.de|(mail|email)\\.com)$`),
  t_online: /^(t-online|magenta)\.de$/,
  orange: /^(orange|wanadoo)\.fr$/,
  free: /^free\.fr$/,
  libero: /^(libero|virgilio|iol|inwind)\.it$/,
  seznam: /^(seznam|email|post)\.cz$/,
  mail_ru: /^(mail|inbox|list|bk|internet)\.ru$/,
  proton: /^(proton\.me|protonmail\.(com|ch)|pm\.me)$/,
  qq: /^((vip\.)?qq|foxmail)\.com$/,
  netease: /^((vip\.)?163\.com|126\.com|yeah\.net)$/,
};
const ORDER = [...Object.keys(PROVIDERS), "other"];

export function mailboxProviderOf(address: string | null | undefined): string {
  const domain = (address ?? "").toLowerCase().split("@").at(-1)!;
  const isOf = ([, domains]: [string, RegExp]) => domains.test(domain) && domain !== "yahoo.co.jp";
  return Object.entries(PROVIDERS).find(isOf)?.[0] ?? "other";
}

interface Fact {
  at: number;
  provider: string;
  figure: string;
}

function ofMail({ deliveries, at, hasComplained, hasUnsubscribed }: Recipient): Fact[] {
  const mail = deliveries.find(({ channel }) => channel.type === "email");
  if (!mail) return [];
  const provider = mailboxProviderOf(mail.to);
  const mailed = mail.attempts.at(-1) ?? at;
  const fact = (figure: string, time: number): Fact => ({ at: time, provider, figure });
  const { delivered_at } = mail;
  return [
    ...(delivered_at === null ? [] : [fact("delivered", delivered_at)]),
    ...(mail.state === "bounced" ? [fact("bounced", mailed)] : []),
    ...(hasComplained ? [fact("complained", mailed)] : []),
    ...(hasUnsubscribed ? [fact("unsubscribed", mailed)] : []),
  ];
}

/** Who opened the mail of a send, once, in the mailbox that they had then; of people what apps report. */
function openedOf({ interactions }: World, job: Job): Fact[] {
  const rows = interactions.filter(
    (row) =>
      row.job_id === job.id &&
      row.subscriber_id !== null &&
      row.said !== null &&
      [...OPENS, ...CLICKS].includes(row.interaction) &&
      channelOf(row) === "email",
  );
  return [...Map.groupBy(rows, ({ subscriber_id }) => subscriber_id).values()].map((own) => {
    const [first] = own.toSorted((a, b) => a.received_at - b.received_at);
    return { at: timeOf(first!), provider: mailboxProviderOf(first!.email), figure: "opened_human" };
  });
}

function figuresOf(facts: Fact[]): Body {
  const count = (name: string) => facts.filter(({ figure }) => figure === name).length;
  const [delivered, bounced, complained] = ["delivered", "bounced", "complained"].map(count) as [
    number,
    number,
    number,
  ];
  const sent = delivered + bounced;
  return {
    ...{ sent, delivered, bounced, complained },
    ...{ unsubscribed: count("unsubscribed"), opened_human: count("opened_human") },
  };
}

const byProvider = (facts: Fact[]): [string, Fact[]][] =>
  [...Map.groupBy(facts, ({ provider }) => provider)].sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));

export function deliverability(world: World, { query }: Request) {
  const [start, end] = windowOf(world, query);
  const all = world.jobs.flatMap((job) => [...job.recipients.flatMap(ofMail), ...openedOf(world, job)]);
  // In a storm what a worker does late may fall into the next day.
  if (world.isStorm && all.some(({ at }) => at % DAY >= DAY - 5 * MINUTE)) return ok(ANY);

  const dayOf = ({ at }: Fact) => Math.floor(at / DAY) * DAY;
  const facts = all.filter((fact) => dayOf(fact) > start - DAY && dayOf(fact) <= end);
  const days = [...Map.groupBy(facts, dayOf)].sort(([a], [b]) => a - b);
  const buckets = days.flatMap(([day, own]) =>
    byProvider(own).map(([mailbox_provider, some]) => ({ at: iso(day), mailbox_provider, ...figuresOf(some) })),
  );
  const rows = byProvider(facts).map(([mailbox_provider, own]) => {
    const figures = figuresOf(own);
    const rate = (n: number) => (figures.sent > 0 ? n / figures.sent : null);
    const rates = { bounce_rate: rate(figures.bounced), complaint_rate: rate(figures.complained) };
    return { mailbox_provider, ...figures, ...rates };
  });
  return ok({ rows: rows.sort((a: Body, b: Body) => b.sent - a.sent), buckets });
}
