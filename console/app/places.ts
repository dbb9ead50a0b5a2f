// Leads from a refused field, in a list of problems, to its input: also in a tab or an arm that is not shown.
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

interface FieldPlace {
  /** Whether the path of a refusal is in here. */
  has: (path: string) => boolean;
  /** Shows it with the API's reason, if any, and focuses it. */
  show: (path: string, reason?: string) => void;
}

const places = new Set<FieldPlace>();

export function usePlace(place: FieldPlace): void {
  // Registers before any effect looks up a place: that of the render before may be gone.
  useLayoutEffect(() => {
    places.add(place);
    return () => void places.delete(place);
  });
}

/** Undefined if nothing on the screen has the path. */
export const placeOf = (path: string): FieldPlace | undefined => [...places].find(({ has }) => has(path));

/** Closes what covers the places: a dialog that lists what is wrong. */
export const Cover = createContext<() => void>(() => undefined);

/** @returns undefined where nothing on the screen has the path */
export function useLead(): (path: string, reason?: string) => (() => void) | undefined {
  const uncover = useContext(Cover);
  return (path, reason) => {
    const place = placeOf(path);
    if (!place) return undefined;
    return () => {
      uncover();
      place.show(path, reason);
    };
  };
}
