// Every accepted file is read to its end: its rows are subscribers with its values, members of its list, and counted once.

import { WORKER_TIMEOUT_SECONDS } from "../../../shared/contract/messages.ts";
import { DAY, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { rowOf } from "../../../shared/store/item.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { isLiving } from "../../../shared/store/subscribers/subscribers.ts";
import { placeOf } from "../entities.ts";
import type { Process } from "../fleet.ts";
import type { Invariant } from "../invariant.ts";
import type { Import } from "../ledger.ts";
import { ask } from "../questions.ts";
import type { SimWorld } from "../world.ts";

type Broken = (text: string, ...entities: string[]) => void;

export const imports: Invariant = {
  name: "imports",
  watch: (world, broken) => {
    watchReaders(world, broken);
    return {
      end: async () => {
        if (world.ledger.imports.length === 0) return;
        for (const file of world.ledger.imports) await checkImport(world, file, broken);
      },
    };
  },
};

/** A worker that reads a file is the only one, as long as its lease lasts and its invocation goes on. */
function watchReaders({ kernel, profile, onRequest }: SimWorld, broken: Broken): void {
  const certainMs = (WORKER_TIMEOUT_SECONDS - 5) * SECOND - 2 * profile.skewMs;
  const readers = new Map<string, { process: Process; invocation: Process["end"]; at: number }>();
  onRequest((process, service, operation, { Key }) => {
    if (service !== "s3" || operation !== "GetObject" || process.name !== "import-rows") return undefined;
    const before = readers.get(String(Key));
    const isSame = before?.process === process && before.invocation === process.end;
    if (isSame) return undefined;
    const isAtWork = before?.process.alive && before.process.end === before.invocation;
    if (before && isAtWork && kernel.now() - before.at < certainMs)
      broken(`${process.label} reads ${Key} beside ${before.process.label}`, String(Key));
    readers.set(String(Key), { process, invocation: process.end, at: kernel.now() });
    return undefined;
  });
}

async function checkImport(world: SimWorld, file: Import, broken: Broken): Promise<void> {
  const { ledger } = world;
  const { id, rows, invalid, list, column, isDry } = file;
  const say = (text: string, ...others: string[]) => broken(`import ${id}: ${text}`, id, ...others);
  const tenant = ledger.tenants.get(file.tenant)!;
  const { status, body: job } = await ask(world, tenant, "GET /api/v1/lists/import/{jobId}", { params: { jobId: id } });
  if (status !== 200) return;
  const isListGone = ledger.stopped.has(list);
  if (job.status === "failed" && isListGone) return;
  if (job.status !== "completed") say(`it is ${job.status}: ${job.error_message}`);
  const size = rows.length + invalid;
  if (job.processed_rows !== size || job.total_rows !== size)
    say(`${job.processed_rows} of ${job.total_rows} rows, the file has ${size}`);
  if (job.failed_rows !== invalid) say(`${job.failed_rows} rows failed, ${invalid} are invalid`);
  const { status: noted, body: notes } = await ask(world, tenant, "GET /api/v1/annotations", {
    query: everything(world),
  });
  if (noted !== 200) return say(`its annotations answer ${noted}`);
  const told = notes.annotations.filter(
    (note: { ref_id?: string; kind: string }) => note.ref_id === id && note.kind === "import_completed",
  );
  if (told.length !== 1) say(`its end was noted ${told.length} times`);
  const people = peopleOf(world, file.tenant);
  const last = new Map(rows.map(({ external_id, value }) => [external_id, value]));
  const erased = new Set(
    [...ledger.people.values()].filter((one) => one.erasingSince !== undefined).map((one) => one.external_id),
  );
  for (const [external_id, value] of last) {
    if (erased.has(external_id)) continue;
    const person = people.get(external_id);
    const shown = person?.[`a:${column}`];
    if (isDry && shown !== undefined) say(`a trial wrote ${external_id}`, external_id);
    if (isDry) continue;
    if (shown !== JSON.stringify(value)) say(`${external_id} has ${shown}, not ${value}`, String(person?.sk));
    if (!isListGone && world.mirror.get(`T#${file.tenant}#U#${person?.sk}`, `L#${list}`) === undefined)
      say(`${external_id} is not in its list`, String(person?.sk), list);
  }
}

const everything = ({ start, kernel }: SimWorld) => ({
  from: timestamp(start - DAY),
  to: timestamp(kernel.now() + DAY),
});

/** The living subscribers of a workspace by their external ids, as they are stored. */
function peopleOf({ mirror }: SimWorld, tenant: string): Map<string, Record<string, unknown>> {
  const people = new Map<string, Record<string, unknown>>();
  for (const pk of mirror.partitions()) {
    const place = placeOf(pk);
    if (place?.tenant !== tenant || !/^S[0-9a-f]$/.test(place.kind)) continue;
    for (const [sk, item] of mirror.under(pk))
      if (sk.length === 36 && isLiving(rowOf(Profile, item))) people.set(String(item.external_id), item);
  }
  return people;
}
