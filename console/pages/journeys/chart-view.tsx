// How the chart is looked at: larger and smaller, and moved by its background.
import type { TargetedPointerEvent } from "preact";
import { Button } from "../../components/button.tsx";

export const SMALLEST = 0.4;
const LARGEST = 1.6;
const STEP = 0.2;

interface ZoomProps {
  zoom: number;
  set: (zoom: number) => void;
  fit: () => void;
}

export const Zoom = ({ zoom, set, fit }: ZoomProps) => (
  <fieldset class="chart-zoom" aria-label="Zoom">
    <Button kind="quiet" icon="dash" label="Smaller" onClick={() => set(Math.max(SMALLEST, zoom - STEP))} />
    <Button kind="quiet" onClick={fit}>
      {Math.round(zoom * 100)}%
    </Button>
    <Button kind="quiet" icon="plus" label="Larger" onClick={() => set(Math.min(LARGEST, zoom + STEP))} />
  </fieldset>
);

/** The chart is moved by its background. */
export const panning = {
  onPointerDown: ({ target, currentTarget, pointerId, button }: TargetedPointerEvent<HTMLElement>) => {
    const isFree = target instanceof Element && !target.closest("button");
    if (isFree && button === 0) currentTarget.setPointerCapture(pointerId);
  },
  onPointerMove: ({ currentTarget, pointerId, movementX, movementY }: TargetedPointerEvent<HTMLElement>) => {
    if (currentTarget.hasPointerCapture(pointerId)) currentTarget.scrollBy(-movementX, -movementY);
  },
};
