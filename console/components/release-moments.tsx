// When something goes out: in the zone of the reader, and how far away that is.
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { dateTime, fullTime, now, zone } from "../app/time.ts";

export interface Moment {
  /** What goes out then, where there are several. */
  name?: string;
  /** Undefined: at once, unless other words say it. */
  at: string | undefined;
  words?: string;
  zone?: string;
}

const far = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const UNITS = [
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
] as const;

/** `in 3 hours`, `2 days ago`. */
export function distance(at: string): string {
  const ms = Date.parse(at) - now();
  const [unit, size] = UNITS.find(([, one]) => Math.abs(ms) >= one) ?? ["minute", MINUTE];
  return far.format(Math.round(ms / size), unit);
}

export function Moments({ all }: { all: readonly Moment[] }) {
  return (
    <ul class="stack tight">
      {all.map(({ name, at, words = "Immediately", zone: own = zone }, n) => (
        <li key={n}>
          {name && <span class="dim">{name}: </span>}
          {at === undefined ? (
            <b>{words}</b>
          ) : (
            <>
              <time dateTime={at} title={fullTime(at, own)}>
                <b>{dateTime(at, own)}</b> {own}
              </time>{" "}
              <span class={Date.parse(at) <= now() ? "fault" : "dim"}>({distance(at)})</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
