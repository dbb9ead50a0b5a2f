// The regions of phone numbers, by the names that the browser has for the codes of ISO 3166.

interface Region {
  value: string;
  label: string;
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
/** Named codes without phone numbers of their own: unions, uninhabited islands. */
const NOT_DIALED = new Set([
  "AN",
  "AQ",
  "BV",
  "CP",
  "CQ",
  "DG",
  "EA",
  "EU",
  "EZ",
  "GS",
  "HM",
  "IC",
  "PN",
  "QO",
  "TF",
  "UM",
]);
/** Unions, test regions and the unknown region. */
const NO_PLACES = new Set(["UN", "XA", "XB", "ZZ"]);

const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** A code that stands for another today is left out: `DD` is `DE`. */
const isCurrent = (code: string): boolean => new Intl.Locale(`und-${code}`).region === code;

/** Sorted by name. */
export const regions: readonly Region[] = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
  .filter((code) => !NOT_DIALED.has(code) && !NO_PLACES.has(code) && isCurrent(code))
  .flatMap((code) => {
    const name = names.of(code);
    return name === undefined ? [] : [{ value: code, label: name }];
  })
  .toSorted((a, b) => a.label.localeCompare(b.label, "en"));

/**
 * All regions, with the stored one if it is not among them.
 * @param none the label for no region
 */
export const regionOptions = (chosen: string, none: string): readonly Region[] => [
  { value: "", label: none },
  ...(chosen === "" || regions.some(({ value }) => value === chosen) ? [] : [{ value: chosen, label: chosen }]),
  ...regions,
];
