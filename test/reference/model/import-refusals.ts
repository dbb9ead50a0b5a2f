// AMB-132: what a row refuses that is not imported. It is of the person that the row names, if there is one, else of the
// address and the number that the row has. Where a row has too many cells, one of them was divided.
import { addressOf, optOutAddress, suppress } from "./addresses.ts";
import { isNo, isYes, SIGNS, timeOf } from "./import-consents.ts";
import { refuseNumber, translate } from "./import-outcomes.ts";
import { bare, e164, fieldOf, isEmail, NEGATIVE, type Row } from "./import-rows.ts";
import { isOut, takeChoice } from "./import-topics.ts";

import { ANY, type Body } from "./kit.ts";
import type { Import } from "./records/people.ts";
import type { World } from "./world.ts";

type Column = (cell: string) => boolean;

/** What may stand in a column: a boolean or a number where the whole column is one, an address, or anything. */
function fitting(source: string, name: string, column: string[]): Column | null {
  const values = column.filter((value) => value !== "");
  if (fieldOf(source, name) === "email") return (cell) => cell === "" || isEmail(cell);
  const isBoolean = (value: string) => /^(true|false|yes|no)$/i.test(value);
  const isNumber = (value: string) => /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(value);
  const decimals = new Set(values.map((value) => value.split(".")[1]?.length ?? 0));
  const areNumbers =
    values.every(isNumber) && (decimals.size === 1 || values.every((one) => String(Number(one)) === one));
  if (values.length === 0) return null;
  if (values.every(isBoolean)) return (cell) => cell === "" || isBoolean(cell);
  return areNumbers ? (cell) => cell === "" || isNumber(cell) : null;
}

/**
 * The rows that a row may have been meant as. A cell that may be too long for any says nothing, and no column of a topic that
 * there is not.
 */
export function readingsOf(
  { body, unknown_topics }: Import,
  header: string[],
  whole: string[][],
  row: string[],
): string[][] {
  const { source = "csv" } = body;
  const cells = row.map((cell) => (Buffer.byteLength(cell) > 4096 ? "" : cell));
  if (cells.length === header.length) return [cells];
  const columns = header.map((name, n) =>
    fitting(
      source,
      name,
      whole.map((one) => one[n]!.trim()),
    ),
  );
  const isSaying = (name: string) =>
    bare(name) in SIGNS ||
    ["external_id", "consent_status", "tags"].includes(fieldOf(source, name) ?? "") ||
    (/^topic:/.test(name) && !unknown_topics.includes(name.slice("topic:".length)));
  const isClear = (cell: string) => isYes(cell) || isNo(cell) || timeOf(cell, "UTC") !== null;
  const extra = cells.length - header.length;
  const divided = (at: number) => [
    ...cells.slice(0, at),
    cells.slice(at, at + extra + 1).join(),
    ...cells.slice(at + extra + 1),
  ];
  const leftOut = (at: number) => [...cells.slice(0, at), ...Array<string>(-extra).fill(""), ...cells.slice(at)];
  const free = header.flatMap((name, n) => (columns[n] || isSaying(name) ? [] : [n]));
  return [header.length, ...free]
    .map((at) => (extra > 0 ? divided(at) : leftOut(at)).slice(0, header.length))
    .filter((one) => one.every((cell, n) => columns[n]?.(cell.trim()) ?? true))
    .map((one) => one.map((cell, n) => (bare(header[n]!) in SIGNS && !isClear(cell) ? "" : cell)));
}

const isOfSomebody = ({ body }: Import, { fields }: Row) =>
  Boolean(fields.external_id) || isEmail(fields.email ?? "") || e164(fields.phone ?? "", body.phone_region) !== null;

export const refuses = (job: Import, row: Row): boolean =>
  isOfSomebody(job, row) &&
  (NEGATIVE.includes(row.said?.status ?? "") || row.isNumberRefused || row.choices.some(isOut));

/** AMB-132: of the person that the row names, if there is one, else of the address and the number. It counts nowhere. */
export function keepRefusal(world: World, job: Import, { fields, said, isNumberRefused, choices }: Row): void {
  const email = isEmail(fields.email ?? "") ? fields.email! : "";
  const external_id = fields.external_id || email.toLowerCase();
  const person = external_id === "" ? undefined : world.subscribers.find((one) => one.external_id === external_id);
  const counted = structuredClone([job.consent_summary, job.topic_summary]);
  const isRefused = NEGATIVE.includes(said?.status ?? "");
  const time = said && Math.min(said.at ?? job.created_at, job.created_at);
  if (isNumberRefused && (!person || !fields.external_id))
    optOutAddress(world, e164(fields.phone!, job.body.phone_region), time!, "sms");
  if (!person) {
    if (isRefused) refuseAddress(world, job, email, said!.status, time!);
    return;
  }
  if (isRefused) translate(world, job, person, { ...fields, email }, said!);
  if (isNumberRefused) refuseNumber(world, job, person, said);
  for (const choice of choices.filter(isOut)) takeChoice(world, job, person, choice);
  [job.consent_summary, job.topic_summary] = counted as [Body, Body];
}

function refuseAddress(world: World, job: Import, email: string, status: string, at: number): void {
  if (status === "opted_out") optOutAddress(world, email, at);
  else {
    const isSuppressed = addressOf(world, email)?.reason != null;
    const row = suppress(world, email, { reason: "imported", source: ANY, suppressed_at: at });
    if (row && !isSuppressed) job.suppresses.push(row.key);
  }
}
