// A schedule fires at every time that its expression names while it is active, once, to everybody (SCH).
import { HOUR, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import { isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { timeOf } from "../sandbox-time.ts";

/** How late a tick may be where nothing goes wrong. */
const FIRED_WITHIN_MS = 5 * SECOND;
const TOO_LATE_MS = HOUR;

type Broken = (text: string, ...entities: string[]) => void;

export const schedules: Invariant = {
  name: "schedules",
  watch: (world, broken) => {
    const { ledger, profile, mirror } = world;
    /** By schedule: the ticks that were taken and not skipped, and the jobs made. */
    const ticks = new Map<string, number[]>();
    const jobs = new Map<string, number>();
    const sizes = new Map<string, number>();
    return {
      commit: ({ pk, sk, before, after }) => {
        const place = placeOf(pk);
        if (isJob(pk) && !before && after?.source_type === "schedule") {
          const of = String(after.source_id);
          jobs.set(of, (jobs.get(of) ?? 0) + 1);
          const stopped = ledger.stopped.get(of);
          if (stopped !== undefined) broken(`${of} fired after it was switched off`, of);
        }
        if (place?.kind !== "schedule" || place.id !== "" || !after) return;
        const { tenant } = place;
        const now = timeOf(world, tenant);
        const next = after.next as number | undefined;
        if (before === undefined || before.revision !== after.revision) {
          if (after.active === true) checkNext(sk, after, now + profile.skewMs, broken);
          return;
        }
        const tick = before.next as number | undefined;
        if (tick === undefined || tick === next) return;
        if (!isNamed(after, tick)) broken(`${sk} fired at ${new Date(tick).toISOString()}`, sk);
        const late = now - tick;
        if (late < -profile.skewMs) broken(`${sk} fired ${-late} ms early`, sk);
        if (profile.name === "calm" && !isSandbox(tenant) && late > FIRED_WITHIN_MS)
          broken(`${sk} fired ${late} ms late`, sk, tenant);
        const isMissed = after.last_missed_at !== before.last_missed_at;
        if (isMissed && late < TOO_LATE_MS - 2 * profile.skewMs) broken(`${sk} missed a tick after ${late} ms`, sk);
        if (!isMissed) ticks.set(sk, [...(ticks.get(sk) ?? []), tick]);
        if (late < TOO_LATE_MS - 2 * profile.skewMs) checkNext(sk, after, tick, broken);
      },
      end: () => {
        for (const schedule of new Set([...ticks.keys(), ...jobs.keys()])) {
          const [taken, made] = [ticks.get(schedule) ?? [], jobs.get(schedule) ?? 0];
          if (taken.length !== made) broken(`${schedule} took ${taken.length} ticks and made ${made} sends`, schedule);
        }
        for (const pk of mirror.partitions()) {
          const place = placeOf(pk);
          if (!place) continue;
          if (/^S[0-9a-f]$/.test(place.kind))
            for (const [sk] of mirror.under(pk))
              if (sk.length === 36) sizes.set(place.tenant, (sizes.get(place.tenant) ?? 0) + 1);
        }
        for (const pk of mirror.partitions())
          for (const item of isJob(pk) ? mirror.under(pk).values() : []) {
            if (item.source_type !== "schedule" || item.status !== "completed") continue;
            const total = Number(item["n:total"] ?? 0);
            const size = sizes.get(placeOf(pk)!.tenant) ?? 0;
            if (total !== size) broken(`job ${item.id} had ${total} recipients of ${size}`, String(item.id));
          }
      },
    };
  },
};

type Row = Readonly<Record<string, unknown>>;

/** The next tick is named by the expression, and no earlier one after `after` is. */
function checkNext(id: string, row: Row, after: number, broken: Broken): void {
  const next = Number(row.next);
  if (!isNamed(row, next)) broken(`${id} is next at ${row.next}, which ${row.cron_expression} does not name`, id);
  for (let at = (Math.floor(after / MINUTE) + 1) * MINUTE; at < next; at += MINUTE)
    if (isNamed(row, at)) broken(`${id} leaves out ${new Date(at).toISOString()}`, id);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the wall clock of the zone shows a time of the expression: `*` and ranges with steps suffice here. */
function isNamed({ cron_expression, timezone }: Row, at: number): boolean {
  if (at % MINUTE !== 0) return false;
  const zone = String(timezone);
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  formats.set(zone, format);
  const [hour = 0, minute = 0] = format.format(at).split(":").map(Number);
  const [minutes = "", hours = ""] = String(cron_expression).split(" ");
  return matches(minutes, minute) && matches(hours, hour);
}

const matches = (field: string, value: number): boolean =>
  field.split(",").some((part) => {
    const [range = "", step = "1"] = part.split("/");
    const [from = "0", to = from] = range === "*" ? ["0", "59"] : range.split("-");
    return value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0;
  });
