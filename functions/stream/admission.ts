// The limits of open streams: each stream counts itself once in every slot of 30 seconds, for the service, for its
// workspace and for the viewer's address (docs/decisions/0021#live-streams).
import { SECOND, ttl } from "../../shared/kernel/clock.ts";
import { type Deps, perEnvironment } from "../../shared/kernel/deps.ts";
import { ApiError } from "../../shared/kernel/errors.ts";
import { networkOf } from "../../shared/rules/network-of.ts";
import type { Platform } from "../../shared/store/context.ts";
import { hashOf } from "../../shared/store/hash.ts";
import { OpenStreams, STREAM_COUNTERS, STREAM_SLOT_MS } from "../../shared/store/sends/inbox/stream-items.ts";

const KEPT_MS = 300 * SECOND;
/** Streams kept free below the limit, so that the service refuses a stream before the platform throttles it. */
const SPARE_STREAMS = 1;
/** Streams that share one counter: about forty writes a second. */
const PER_COUNTER = 1_000;
/** Shares of the limit: the publishable key of one workspace, or one network, must not use up all streams. */
export const WORKSPACE_SHARE = 0.8;
export const ADDRESS_SHARE = 0.2;
/** One address may be a whole office. */
export const MIN_PER_ADDRESS = 20;

/** How many streams may be open at once in the whole service; 0: no known limit (docs/decisions/0021#live-streams). */
export const streamLimit = /* @__PURE__ */ perEnvironment("streamLimit", { env: ["STREAM_CONCURRENCY"] }, ({ env }) =>
  Number(env.STREAM_CONCURRENCY ?? 0),
);

/** The viewer that a stream counts for. */
export interface Viewer {
  tenant: string;
  address: string;
}

type CountingDeps = Pick<Deps, "clock" | "ids"> & { platform: Platform };

/**
 * Counts a stream before it opens. Streams that ended in the last minute may still count. Each of several simultaneous
 * requests is judged by its own count for the address, the workspace and the service. A viewer refused for its address
 * counts nowhere else, and a connection refused for the service is uncounted.
 * @throws 503 if the service or the workspace has its most streams open, 429 for an address
 */
export async function admitStream(deps: CountingDeps, viewer: Viewer, limit: number): Promise<void> {
  const slot = slotNow(deps);
  const ofAll = countersOfAll(limit);
  const [all, workspace, address] = await Promise.all(
    [ofAll, [ofWorkspace(viewer)], [ofAddress(viewer)]].map((counters) => openIn(deps.platform, slot, counters)),
  );
  const ofTheWorkspace = Math.ceil(limit * WORKSPACE_SHARE);
  const ofTheAddress = Math.max(MIN_PER_ADDRESS, Math.floor(limit * ADDRESS_SHARE));
  if (all! >= limit - SPARE_STREAMS || workspace! >= ofTheWorkspace) throw tooMany();
  if (address! >= ofTheAddress) throw tooManyOfAddress();

  if ((await countOne(deps, ofAddress(viewer), { slot })) > ofTheAddress) throw tooManyOfAddress();
  if ((await countOne(deps, ofWorkspace(viewer), { slot })) > ofTheWorkspace) throw tooMany();
  const counter = oneOf(deps, ofAll);
  const counted = await countOne(deps, counter, { slot });
  const others = ofAll.filter((shard) => shard !== counter);
  if (counted + sumOf(await countsIn(deps.platform, [slot], others)) <= limit - SPARE_STREAMS) return;
  await Promise.all(
    [counter, ofWorkspace(viewer), ofAddress(viewer)].map((scope) => countOne(deps, scope, { slot, by: -1 })),
  );
  throw tooMany();
}

const AGAIN = { headers: { "retry-after": "30" } };
const tooMany = () =>
  new ApiError("SERVICE_UNAVAILABLE", "Too many live streams are open. The inbox still works.", AGAIN);
const tooManyOfAddress = () => new ApiError("RATE_LIMITED", "Too many live streams are open from this address.", AGAIN);

export async function countStream(deps: CountingDeps, viewer: Viewer, limit: number): Promise<void> {
  const counters = [oneOf(deps, countersOfAll(limit)), ofWorkspace(viewer), ofAddress(viewer)];
  await Promise.all(counters.map((counter) => countOne(deps, counter)));
}

/** Counts a stream in one slot. @returns the number in this slot now */
async function countOne(
  { platform, clock }: CountingDeps,
  counter: string,
  { slot = slotNow({ clock }), by = 1 } = {},
): Promise<number> {
  const expires = ttl(clock.now() + KEPT_MS);
  const { n } = await platform.change(OpenStreams, { slot, counter }, { initial: { expires }, add: { n: by } });
  return n;
}

const slotNow = ({ clock }: Pick<Deps, "clock">): number => Math.floor(clock.now() / STREAM_SLOT_MS);

/**
 * The counters of the whole service. One counter orders its streams; a large limit has several, so that they do not
 * conflict.
 */
const countersOfAll = (limit: number): string[] =>
  Array.from({ length: Math.min(STREAM_COUNTERS, Math.ceil(limit / PER_COUNTER)) }, (_, n) => String(n));

const oneOf = ({ ids }: Pick<Deps, "ids">, counters: readonly string[]): string =>
  counters[ids.bytes(1).readUInt8() % counters.length]!;

const ofWorkspace = ({ tenant }: Viewer): string => `T#${tenant}`;
const ofAddress = ({ address }: Viewer): string => `A#${hashOf(networkOf(address))}`;

/** The most open streams in this slot and the one before, by these counters together. */
async function openIn(platform: Platform, slot: number, counters: readonly string[]): Promise<number> {
  const counts = await countsIn(platform, [slot - 1, slot], counters, { eventual: true });
  return Math.max(sumOf(counts.slice(0, counters.length)), sumOf(counts.slice(counters.length)));
}

async function countsIn(
  platform: Platform,
  slots: readonly number[],
  counters: readonly string[],
  options: { eventual?: boolean } = {},
): Promise<number[]> {
  const keys = slots.flatMap((slot) => counters.map((counter) => ({ slot, counter })));
  const rows = await platform.getAll(OpenStreams, keys, options);
  return rows.map((row) => row?.n ?? 0);
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0);
