// Jobs that take workers longer than one invocation: one worker at a time has a job, for the time of a lease.
import { DAY, MINUTE, SECOND } from "../kernel/clock.ts";
import { ApiError } from "../kernel/errors.ts";
import { absent, any, below, is } from "./conditions.ts";
import type { Store, StoreReader } from "./context.ts";
import type { AnyEntity, ChangeOf, Entity, RowOf } from "./item.ts";
import { type Lifecycle, move } from "./lifecycle.ts";

/** A worker's time limit and 10 s: when it is over, no worker works on the job any more. */
const LEASE_MS = 70 * SECOND;
/** A job without an end after this time fails. */
const GIVE_UP_MS = DAY;
/** How often a job without an end is looked at. */
export const JOB_WATCH_MS = 10 * MINUTE;
const MAX_OPEN = 3;

// biome-ignore lint/suspicious/noExplicitAny: any entity that is a job
type LeasedJob = Entity<any> & { readonly types?: { row: { status: string; lease?: number } } };
type JobMoves = Lifecycle<string> & { begin: unknown };

/** Whether a worker works on a job, or must. */
export const isOpen = ({ status }: { status: string }): boolean => status === "pending" || status === "processing";

/** Whether a job is so old that it is given up. */
export const isTooOld = ({ clock }: Pick<Store, "clock">, { created_at }: { created_at: string }): boolean =>
  clock.now() - Date.parse(created_at) > GIVE_UP_MS;

/** @param underWay such as `exports are being made` @throws 429 while three are open */
export async function requireTurn(store: StoreReader, item: LeasedJob, underWay: string): Promise<void> {
  const open = (await store.queryAll(item, {})).filter(isOpen);
  if (open.length >= MAX_OPEN)
    throw new ApiError("QUOTA_EXCEEDED", `${MAX_OPEN} ${underWay}. Wait until one of them has ended.`);
}

/** Takes a job for the time of a lease. `closed`: it has ended, another worker has it, or there is none. */
export async function takeJob<D extends LeasedJob>(
  store: Store,
  item: D,
  id: string,
  lifecycle: JobMoves,
): Promise<{ kind: "taken"; job: RowOf<D> } | { kind: "closed" }> {
  const now = store.clock.now();
  const change = { set: { lease: now + LEASE_MS } };
  const when = any(absent("lease"), below("lease", now));
  const taken = await move<AnyEntity, JobMoves>(store, item, { id }, { lifecycle, action: "begin", change, when });
  return taken.kind === "changed" ? { kind: "taken", job: taken.row } : { kind: "closed" };
}

/** Notes how far the worker of a job has got. `lost`: the job has ended, or another worker has it. */
export async function noteJob<D extends LeasedJob>(
  store: Store,
  item: D,
  { id, lease = 0 }: { id: string; lease?: number | undefined },
  { lifecycle, set }: { lifecycle: JobMoves; set: NonNullable<ChangeOf<D>["set"]> },
): Promise<"noted" | "lost"> {
  const noting = { lifecycle, action: "begin", change: { set }, when: is("lease", lease) };
  const noted = await move<AnyEntity, JobMoves>(store, item, { id }, noting);
  return noted.kind === "changed" ? "noted" : "lost";
}
