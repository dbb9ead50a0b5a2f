// Bursts of clicks: a machine that follows all links of a mail is recognized by the last of them, and the person's
// counts until then are taken back (F19).
import { addedUp } from "../../../rules/counting.ts";
import { type Stage, stages } from "../../../rules/interactions.ts";
import { BURST_MS, isBurst, type MachineVerdict } from "../../../rules/tracking.ts";
import { all, is } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { familyOf } from "../../families.ts";
import { countedStages, dayWrites, OPENED_MAIL } from "../../insights/hours.ts";
import { changeItem, type RowOf } from "../../item.ts";
import { reachedWrites } from "../../journeys/totals.ts";
import { whereItHolds } from "../../refusals.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { Engagement, InteractionCount, interactionKey, ReportedInteraction } from "./items.ts";
import { dayCounters, recipientCounters } from "./totals.ts";

/** A report of a link in a mail, as far as bursts are concerned. */
interface Click {
  job_id: string;
  variant_id?: string | undefined;
  machine?: MachineVerdict | undefined;
  link?: { position: number; count: number } | undefined;
}

type EngagementRow = RowOf<typeof Engagement>;
type HumanMark = `${"opened_human" | "clicked_human"}${string}`;

/** The stages among marks, which may also be by channel. */
export const stagesAmong = (marks: readonly string[]): Stage[] => stages.filter((stage) => marks.includes(stage));

/** The attribute with the last click on a link; undefined unless it is one of several. */
export const linkFollowed = ({ link, machine }: Click, now: number): Record<`l:${number}`, number> | undefined =>
  link && link.count > 1 && (machine === undefined || machine === "burst")
    ? { [`l:${link.position}`]: now }
    : undefined;

const followedLinks = (row: EngagementRow | undefined): Map<number, number> =>
  new Map(row ? familyOf(row, "l:").map(([position, at]) => [Number(position), at]) : []);

/** The verdict on a click, by the clicks before it. */
export function burstVerdict(store: Store, { link }: Click, row: EngagementRow | undefined): "burst" | undefined {
  if (!link) return undefined;
  const now = store.clock.now();
  return isBurst(followedLinks(row).set(link.position, now), link.count, now) ? "burst" : undefined;
}

/** The marks of a person that were made by a burst, or by what loaded the images just before it. */
export function retractable(row: EngagementRow | undefined, now: number): HumanMark[] {
  const marks = Object.entries(row ?? {}).filter(([name]) => isHuman(name));
  // A tap on a push is a person's, even if a machine opened the mail.
  const isElsewhere = (stage: string) =>
    marks.some(([name]) => name.startsWith(`${stage}@`) && name !== `${stage}@email`);
  return marks.flatMap(([name, at]) => {
    const [stage = "", channel] = name.split("@");
    const isOfMail = channel === undefined ? !isElsewhere(stage) : channel === "email";
    return isHuman(name) && isOfMail && now - Date.parse(String(at)) <= 2 * BURST_MS ? [name] : [];
  });
}

/** The counts that are taken back, each with its time. */
export const retractions = (
  row: EngagementRow | undefined,
  retracted: readonly HumanMark[],
): { at: string; mark: HumanMark }[] =>
  retracted.flatMap((mark) => {
    const at = row?.[mark];
    return at === undefined ? [] : [{ at, mark }];
  });

const isHuman = (name: string): name is HumanMark => /^(opened|clicked)_human/.test(name);

/** The attributes to remove with the marks of a person: the mailbox provider belongs to one of them. */
export const withMailbox = (retracted: readonly HumanMark[]): (HumanMark | "mailbox")[] =>
  retracted.includes(OPENED_MAIL) ? [...retracted, "mailbox"] : [...retracted];

interface Recipient {
  job: JobRecord;
  subscriber: string | undefined;
}

/**
 * Checks again after a click was counted for a person, because simultaneous clicks may not have seen each other. It
 * takes back the counts of the burst, once.
 */
export async function retractBurst(
  store: Store,
  { job_id, link, variant_id }: Click,
  digest: string,
  { job, subscriber }: Recipient,
): Promise<void> {
  if (!link || link.count < 2 || subscriber === undefined) return;
  const row = await store.get(Engagement, { subscriber, job: job_id });
  const now = store.clock.now();
  const retracted = retractable(row, now);
  if (!row || retracted.length === 0 || !isBurst(followedLinks(row), link.count, now)) return;
  const taken = retractions(row, retracted);
  const add = addedUp([
    Object.fromEntries(recipientCounters(retracted, variant_id).map((name) => [name, -1])),
    ...taken.map(({ at, mark }) => dayCounters(job, at, [mark], -1)),
  ]);
  const isAsRead = all(...retracted.map((mark) => is(mark, row[mark] ?? "")));
  const back = taken.map(({ at, mark }) => countedStages(at, { ...job, mailbox: row.mailbox }, [mark], -1));
  await whereItHolds(
    store.transact([
      changeItem(ReportedInteraction, interactionKey(job_id, digest), { set: { machine: "burst", retracted } }),
      changeItem(InteractionCount, { job: job_id, shard: digest.slice(0, 1) }, { add }),
      changeItem(Engagement, { subscriber, job: job_id }, { remove: withMailbox(retracted) }, isAsRead),
      ...reachedWrites(job, stagesAmong(retracted), -1),
      ...dayWrites(digest.slice(1, 2), back),
    ]),
  );
}
