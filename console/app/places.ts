// The way from what is refused, in a list, to where it is mended: also in a tab or an arm that is not shown.
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

interface FieldPlace {
  /** Whether the API means something in here by the path. */
  has: (path: string) => boolean;
  /** Shows it with what is wrong, if the API refused it, and gives it the focus. */
  show: (path: string, reason?: string) => void;
}

const places = new Set<FieldPlace>();

export function usePlace(place: FieldPlace): void {
  // Before any effect asks for a place: that of a render before may be gone.
  useLayoutEffect(() => {
    places.add(place);
    return () => void places.delete(place);
  });
}

/** Undefined where nothing on the screen has it. */
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
