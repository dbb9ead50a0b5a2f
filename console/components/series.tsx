// Figures by day as lines that differ by dash, read day by day with the slider or the pointer, and the same as a table.
import { useState } from "preact/hooks";
import type { InsightsGetSeriesAnswer } from "../../sdk/src/types.gen.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import { curveOf } from "../app/curve.ts";
import { now, number } from "../app/time.ts";
import { AsTable } from "./table.tsx";

type Figures = Omit<InsightsGetSeriesAnswer["buckets"][number], "at" | "group">;
export type Measure = keyof Figures;
type Bucket = { at: string; group: string | null } & Partial<Figures>;

/** What one line shows: a measure of one group, or of all buckets. */
export interface Line {
  name: string;
  measure: Measure;
  group?: string;
}

interface SeriesProps {
  caption: string;
  buckets: readonly Bucket[];
  lines: readonly Line[];
  /** The first and the last moment, in milliseconds. */
  from: number;
  to: number;
  /** What happened, shown at its day. */
  flags?: readonly { at: string; text: string }[];
}

const HEIGHT = 160;
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const dayName = (at: number): string => days.format(at);
const dayOf = (at: number): number => Math.floor(at / DAY) * DAY;

/** The next of 1, 2, 5, 10, 20, 50, …: the top of the scale. */
function topOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= most) ?? 10);
}

/** The value of each line on each day. */
function valuesOf(lines: readonly Line[], buckets: readonly Bucket[], dates: readonly number[]): number[][] {
  return lines.map(({ measure, group }) => {
    const byDay = new Map<number, number>();
    for (const bucket of buckets)
      if (group === undefined || bucket.group === group) {
        const day = Date.parse(bucket.at);
        byDay.set(day, (byDay.get(day) ?? 0) + (bucket[measure] ?? 0));
      }
    return dates.map((day) => byDay.get(day) ?? 0);
  });
}

export function Series({ caption, buckets, lines: asked, from, to, flags = [] }: SeriesProps) {
  const isSeen = ({ measure, group }: Line) =>
    buckets.some((bucket) => bucket[measure] && (group === undefined || bucket.group === group));
  // A line that never leaves zero says nothing, unless it is the only one.
  const lines = asked.filter((line, n) => n === 0 || isSeen(line));
  const first = dayOf(from);
  const count = Math.round((dayOf(to) - first) / DAY) + 1;
  const dates = Array.from({ length: count }, (_, n) => first + n * DAY);
  const [chosen, setChosen] = useState<number>();
  const at = Math.min(chosen ?? count - 1, count - 1);
  const values = valuesOf(lines, buckets, dates);
  const flagged = flags
    .map((flag) => ({ ...flag, day: Math.round((dayOf(Date.parse(flag.at)) - first) / DAY) }))
    .filter(({ day }) => day >= 0 && day < count);
  const figures = lines.map(({ name }, n) => `${name} ${number(values[n]?.[at] ?? 0)}`);
  const said = `${dayName(dates[at] ?? first)}: ${figures.join("; ")}`;
  return (
    <div class="series">
      <ul class="legend">
        {lines.map(({ name }, n) => (
          <li key={name}>
            <svg viewBox="0 0 32 8" aria-hidden="true">
              <line class={`line-${n}`} x1="1" x2="31" y1="4" y2="4" />
            </svg>
            {name}: <b>{number(values[n]?.reduce((sum, value) => sum + value, 0) ?? 0)}</b>
          </li>
        ))}
      </ul>
      <Drawn caption={caption} dates={dates} values={values} at={at} said={said} flagged={flagged} choose={setChosen} />
      <p class="hint">
        <b>{said}</b> <span>({dates[at] === dayOf(now()) ? "so far; days" : "days"} in UTC)</span>
        {flagged.map(({ at: when, text, day }) => day === at && <span key={`${when} ${text}`}> · {text}</span>)}
      </p>
      <AsTable
        caption={caption}
        csv={caption}
        rows={dates.map((day, n) => ({ day, n })).reverse()}
        keyOf={({ day }) => String(day)}
        columns={[
          { title: "Day, UTC", cell: ({ day }) => dayName(day) },
          ...lines.map(({ name }, line) => ({
            title: name,
            isNumber: true,
            cell: ({ n }: { n: number }) => number(values[line]?.[n] ?? 0),
          })),
        ]}
      />
    </div>
  );
}

interface DrawnProps {
  caption: string;
  dates: readonly number[];
  values: readonly (readonly number[])[];
  at: number;
  /** The figures of the chosen day, in words. */
  said: string;
  flagged: readonly { day: number }[];
  choose: (day: number) => void;
}

/** The lines with their scales, and the slider that chooses a day. */
function Drawn({ caption, dates, values, at, said, flagged, choose }: DrawnProps) {
  const top = topOf(Math.max(...values.flat()));
  const last = dates.length - 1;
  const nameAt = (n: number) => dayName(dates[n]!);
  return (
    <div class="plot">
      <div class="scale-y" aria-hidden="true">
        <span>{number(top)}</span>
        <span>{Number.isInteger(top / 2) && number(top / 2)}</span>
        <span>0</span>
      </div>
      <Plot
        values={values}
        top={top}
        at={at}
        isOpen={dates[last] === dayOf(now())}
        flags={flagged.map(({ day }) => day)}
        choose={choose}
      />
      <input
        type="range"
        min={0}
        max={last}
        value={at}
        aria-label={`Day of ${caption}`}
        aria-valuetext={said}
        onInput={(event) => choose(Number(event.currentTarget.value))}
      />
      <div class="scale-x" aria-hidden="true">
        <span>{nameAt(0)}</span>
        {last > 3 && <span>{nameAt(Math.floor(last / 2))}</span>}
        <span>{nameAt(last)}</span>
      </div>
    </div>
  );
}

interface PlotProps {
  values: readonly (readonly number[])[];
  top: number;
  at: number;
  /** The last day is today, of which more is to come. */
  isOpen: boolean;
  /** Days with a flag. */
  flags: readonly number[];
  choose: (day: number) => void;
}

/** The lines in a box of one unit a day. The slider below it and the table say the same. */
function Plot({ values, top, at, isOpen, flags, choose }: PlotProps) {
  const last = Math.max(1, (values[0]?.length ?? 1) - 1);
  const y = (value: number) => HEIGHT - (value / top) * HEIGHT;
  return (
    <svg
      viewBox={`0 0 ${last} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerMove={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect();
        choose(Math.max(0, Math.min(last, Math.round(((event.clientX - left) / width) * last))));
      }}
    >
      {[0, HEIGHT / 2, HEIGHT].map((height) => (
        <line key={height} class="rule" x1="0" x2={last} y1={height} y2={height} />
      ))}
      {[...new Set(flags)].map((day) => (
        <line key={day} class="flag" x1={day} x2={day} y1="0" y2={HEIGHT} />
      ))}
      <line class="cursor" x1={at} x2={at} y1="0" y2={HEIGHT} />
      {values.map((line, n) => {
        const pieces = curveOf(line.map((value, day) => [day, y(value)]));
        const today = isOpen ? pieces.pop() : undefined;
        return (
          <g key={n}>
            <path class={`line-${n}`} d={pieces.join("")} />
            {today && <path class={`line-${n} is-open`} d={today} />}
          </g>
        );
      })}
    </svg>
  );
}
