// When messages arrive and are opened: a week of hours in one hue, its values on focus, and the same as a table.
import { useState } from "preact/hooks";
import type { Heatmap as Cell } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { DAY_NAMES, number } from "../../app/time.ts";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Card } from "../../components/page.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { AsTable } from "../../components/table.tsx";

/** Monday first; the API counts from Sunday. */
const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const LEVELS = 7;
const EVERY_MS = 10_000;

const MEASURES = { opened: "Opened", delivered: "Delivered" };
type Measure = keyof typeof MEASURES;
type Hour = { weekday: number; hour: number };

const hourName = (hour: number): string => `${String(hour).padStart(2, "0")}:00`;
const nameOf = ({ weekday, hour }: Hour): string => `${DAY_NAMES[weekday]} ${hourName(hour)} UTC`;

/** 0 for none, then six equal steps up to the highest value. */
const levelOf = (value: number, most: number): number => (value === 0 ? 0 : Math.ceil((value / most) * (LEVELS - 1)));

export function Heatmap({ days }: { days: number }) {
  const heatmap = useQuery("insights.getHeatmap", [{ days }], { every: EVERY_MS });
  const measure = chosenOf("measure", ["delivered"]) ?? "opened";
  return (
    <Card
      title="When people read"
      actions={<Filter small name="measure" label="Measure" value={measure} options={MEASURES} />}
    >
      <Loaded query={heatmap} skeleton={<Skeleton rows={7} />}>
        {({ cells }) =>
          cells.length === 0 ? (
            <Empty title={`No message was delivered in the last ${days} days.`} />
          ) : (
            <Week cells={cells} measure={measure} />
          )
        }
      </Loaded>
    </Card>
  );
}

/** Where an arrow key leads. */
const MOVES: Record<string, readonly [rows: number, hours: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function Week({ cells, measure }: { cells: readonly Cell[]; measure: Measure }) {
  const byHour = new Map(cells.map((cell) => [`${cell.weekday} ${cell.hour}`, cell]));
  const most = Math.max(1, ...cells.map((cell) => cell[measure]));
  const best = cells.reduce((top, cell) => (cell[measure] > top[measure] ? cell : top));
  const [at, setAt] = useState<Hour>({ weekday: best.weekday, hour: best.hour });
  const cellAt = ({ weekday, hour }: Hour) => byHour.get(`${weekday} ${hour}`) ?? { delivered: 0, opened: 0 };
  const chosen = cellAt(at);
  return (
    <>
      <Grid at={at} choose={setAt} label={measure} countOf={(hour) => cellAt(hour)[measure]} most={most} />
      <div class="heatmap-foot">
        <output>
          <b>{nameOf(at)}</b>: {number(chosen.delivered)} delivered, {number(chosen.opened)} opened
        </output>
        <span class="scale" aria-hidden="true">
          0
          {Array.from({ length: LEVELS }, (_, level) => (
            <i key={level} class={`heat-${level}`} />
          ))}
          {number(most)}
        </span>
      </div>
      <AsTable
        caption="Messages by weekday and hour"
        rows={[...cells].sort((a, b) => b[measure] - a[measure])}
        keyOf={({ weekday, hour }) => `${weekday} ${hour}`}
        columns={[
          { title: "Weekday", cell: ({ weekday }) => DAY_NAMES[weekday] },
          { title: "Hour, UTC", cell: ({ hour }) => hourName(hour) },
          { title: "Delivered", isNumber: true, cell: ({ delivered }) => number(delivered) },
          { title: "Opened", isNumber: true, cell: ({ opened }) => number(opened) },
        ]}
      />
    </>
  );
}

interface GridProps {
  at: Hour;
  choose: (hour: Hour) => void;
  label: string;
  countOf: (hour: Hour) => number;
  most: number;
}

function Grid({ at, choose, label, countOf, most }: GridProps) {
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = MOVES[event.key];
    if (!step) return;
    event.preventDefault();
    const weekday = WEEKDAYS[(WEEKDAYS.indexOf(at.weekday) + step[0] + 7) % 7] ?? 1;
    const hour = (at.hour + step[1] + 24) % 24;
    choose({ weekday, hour });
    event.currentTarget.querySelector<HTMLElement>(`[data-hour="${weekday} ${hour}"]`)?.focus();
  };
  return (
    <div class="table-wrap plain">
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move among the hours */}
      <table class="heatmap" role="grid" aria-label={`${label} by weekday and hour in UTC`} onKeyDown={move}>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">Weekday, hour in </span>UTC
            </th>
            {HOURS.map((hour) => (
              <th key={hour} scope="col">
                {hour % 3 === 0 ? hour : <span class="unseen">{hour}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {WEEKDAYS.map((weekday) => (
            <tr key={weekday}>
              <th scope="row">{DAY_NAMES[weekday]?.slice(0, 3)}</th>
              {HOURS.map((hour) => (
                <td
                  key={hour}
                  // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of the grid
                  role="gridcell"
                  class={`heat-${levelOf(countOf({ weekday, hour }), most)}`}
                  tabIndex={at.weekday === weekday && at.hour === hour ? 0 : -1}
                  data-hour={`${weekday} ${hour}`}
                  onFocus={() => choose({ weekday, hour })}
                  onMouseOver={() => choose({ weekday, hour })}
                >
                  <span class="unseen">{number(countOf({ weekday, hour }))}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
