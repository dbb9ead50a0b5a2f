// When something goes out: in the zone of the reader, and how far away that is.
import { dateTime, distance, fullTime, now, zone } from "../app/time.ts";

export interface Moment {
  /** What goes out then, where there are several. */
  name?: string;
  /** Undefined: at once, unless other words say it. */
  at: string | undefined;
  words?: string;
  zone?: string;
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
