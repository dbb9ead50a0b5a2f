// The key figures of a report: each rate with what it is a share of, and its course by day.
import type { ComponentChildren } from "preact";
import { Spark } from "./spark.tsx";

export interface Rate {
  label: string;
  value: ComponentChildren;
  /** What it is a share of, or what it counts. */
  base: ComponentChildren;
  /** By day. */
  course?: readonly number[] | undefined;
}

export const Rates = ({ of }: { of: readonly (Rate | false)[] }) => (
  <ul class="rates">
    {of.map(
      (rate) =>
        rate && (
          <li key={rate.label}>
            <span class="rate-label">{rate.label}</span>
            <span class="rate-value">
              <b>{rate.value}</b>
              {rate.course && <Spark values={rate.course} />}
            </span>
            <span class="dim">{rate.base}</span>
          </li>
        ),
    )}
  </ul>
);
