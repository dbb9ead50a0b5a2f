// Every accepted file is read to its end, by one worker at a time.
import { WORKER_TIMEOUT_SECONDS } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
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
        for (const file of world.ledger.imports) await checkEnd(world, file, broken);
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

/** A file whose list was deleted meanwhile may fail. */
async function checkEnd(world: SimWorld, { id, tenant: of, list }: Import, broken: Broken): Promise<void> {
  const tenant = world.ledger.tenants.get(of)!;
  const { status, body: job } = await ask(world, tenant, "GET /api/v1/lists/import/{jobId}", { params: { jobId: id } });
  if (status !== 200 || (job.status === "failed" && world.ledger.stopped.has(list))) return;
  if (job.status !== "completed") broken(`import ${id} is ${job.status}: ${job.error_message}`, id);
}
