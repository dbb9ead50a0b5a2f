// Time zones, languages and regions as files name them (AMB-133).
import { isSupportedCountry } from "libphonenumber-js/min";
import { isLocale } from "./contacts.ts";
import { columnKey } from "./import-names.ts";
import { isTimeZone } from "./time-zones.ts";

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"];
/** Those that people name by a word. */
const NAMED = [...LANGUAGES, ..."cs da el fi hu ja ko nb no ro ru sv tr uk zh".split(" ")];
const FIRST = "A".charCodeAt(0);
const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(FIRST + i));

/** Values by their names in the languages of the service, made when first asked. */
function named(type: "region" | "language", codes: () => readonly string[], others: Record<string, string> = {}) {
  let found: Map<string, string> | undefined;
  return (name: string): string | undefined => {
    if (!found) {
      found = new Map(Object.entries(others));
      const display = LANGUAGES.map((language) => new Intl.DisplayNames(language, { type }));
      for (const one of display) for (const code of codes()) found.set(columnKey(one.of(code) ?? code), code);
    }
    return found.get(columnKey(name));
  };
}

const regions = () => LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter((code) => isSupportedCountry(code));
const regionNamed = named("region", regions, {
  usa: "US",
  uk: "GB",
  england: "GB",
  scotland: "GB",
  greatbritain: "GB",
  holland: "NL",
  uae: "AE",
});
const languageNamed = named("language", () => NAMED);

/** A region of ISO 3166 by its code, or by its name in one of the languages of the service. */
export function regionOf(country: string | undefined): string | undefined {
  const text = country?.trim() ?? "";
  const code = text.toUpperCase();
  return isSupportedCountry(code) ? code : regionNamed(text);
}

/** A tag such as `pt-BR`, also as `pt_BR` or by the name of a language. */
export function readLocale(written: string): string | undefined {
  const tag = written.replace("_", "-");
  return /^[a-z]{2,3}(?:-|$)/i.test(tag) && isLocale(tag) ? tag : languageNamed(written);
}

/** HubSpot writes the marks of a zone as words: `america_slash_port_hyphen_au_hyphen_prince`. */
const MARKS: Record<string, string> = { _slash_: "/", _hyphen_: "-", _plus_: "+", _minus_: "-" };
const OF_AMERICA: Record<string, string> = {
  easterntimeuscanada: "America/New_York",
  centraltimeuscanada: "America/Chicago",
  mountaintimeuscanada: "America/Denver",
  pacifictimeuscanada: "America/Los_Angeles",
};

let cities: Map<string, string> | undefined;

/** A zone by its city: `Berlin`, as Rails and those who build on it write it. */
function zoneOfCity(city: string): string | undefined {
  if (!cities) {
    cities = new Map(Object.entries(OF_AMERICA));
    for (const zone of Intl.supportedValuesOf("timeZone")) cities.set(columnKey(zone.split("/").at(-1) ?? zone), zone);
  }
  return cities.get(columnKey(city));
}

/** The IANA name of a time zone. */
export function readZone(written: string): string | undefined {
  if (isTimeZone(written)) return written;
  const marked = written.replaceAll(/_(?:slash|hyphen|plus|minus)_/g, (mark) => MARKS[mark] ?? mark);
  const zone = marked.replaceAll(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
  return isTimeZone(zone) ? zone : zoneOfCity(written);
}
