// Choices of topics in files (docs/decisions/0070): a choice is a consent, and an import treats it like one.
import { currentConsent, recordConsent } from "./consents.ts";
import { isNo, isYes, timeOf } from "./import-consents.ts";
import { ANY, MINUTE, Unpromised } from "./kit.ts";
import type { Import, Subscriber } from "./records/people.ts";
import type { World } from "./world.ts";

const COLUMN = /^(topic|topic_at):(.+)$/;

/** What a column is by its mapping or its name. */
const targetOf = ({ body }: Import, header: string): string => JSON.parse(body.mapping ?? "{}")[header] ?? header;

/** The topic of whose choice, or of whose time, a column holds the answer. One that there is not makes an attribute. */
export function topicColumn(world: World, job: Import, header: string): { key: string; isTime: boolean } | undefined {
  const [, kind, key] = COLUMN.exec(targetOf(job, header)) ?? [];
  const isKnown = world.topics.some((topic) => topic.key === key);
  return isKnown ? { key: key!, isTime: kind === "topic_at" } : undefined;
}

/** Keys of columns that name no topic of the workspace. */
export const unknownTopics = (world: World, job: Import, header: string[]): string[] =>
  header.flatMap((name) => {
    const [, kind, key] = COLUMN.exec(targetOf(job, name)) ?? [];
    return kind === "topic" && !topicColumn(world, job, name) ? [key!] : [];
  });

export interface Choice {
  key: string;
  cell: string;
  at: number | null;
}

/** @param consent_at the time of the row's consent, where a choice has none; that of the file is one of yes alone */
export function choicesOf(
  world: World,
  job: Import,
  header: string[],
  cells: string[],
  consent_at: string | undefined,
): Choice[] {
  const { time_zone: zone = world.settings.timezone } = job.body;
  const columns = header.map((name, n) => ({ ...topicColumn(world, job, name), cell: cells[n]!.trim() }));
  const timeFor = (key: string) => columns.find((column) => column.key === key && column.isTime)?.cell;
  return columns.flatMap(({ key, isTime, cell }) => {
    if (key === undefined || isTime || cell === "") return [];
    const time = timeFor(key) || consent_at || (isOut({ cell }) ? undefined : job.body.consent_at);
    return [{ key, cell, at: timeOf(time, zone) }];
  });
}

/** Whether it refuses. */
export const isOut = ({ cell }: Pick<Choice, "cell">): boolean =>
  isNo(cell) || ["opted_out", "unsubscribed"].includes(cell);

/** An opt-in needs a time and comes after what is known; an opt-out holds, whatever its time, and no import reverts one. */
export function takeChoice(world: World, job: Import, subscriber: Subscriber, { key, cell, at }: Choice): void {
  const channel = `topic:${key}`;
  const known = currentConsent(world, subscriber.id, channel);
  const isAhead = at !== null && at > job.created_at + 5 * MINUTE;
  const count = (outcome: string) => {
    const before = job.topic_summary[key] ?? { opted_in: 0, opted_out: 0, unknown: 0, unchanged: 0 };
    job.topic_summary[key] = { ...before, [outcome]: before[outcome]! + 1 };
  };
  const refuses = isOut({ cell });
  const isIn = isYes(cell) || ["opted_in", "subscribed"].includes(cell);
  if (!refuses && (!isIn || at === null || isAhead)) {
    count("unknown");
    return;
  }
  if (isIn && world.topics.some((topic) => topic.key === key && topic.double_opt_in))
    throw new Unpromised("who of a file is asked to confirm a topic");
  const consented_at = at === null ? world.now : Math.min(at, job.created_at);
  const isOld = isIn && known !== undefined && known.consented_at > consented_at;
  if (known?.status === "opted_out" || isOld) {
    count("unchanged");
    return;
  }
  const status = refuses ? "opted_out" : "opted_in";
  if (isIn && known?.status === status && known.consented_at === consented_at) {
    count(status);
    return;
  }
  recordConsent(world, subscriber, { channel, status, consented_at, source: ANY, import_job_id: job.id });
  count(status);
}
