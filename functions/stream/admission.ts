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
/** Streams kept below the limit, so that the service refuses a stream before the platform throttles it. */
const SPARE_STREAMS = 1;
/** Shares of the limit: the publishable key of one workspace, or one network, must not use up all streams. */
export const WORKSPACE_SHARE = 0.8;
export const ADDRESS_SHARE = 0.2;
/** Behind one address may be a whole office. */
export const MIN_PER_ADDRESS = 20;

/** How many streams may be open at once in the whole service; 0: no limit is known (docs/decisions/0021#live-streams). */
export const streamLimit = /* @__PURE__ */ perEnvironment("streamLimit", { env: ["STREAM_CONCURRENCY"] }, ({ env }) =>
  Number(env.STREAM_CONCURRENCY ?? 0),
);

/** Who a stream counts for. */
export interface Viewer {
  tenant: string;
  address: string;
}

type CountingDeps = Pick<Deps, "clock" | "ids"> & { platform: Platform };

/**
 * Counts a stream that is to be opened. Streams that ended in the last minute may count. Of those that ask at once each is
 * judged by what its own count makes of the address and of the workspace; who is refused for the address counts for nobody else.
 * @throws 503 where as many are open as the service or the workspace may have, 429 for an address.
 */
export async function admitStream(deps: CountingDeps, viewer: Viewer, limit: number): Promise<void> {
  const slot = slotNow(deps);
  const ofAll = Array.from({ length: STREAM_COUNTERS }, (_, n) => String(n));
  const [all, workspace, address] = await Promise.all(
    [ofAll, [ofWorkspace(viewer)], [ofAddress(viewer)]].map((counters) => openIn(deps.platform, slot, counters)),
  );
  const ofTheWorkspace = Math.ceil(limit * WORKSPACE_SHARE);
  const ofTheAddress = Math.max(MIN_PER_ADDRESS, Math.floor(limit * ADDRESS_SHARE));
  if (all! >= limit - SPARE_STREAMS || workspace! >= ofTheWorkspace) throw tooMany();
  if (address! >= ofTheAddress) throw tooManyOfAddress();

  if ((await countOne(deps, ofAddress(viewer))) > ofTheAddress) throw tooManyOfAddress();
  if ((await countOne(deps, ofWorkspace(viewer))) > ofTheWorkspace) throw tooMany();
  await countOne(deps, oneOfAll(deps));
}

const AGAIN = { headers: { "retry-after": "30" } };
const tooMany = () =>
  new ApiError("SERVICE_UNAVAILABLE", "Too many live streams are open. The inbox still works.", AGAIN);
const tooManyOfAddress = () => new ApiError("RATE_LIMITED", "Too many live streams are open from this address.", AGAIN);

/** Counts a stream that is open. */
export async function countStream(deps: CountingDeps, viewer: Viewer): Promise<void> {
  const counters = [oneOfAll(deps), ofWorkspace(viewer), ofAddress(viewer)];
  await Promise.all(counters.map((counter) => countOne(deps, counter)));
}

/** @returns how many this slot has by now */
async function countOne({ platform, clock }: CountingDeps, counter: string): Promise<number> {
  const expires = ttl(clock.now() + KEPT_MS);
  const key = { slot: slotNow({ clock }), counter };
  const { n } = await platform.change(OpenStreams, key, { initial: { expires }, add: { n: 1 } });
  return n;
}

const slotNow = ({ clock }: Pick<Deps, "clock">): number => Math.floor(clock.now() / STREAM_SLOT_MS);
const oneOfAll = ({ ids }: Pick<Deps, "ids">): string => String(ids.bytes(1).readUInt8() % STREAM_COUNTERS);
const ofWorkspace = ({ tenant }: Viewer): string => `T#${tenant}`;
const ofAddress = ({ address }: Viewer): string => `A#${hashOf(networkOf(address))}`;

/** The most streams that were open in this slot and the one before, by these counters together. */
async function openIn(platform: Platform, slot: number, counters: readonly string[]): Promise<number> {
  const keys = [slot - 1, slot].flatMap((at) => counters.map((counter) => ({ slot: at, counter })));
  const rows = await platform.getAll(OpenStreams, keys, { eventual: true });
  const sum = (some: typeof rows) => some.reduce((total, row) => total + (row?.n ?? 0), 0);
  return Math.max(sum(rows.slice(0, counters.length)), sum(rows.slice(counters.length)));
}
