// Invariants of the whole table when the service is at rest, whatever happened before.
import type { Ledger, Row } from "./crash.ts";

const TERMINAL = ["completed", "failed", "canceled"];

const text = (row: Row, name: string): string => String(row[name]?.S ?? "");
const number = (row: Row, name: string): number => Number(row[name]?.N ?? 0);

/** Jobs by id and the inbox rows of each. */
interface PromisedRows {
  jobs: Map<string, Row>;
  /** `job subscriber` → how many rows. */
  inbox: Map<string, number>;
  profiles: Map<string, Row>;
}

function sort(rows: readonly Row[]): PromisedRows {
  const seen: PromisedRows = { jobs: new Map(), inbox: new Map(), profiles: new Map() };
  for (const row of rows) {
    const [, , kind = "", subscriber = ""] = text(row, "pk").split("#");
    if (kind === "JOB") seen.jobs.set(text(row, "id"), row);
    else if (kind === "U" && text(row, "sk").startsWith("I#")) {
      const place = `${text(row, "job")} ${subscriber}`;
      seen.inbox.set(place, (seen.inbox.get(place) ?? 0) + 1);
    } else if (/^S[0-9a-f]$/.test(kind) && text(row, "sk").length === 36) seen.profiles.set(text(row, "id"), row);
  }
  return seen;
}

/** What holds by itself: nothing twice, nothing stuck, no half of a transaction. @returns what does not. */
export function brokenInvariants(rows: readonly Row[]): string[] {
  const { jobs, inbox } = sort(rows);
  const broken: string[] = [];
  const blame = (what: string) => broken.push(what);
  for (const [place, n] of inbox) if (n > 1) blame(`sent ${n} times: ${place}`);
  for (const [id, job] of jobs)
    if (!TERMINAL.includes(text(job, "status"))) blame(`stuck in ${text(job, "status")}: ${id}`);
  // A nightly recount is planned ahead, and is not due yet.
  for (const row of rows)
    if (text(row, "pk").startsWith("DUE#") && text(row, "kind") !== "recount")
      blame(`a due row is left: ${text(row, "sk")}`);
  const titles = Map.groupBy(jobs.values(), (job) => text(job, "title"));
  for (const [title, twins] of titles)
    if (twins.length > 1) blame(`one idempotency key, ${twins.length} jobs: ${title}`);
  for (const place of inbox.keys()) if (!jobs.has(place.split(" ")[0]!)) blame(`a message of no job: ${place}`);
  return [...broken, ...halfTransactions(rows)];
}

/** Rows that stand or fall together: a job and its share of the quota, a closed chunk and its range, a range and its job. */
export function halfTransactions(rows: readonly Row[]): string[] {
  const { jobs } = sort(rows);
  const reserved = sum(jobs.values(), "reserved");
  const usage = rows.filter(isUsage);
  const taken = sum(usage, "sends");
  // What an environment took ahead is settled later.
  const ahead = usage.flatMap((row) =>
    Object.keys(row)
      .filter((name) => name.startsWith("ahead:"))
      .map((name) => number(row, name)),
  );
  const isWhole = taken >= reserved && taken <= reserved + ahead.reduce((total, n) => total + n, 0);
  const halves = isWhole ? [] : [`jobs reserved ${reserved} sends, the quota gave ${taken}`];
  for (const [id, job] of jobs) {
    const own = rows.filter((row) => `${text(row, "pk")}#`.includes(`#J#${id}#`));
    const parts = own.filter((row) => row.closed?.BOOL);
    const ranges = own.filter((row) => text(row, "sk").startsWith("R#"));
    const chunks = parts.filter((row) => text(row, "sk").startsWith("K#")).length;
    if (sum(ranges, "chunks_closed") !== chunks) halves.push(`a closed chunk and its range: ${id}`);
    if (number(job, "ranges_closed") !== parts.length - chunks) halves.push(`a closed range and its job: ${id}`);
  }
  return halves;
}

const isUsage = (row: Row): boolean => /^T#[^#]+#USAGE$/.test(text(row, "pk"));

const sum = (rows: Iterable<Row>, name: string): number =>
  [...rows].reduce((total, row) => total + number(row, name), 0);

/** What the service said it had done. @returns what is not so. */
export function brokenPromises(rows: readonly Row[], { people, sends }: Ledger): string[] {
  const { jobs, inbox, profiles } = sort(rows);
  const broken: string[] = [];
  const blame = (what: string) => broken.push(what);
  const erased = new Set([...people.values()].filter((person) => person.erased === "yes").map(({ id }) => id));
  for (const { id, externalId, n, erased: state } of people.values()) {
    const profile = profiles.get(id);
    if (!profile) blame(`lost a subscriber: ${externalId}`);
    else if (state === "yes" && profile.external_id) blame(`lost an erasure: ${externalId}`);
    else if (state === "no" && Number(text(profile, "a:n")) < n) blame(`lost an upsert: ${externalId} ${n}`);
  }
  for (const place of inbox.keys())
    if (erased.has(place.split(" ")[1]!)) blame(`left of an erased subscriber: ${place}`);
  for (const { key, id, to, canceled } of sends.values()) {
    if (id === undefined) continue;
    const job = jobs.get(id);
    const isCanceled = job !== undefined && text(job, "status") === "canceled";
    if (!job) blame(`lost a send: ${key}`);
    else if (canceled !== undefined && canceled !== isCanceled)
      blame(`canceled is ${canceled}, ${text(job, "status")}: ${key}`);
    else
      for (const subscriber of to) {
        const expected = isCanceled ? 0 : 1;
        const found = inbox.get(`${id} ${subscriber}`) ?? 0;
        if (found !== expected && !erased.has(subscriber)) blame(`${key} reached ${subscriber} ${found} times`);
      }
  }
  return broken;
}
