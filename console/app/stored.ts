// What this browser keeps for the page. A storage may be closed to it, or full: then nothing is kept, and the page goes on.

type Kind = "localStorage" | "sessionStorage";

/** Empty where nothing is kept. */
export function stored(kind: Kind, key: string): string {
  try {
    return globalThis[kind].getItem(key) ?? "";
  } catch {
    // It is closed to this page.
    return "";
  }
}

/** @param text undefined: it is kept no longer; @returns whether it is as was asked */
export function store(kind: Kind, key: string, text: string | undefined): boolean {
  try {
    if (text === undefined) globalThis[kind].removeItem(key);
    else globalThis[kind].setItem(key, text);
    return true;
  } catch {
    // It is closed to this page, or full.
    return false;
  }
}
