// Who of a send waits for the end of quiet hours, and until when (D-QUIET).
import { timestamp } from "../../clock.ts";
import type { StoreReader } from "../../resources.ts";
import { progressOf } from "../../rules/progress-text.ts";
import { type QuietHours, quietUntil } from "../../rules/quiet-hours.ts";
import { isTimeZone, wallClock } from "../../rules/time-zones.ts";
import { keys, shardOf } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { attributesOf } from "../subscribers/subscribers.ts";
import type { QuietSettings } from "../workspaces/workspaces.ts";
import { chunkOf } from "./chunks.ts";
import type { JobItem } from "./jobs.ts";
import { sumOf, type Tally, tallyOf } from "./tallies.ts";

/** In which zone quiet hours are looked up for somebody. */
export function zoneFor({ timezone_mode }: QuietSettings, workspaceZone: string, profile: Item | undefined): string {
  const zone = timezone_mode === "subscriber" && profile ? attributesOf(profile).timezone : undefined;
  return typeof zone === "string" && isTimeZone(zone) ? zone : workspaceZone;
}

/** Quiet hours as they are for somebody at a moment: `until` is null outside of them. */
export function quietNow(quiet: QuietSettings, workspaceZone: string, profile: Item, now: number) {
  const timezone = zoneFor(quiet, workspaceZone, profile);
  const until = quietUntil(quiet as QuietHours, timezone, now);
  const local_time = new Date(wallClock(timezone, now)).toISOString().slice(0, 16);
  return { ...quiet, timezone, local_time, until: until === undefined ? null : timestamp(until) };
}

const mayDefer = ({ status, deliverySettings }: JobItem): boolean =>
  status === "processing" && deliverySettings?.quiet !== undefined;

/** A job in which somebody may wait for long: who waits, and its totals as far as its ranges know them. */
export async function soFar(store: StoreReader, job: JobItem): Promise<Tally & { deferred: number }> {
  if (!mayDefer(job)) return { ...job, deferred: 0 };
  const ranges = await store.getAll((job.ranges ?? []).map((range) => keys.range(store.tenant, job.id, range)));
  const open = ranges.filter((range) => range !== undefined).filter(({ closed }) => closed !== true);
  return {
    ...sumOf([job, ...open.map(tallyOf)]),
    deferred: open.reduce((sum, { deferred }) => sum + Number(deferred ?? 0), 0),
  };
}

/** When quiet hours end that put off somebody's messages of a job; undefined where none waits. */
export async function deferredUntil(store: StoreReader, job: JobItem, subscriber: string): Promise<number | undefined> {
  if (!mayDefer(job)) return undefined;
  const shard = shardOf(subscriber);
  const isTheirs = (range: string) =>
    range.includes(":") ? range.endsWith(`:${shard}`) : !range.startsWith("s") || range === `s${shard}`;
  for (const range of job.ranges?.filter(isTheirs) ?? []) {
    let after: Key | undefined;
    do {
      const page = await store.query({ pk: keys.jobParts(store.tenant, job.id), prefix: `K#${range}#`, after });
      const claims = page.items.filter(({ deferred }) => Number(deferred ?? 0) > 0);
      const chunks = await store.getAll(claims.map(({ pk, sk }) => ({ pk, sk: `C${sk.slice(1)}` })));
      for (const [i, claim] of claims.entries()) {
        const place = chunks[i] ? chunkOf(chunks[i]).recipients.findIndex((one) => one.subscriber === subscriber) : -1;
        const { work = [], to, next } = progressOf(String(claim.progress));
        const until = [...work.slice(to), ...next].flatMap(({ recipient, quiet }) =>
          recipient === place && quiet !== undefined ? [quiet] : [],
        );
        if (until.length > 0) return Math.min(...until);
      }
      after = page.next;
    } while (after);
  }
  return undefined;
}
