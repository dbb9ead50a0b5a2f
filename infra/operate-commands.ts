// What each command of `npm run operate` asks the operator function, and what it shows of the answer.
import type { SeenWorkspace, WorkspaceCost } from "../functions/operator/overview.ts";
import { STREAM_WORKER } from "../shared/contract/messages.ts";
import { streamSources } from "../shared/contract/stream-sources.ts";
import { HOUR } from "../shared/kernel/clock.ts";
import type { DeadLetter } from "../shared/runtime/dead-letters.ts";
import { refusal } from "../tools/arguments.ts";
import { columnsOf } from "../tools/text-table.ts";
import type { Invoke } from "./redrive-records.ts";
import type { SeenAlarm } from "./ring-alarm.ts";

export interface OperateRequest {
  command: string;
  subject: string | undefined;
  /** The alarm to ring, or the new state of a switch. */
  object: string | undefined;
  options: { stack?: string; local?: string; near?: string; port?: string };
  isJson: boolean;
}

export function refuse(problem: string): never {
  throw refusal(problem);
}

type Row = Record<string, string | number>;
interface Report {
  /** What the function answered, for `--json`. */
  answer: unknown;
  rows: Row[];
  /** One line below the table. */
  note: string;
}
type Command = (operate: Invoke, request: OperateRequest, now: number) => Promise<Report>;

/** How long the table's stream keeps unhandled records. AWS then drops them. */
const STREAM_HOURS = 24;

function waits(): string {
  const hours =
    streamSources({ bus: false, archive: false }).find(({ worker }) => worker === STREAM_WORKER)!.maxRecordAgeMs / HOUR;
  return `Writes wait for ${hours} hours; what follows from older ones is to be redriven (redrive ${STREAM_WORKER}), and after ${STREAM_HOURS} hours it is lost.`;
}

/** All commands except `console`, by name. */
export const commands: Record<string, Command> = {
  workspaces: async (operate, { options }) => {
    const all = await everyPage<SeenWorkspace>(operate, (after) => ({ workspaces: after }));
    const near = Number(options.near ?? 0);
    const shown = all.filter(({ nearest }) => (nearest?.percent ?? 0) >= near);
    const rows = shown.map(({ id, name, plan, status, usage, nearest }) => ({
      id,
      name,
      plan,
      status,
      sends: usage.sends,
      events: usage.events,
      subscribers: usage.subscribers,
      nearest: nearest ? `${nearest.percent}% of ${nearest.max} ${nearest.limit}` : "",
    }));
    return { answer: shown, rows, note: `${shown.length} of ${all.length} workspaces.` };
  },

  cost: async (operate, { subject }, now) => {
    const period = subject ?? lastMonth(now);
    const all = await everyPage<WorkspaceCost>(operate, (after) => ({ cost: { period, ...after } }));
    const rows = all.filter(({ sends, events }) => sends + events > 0).map((row) => ({ ...row }));
    const sum = (of: "dollars" | "dollars_at_most") => all.reduce((total, row) => total + row[of], 0).toFixed(2);
    return {
      answer: { period, workspaces: all },
      rows,
      note: `${period}: ${sum("dollars")} to ${sum("dollars_at_most")} dollars in use, without what the deployment costs at rest and without the providers' prices (docs/deploy.md).`,
    };
  },

  "dead-letters": async (operate, { subject }) => {
    const answer = (await operate({ dead_letters: subject === undefined ? {} : { queue: subject } })) as {
      dead_letters: { queue: string; count: number }[];
      messages?: DeadLetter[];
    };
    const rows = (answer.messages ?? answer.dead_letters).map((row) =>
      "queue" in row
        ? { queue: row.queue, count: row.count }
        : { sent_at: row.sent_at ?? "", received: row.received, message: JSON.stringify(row.message) },
    );
    const total = answer.dead_letters.reduce((sum, { count }) => sum + count, 0);
    return { answer, rows, note: `${total} dead letters${subject === undefined ? "" : ` of ${subject}`}.` };
  },

  redrive: async (operate, { subject }) => {
    const answer = (await operate({ redrive: { queue: subject ?? refuse("Name a queue.") } })) as {
      redriven: { queue: string; count: number };
    };
    return { answer, rows: [], note: `${answer.redriven.count} messages of ${answer.redriven.queue} are sent again.` };
  },

  recount: async (operate, { subject }) => {
    const tenant_id = subject ?? refuse("Name a workspace by its id.");
    const answer = await operate({ recount: { tenant_id } });
    return {
      answer,
      rows: [],
      note: `The counters of ${tenant_id} are being recounted; the log of recount says what was wrong.`,
    };
  },

  "events-on-bus": async (operate, { subject, object }) => {
    const tenant_id = subject ?? refuse("Name a workspace by its id.");
    if (object !== "on" && object !== "off") return refuse("Say on or off.");
    const answer = await operate({ events_on_bus: { tenant_id, on: object === "on" } });
    return { answer, rows: [], note: `Events of ${tenant_id} on the event bus are ${object}, within about a minute.` };
  },

  workers: async (operate, { subject }) => {
    if (subject !== "on" && subject !== "off") return refuse("Say on or off.");
    const answer = (await operate({ workers: subject })) as { workers: number };
    const done = `${answer.workers} workers are ${subject}, within about a minute.`;
    return { answer, rows: [], note: subject === "off" ? `${done} ${waits()}` : done };
  },

  alarms: async (operate, { subject, object }) => {
    if (subject === undefined) {
      const answer = (await operate({ alarms: {} })) as SeenAlarm[];
      const rows = answer.map(({ name, state, mails_nobody }) => ({
        name,
        state,
        mails: mails_nobody === null ? "yes" : "no",
      }));
      const reasons = [...new Set(answer.flatMap(({ mails_nobody }) => mails_nobody ?? []))];
      const silent = reasons.map((reason) => `Mails nobody: ${reason}.`);
      return { answer, rows, note: [`${answer.length} alarms.`, ...silent].join("\n") };
    }
    if (subject !== "ring" || object === undefined) return refuse("Say alarms, or alarms ring NAME.");
    const answer = await operate({ alarms: { ring: object } });
    return { answer, rows: [], note: `${object} rings. Its mail arrives within a minute; it falls silent by itself.` };
  },
};

export function tableOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const texts = names.filter((name) => rows.some((row) => typeof row[name] === "string"));
  return columnsOf([names, ...rows.map((row) => names.map((name) => String(row[name])))], texts);
}

async function everyPage<T>(operate: Invoke, request: (after: { after?: string }) => object): Promise<T[]> {
  const all: T[] = [];
  let after: string | undefined;
  do {
    const page = (await operate(request(after === undefined ? {} : { after }))) as { workspaces: T[]; next?: string };
    all.push(...page.workspaces);
    after = page.next;
  } while (after !== undefined);
  return all;
}

function lastMonth(now: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}
