// The results of emails at each provider of mailboxes, over time too, and shares above the limits of large providers.
import type { InsightsGetDeliverabilityAnswer } from "../../../sdk/src/types.gen.ts";
import {
  fineShare,
  JUDGED_FROM,
  LIMITS,
  type MailRow,
  type MailVerdict,
  mailboxName,
  mailVerdict,
} from "../../app/mailboxes.ts";
import { pathTo } from "../../app/router.ts";
import { now, number, share } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Card, Dash } from "../../components/page.tsx";
import { Series } from "../../components/series.tsx";
import { Table } from "../../components/table.tsx";

type JudgedOutcome = keyof typeof LIMITS;

const STATES: Record<Exclude<MailVerdict, "fine">, string> = { watch: "uncertain", high: "bounced" };

function judged(row: MailRow, what: JudgedOutcome) {
  const verdict = mailVerdict(row, what);
  const text = fineShare(row[what], row.sent);
  return verdict === "fine" ? text : <Badge state={STATES[verdict]} word={text} />;
}

/** Gmail tells no sender who complained. */
const tellsComplaints = ({ mailbox_provider, complained }: MailRow): boolean =>
  mailbox_provider !== "gmail" || complained > 0;

export const ByProvider = ({ rows }: { rows: readonly MailRow[] }) => (
  <Card title="By mailbox provider" flush>
    <Table
      caption="By mailbox provider"
      csv="Mailbox providers"
      rows={rows}
      keyOf={({ mailbox_provider }) => mailbox_provider}
      columns={[
        { title: "Mailboxes", cell: ({ mailbox_provider }) => mailboxName(mailbox_provider) },
        { title: "Accepted", isNumber: true, cell: ({ sent }) => number(sent) },
        { title: "Bounced", isNumber: true, cell: (row) => judged(row, "bounced") },
        {
          title: "Complaints",
          isNumber: true,
          cell: (row) => (tellsComplaints(row) ? judged(row, "complained") : <Dash />),
        },
        {
          title: "Opted out",
          isMinor: true,
          isNumber: true,
          cell: (row) => fineShare(row.unsubscribed, row.delivered),
        },
        { title: "Opened", isMinor: true, isNumber: true, cell: (row) => share(row.opened_human, row.delivered) },
      ]}
    />
    <p class="hint inset">
      Bounces and complaints are shares of what was accepted, the others of what was delivered. Gmail tells nobody who
      complained; its Postmaster Tools have the share. A company&rsquo;s own domain is among the others, whoever runs
      it.
    </p>
  </Card>
);

const WORDS: Record<JudgedOutcome, [what: string, watch: string, high: string]> = {
  bounced: [
    "bounced",
    `Above ${fineShare(LIMITS.bounced[1], 1)} providers refuse a sender.`,
    "Stop sending to addresses that nobody has confirmed, and import no old lists, until it falls.",
  ],
  complained: [
    "called it spam",
    `Above ${fineShare(LIMITS.complained[1], 1)} emails go to the spam folder.`,
    "Send less often, and only to people who open what you send, until it falls.",
  ],
};

/** What is above a limit, with where one acts. */
export function Noticed({ rows }: { rows: readonly MailRow[] }) {
  const found = rows.flatMap((row) =>
    (["bounced", "complained"] as const).flatMap((what) => {
      const verdict = mailVerdict(row, what);
      return verdict === "fine" ? [] : [{ row, what, verdict }];
    }),
  );
  if (found.length === 0) return null;
  return (
    <Card title="What needs you">
      <ul class="standings">
        {found.map(({ row, what, verdict }) => {
          const [word, watch, high] = WORDS[what];
          return (
            <li key={`${row.mailbox_provider} ${what}`}>
              <h3>
                {mailboxName(row.mailbox_provider)}{" "}
                <Badge state={STATES[verdict]} word={verdict === "high" ? "too high" : "high"} />
              </h3>
              <p>
                {fineShare(row[what], row.sent)} of {number(row.sent)} {word}. {verdict === "high" ? high : watch}{" "}
                <a href={pathTo("suppressions", "", { reason: what === "bounced" ? "bounce" : "complaint" })}>
                  Who is suppressed
                </a>
                , <a href={pathTo("segments", "new")}>make a segment of readers</a>
              </p>
            </li>
          );
        })}
      </ul>
      <p class="hint">Judged from {JUDGED_FROM} emails on.</p>
    </Card>
  );
}

const MEASURES = {
  bounced: "Bounced",
  complained: "Complaints",
  delivered: "Delivered",
  unsubscribed: "Opted out",
  opened_human: "Opened",
} as const;
/** As many as lines can be told apart. */
const MAX_LINES = 5;

export function Trend({ rows, buckets, start }: InsightsGetDeliverabilityAnswer & { start: string }) {
  const measure = chosenOf("of", Object.keys(MEASURES) as (keyof typeof MEASURES)[]) ?? "delivered";
  const lines = rows
    .slice(0, MAX_LINES)
    .map(({ mailbox_provider: group }) => ({ name: mailboxName(group), measure, group }));
  return (
    <Card title="Over time" actions={<Filter small name="of" label="Shown" value={measure} options={MEASURES} />}>
      <Series
        caption="Emails by day"
        buckets={buckets.map(({ mailbox_provider: group, ...bucket }) => ({ ...bucket, group }))}
        lines={lines}
        from={Date.parse(start)}
        to={now()}
      />
    </Card>
  );
}
