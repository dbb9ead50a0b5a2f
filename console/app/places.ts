// The way from what is refused, in a list, to where it is mended: also in a tab or an arm that is not shown.
import { useEffect } from "preact/hooks";

interface Place {
  /** Whether the API means something in here by the path. */
  has: (path: string) => boolean;
  /** Shows it, and gives it the focus. */
  show: (path: string) => void;
}

const places = new Set<Place>();

export function usePlace(place: Place): void {
  useEffect(() => {
    places.add(place);
    return () => void places.delete(place);
  });
}

/** Undefined where nothing on the screen has it. */
export const placeOf = (path: string): Place | undefined => [...places].find(({ has }) => has(path));
