// Time zones, languages and regions as files name them (AMB-133).
import { getCountryCallingCode, isSupportedCountry } from "libphonenumber-js/min";
import { isLocale } from "./contacts.ts";
import { columnKey, LANGUAGES } from "./import-names.ts";
import { isTimeZone } from "./time-zones.ts";

/** The languages that people name by a word. */
const NAMED = [...LANGUAGES, ..."cs da el fi hu ja ko nb no ro ru sv tr uk zh".split(" ")];
const FIRST = "A".charCodeAt(0);
const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(FIRST + i));

/** Values by their names in these languages, computed when first needed. */
function named(type: "region" | "language", codes: () => readonly string[], others: Record<string, string> = {}) {
  let found: Map<string, string> | undefined;
  return (name: string): string | undefined => {
    if (!found) {
      found = new Map(Object.entries(others));
      const display = NAMED.map((language) => new Intl.DisplayNames(language, { type }));
      for (const regionNames of display)
        for (const code of codes()) found.set(columnKey(regionNames.of(code) ?? code), code);
    }
    return found.get(columnKey(name));
  };
}

const regions = () => LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter((code) => isSupportedCountry(code));
const regionNamed = named("region", regions, {
  usa: "US",
  unitedstatesofamerica: "US",
  uk: "GB",
  england: "GB",
  scotland: "GB",
  greatbritain: "GB",
  holland: "NL",
  thenetherlands: "NL",
  uae: "AE",
  korea: "KR",
  republicofkorea: "KR",
  turkey: "TR",
  turkei: "TR",
  czechrepublic: "CZ",
  russianfederation: "RU",
  vietnam: "VN",
  // The names in German address books.
  a: "AT",
  b: "BE",
  d: "DE",
  e: "ES",
  f: "FR",
  i: "IT",
  l: "LU",
  p: "PT",
});

/** The regions of three-letter codes that do not begin like their two-letter codes, or begin like several. */
const THREE_LETTERS = new Map(
  (
    "AUSAU AUTAT BELBE BGRBG BRABR CANCA CHECH CHLCL CHNCN COLCO CYPCY CZECZ DEUDE DNKDK ESPES ESTEE FINFI FRAFR GBRGB GRCGR " +
    "HRVHR HUNHU INDIN IDNID IRLIE ISLIS ISRIL ITAIT JPNJP KORKR LIELI LTULT LUXLU LVALV MEXMX MLTMT NLDNL NORNO NZLNZ POLPL " +
    "PRTPT ROURO RUSRU SAUSA SGPSG SRBRS SVKSK SVNSI SWESE THATH TURTR UKRUA USAUS ZAFZA AREAE ARGAR VNMVN PHLPH MYSMY HKGHK"
  )
    .split(" ")
    .map((code) => [code.slice(0, 3), code.slice(3)]),
);

/** The region with most numbers of a calling code, if it has several. */
const OF_SEVERAL: Record<string, string> = { "1": "US", "7": "RU", "39": "IT", "44": "GB", "47": "NO", "61": "AU" };
let callingCodes: Map<string, string> | undefined;
/**
 * The region of a calling code: `+49`, or `49`. A code of three digits without a plus may be the ISO number of a
 * country.
 */
function regionOfCalling(text: string): string | undefined {
  const [, plus, digits = ""] = /^(\+|00)?(\d{1,3})$/.exec(text) ?? [];
  if (digits === "" || (plus === undefined && digits.length > 2)) return undefined;
  callingCodes ??= new Map([
    ...regions().flatMap((code) =>
      isSupportedCountry(code) ? [[String(getCountryCallingCode(code)), code] as const] : [],
    ),
    ...Object.entries(OF_SEVERAL),
  ]);
  return callingCodes.get(digits);
}
const languageNamed = named("language", () => NAMED);

/**
 * A region of ISO 3166 by one of its codes (`DE`, `DEU`, `GB-ENG`), its calling code, or its name in one of the known
 * languages, which the code may follow: `Schweiz (CH)`.
 */
export function regionOf(country: string | undefined): string | undefined {
  const text = country?.trim() ?? "";
  const [, code = text] = /\(([A-Z]{2})\)$/.exec(text) ?? /^([A-Z]{2})-[A-Z0-9]{1,3}$/.exec(text) ?? [];
  const upper = code.toUpperCase();
  return isSupportedCountry(upper) ? upper : (THREE_LETTERS.get(upper) ?? regionNamed(text) ?? regionOfCalling(text));
}

/** A tag such as `pt-BR`, also as `pt_BR` or the name of a language. */
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

/** A zone by its city: `Berlin`, as Rails and programs built on it write it. */
function zoneOfCity(city: string): string | undefined {
  if (!cities) {
    cities = new Map(Object.entries(OF_AMERICA));
    for (const zone of Intl.supportedValuesOf("timeZone")) cities.set(columnKey(zone.split("/").at(-1) ?? zone), zone);
  }
  return cities.get(columnKey(city));
}

const HOUR_MINUTES = 60;
const MAX_HOURS = 14;
/** Zones without summer time whose offsets are no whole hours, in minutes. */
const OF_ODD_OFFSETS = new Map([
  [210, "Asia/Tehran"],
  [270, "Asia/Kabul"],
  [330, "Asia/Kolkata"],
  [345, "Asia/Kathmandu"],
  [390, "Asia/Yangon"],
  [570, "Australia/Darwin"],
]);
/** `UTC+2`, `+09:00`, `GMT-5`. */
const OFFSET = /^(?:UTC|GMT)?\s?([+\u2212-])(\d{1,2})(?::?([0-5]\d))?$/i;
/** Offsets in seconds, as OneSignal writes them: at least a quarter of an hour. */
const SECONDS = /^-?\d{4,5}$/;
const QUARTER = 900;

/** A zone that always has this offset, because the real zone is unknown. Its name has the opposite sign. */
function zoneOfOffset(text: string): string | undefined {
  const minutes = offsetOf(text);
  if (minutes === undefined) return undefined;
  if (minutes % HOUR_MINUTES !== 0) return OF_ODD_OFFSETS.get(minutes);
  const hours = minutes / HOUR_MINUTES;
  const name = hours === 0 ? "UTC" : `Etc/GMT${hours > 0 ? "-" : "+"}${Math.abs(hours)}`;
  return isTimeZone(name) ? name : undefined;
}

/** The offset in minutes, positive east of Greenwich. */
function offsetOf(text: string): number | undefined {
  const [, sign, hours = "", minutes = "0"] = OFFSET.exec(text) ?? [];
  const total = Number(hours) * HOUR_MINUTES + Number(minutes);
  if (sign !== undefined && Number(hours) <= MAX_HOURS) return sign === "+" ? total : -total;
  const seconds = Number(text);
  return SECONDS.test(text) && seconds % QUARTER === 0 ? seconds / HOUR_MINUTES : undefined;
}

/** An offset and a name, in either order: `(UTC+01:00) Amsterdam, Berlin`, `Europe/Berlin (GMT+1)`. */
const OFFSET_AND_NAME = /^\(([^()]+)\)\s+(.+)$/;
const NAME_AND_OFFSET = /^([^()]+?)\s*\(([^()]+)\)$/;

function zoneOfBoth(written: string): string | undefined {
  const [, before, after] = OFFSET_AND_NAME.exec(written) ?? [];
  const [, name = after, offset = before] = NAME_AND_OFFSET.exec(written) ?? [];
  const fixed = zoneOfOffset(offset ?? "");
  if (name === undefined || fixed === undefined) return undefined;
  return readZone(name) ?? name.split(",").flatMap((city) => zoneOfCity(city) ?? [])[0] ?? fixed;
}

/** The IANA name of a time zone. */
export function readZone(written: string): string | undefined {
  if (isTimeZone(written)) return written;
  const marked = written.replaceAll(/_(?:slash|hyphen|plus|minus)_/g, (mark) => MARKS[mark] ?? mark);
  const zone = marked.replaceAll(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
  if (isTimeZone(zone)) return zone;
  return zoneOfCity(written) ?? zoneOfWindows(written) ?? zoneOfOffset(written) ?? zoneOfBoth(written);
}

/**
 * Zones by their Windows names, which Outlook, Exchange and Dynamics use (the table `windowsZones` of CLDR): `name =
 * zone`, the name without its `Standard Time`.
 */
const WINDOWS_ZONES = `
  AUS Central = Australia/Darwin; AUS Eastern = Australia/Sydney; Afghanistan = Asia/Kabul; Alaskan = America/Anchorage;
  Aleutian = America/Adak; Altai = Asia/Barnaul; Arab = Asia/Riyadh; Arabian = Asia/Dubai; Arabic = Asia/Baghdad;
  Argentina = America/Argentina/Buenos_Aires; Astrakhan = Europe/Astrakhan; Atlantic = America/Halifax;
  Aus Central W. = Australia/Eucla; Azerbaijan = Asia/Baku; Azores = Atlantic/Azores; Bahia = America/Bahia;
  Bangladesh = Asia/Dhaka; Belarus = Europe/Minsk; Canada Central = America/Regina; Cape Verde = Atlantic/Cape_Verde;
  Caucasus = Asia/Yerevan; Cen. Australia = Australia/Adelaide; Central America = America/Guatemala;
  Central Asia = Asia/Almaty; Central Brazilian = America/Cuiaba; Central Europe = Europe/Budapest;
  Central European = Europe/Warsaw; Central Pacific = Pacific/Guadalcanal; Central = America/Chicago;
  Central (Mexico) = America/Mexico_City; China = Asia/Shanghai; Cuba = America/Havana; E. Africa = Africa/Nairobi;
  E. Australia = Australia/Brisbane; E. Europe = Europe/Chisinau; E. South America = America/Sao_Paulo;
  Eastern = America/New_York; Eastern (Mexico) = America/Cancun; Egypt = Africa/Cairo; Ekaterinburg = Asia/Yekaterinburg;
  FLE = Europe/Kyiv; Fiji = Pacific/Fiji; GMT = Europe/London; GTB = Europe/Bucharest; Georgian = Asia/Tbilisi;
  Greenland = America/Nuuk; Greenwich = Atlantic/Reykjavik; Haiti = America/Port-au-Prince; Hawaiian = Pacific/Honolulu;
  India = Asia/Kolkata; Iran = Asia/Tehran; Israel = Asia/Jerusalem; Jordan = Asia/Amman; Kaliningrad = Europe/Kaliningrad;
  Korea = Asia/Seoul; Libya = Africa/Tripoli; Magallanes = America/Punta_Arenas; Mauritius = Indian/Mauritius;
  Middle East = Asia/Beirut; Montevideo = America/Montevideo; Morocco = Africa/Casablanca; Mountain = America/Denver;
  Mountain (Mexico) = America/Mazatlan; Myanmar = Asia/Yangon; N. Central Asia = Asia/Novosibirsk;
  Namibia = Africa/Windhoek; Nepal = Asia/Kathmandu; New Zealand = Pacific/Auckland; Newfoundland = America/St_Johns;
  North Asia East = Asia/Irkutsk; North Asia = Asia/Krasnoyarsk; Omsk = Asia/Omsk; Pacific SA = America/Santiago;
  Pacific = America/Los_Angeles; Pacific (Mexico) = America/Tijuana; Pakistan = Asia/Karachi; Paraguay = America/Asuncion;
  Romance = Europe/Paris; Russia Time Zone 3 = Europe/Samara; Russian = Europe/Moscow; SA Eastern = America/Cayenne;
  SA Pacific = America/Bogota; SA Western = America/La_Paz; SE Asia = Asia/Bangkok; Samoa = Pacific/Apia;
  Saratov = Europe/Saratov; Singapore = Asia/Singapore; South Africa = Africa/Johannesburg; Sri Lanka = Asia/Colombo;
  Sudan = Africa/Khartoum; Syria = Asia/Damascus; Taipei = Asia/Taipei; Tasmania = Australia/Hobart; Tokyo = Asia/Tokyo;
  Tomsk = Asia/Tomsk; Tonga = Pacific/Tongatapu; Transbaikal = Asia/Chita; Turkey = Europe/Istanbul;
  US Eastern = America/Indiana/Indianapolis; US Mountain = America/Phoenix; Ulaanbaatar = Asia/Ulaanbaatar;
  Venezuela = America/Caracas; Vladivostok = Asia/Vladivostok; Volgograd = Europe/Volgograd; W. Australia = Australia/Perth;
  W. Central Africa = Africa/Lagos; W. Europe = Europe/Berlin; W. Mongolia = Asia/Hovd; West Asia = Asia/Tashkent;
  West Bank = Asia/Hebron; West Pacific = Pacific/Port_Moresby; Yakutsk = Asia/Yakutsk; Yukon = America/Whitehorse
`;

let zones: Map<string, string> | undefined;

/** The IANA name of `W. Europe Standard Time`. */
function zoneOfWindows(written: string): string | undefined {
  const name = /^(.+) (?:Standard|Daylight) Time( \(Mexico\))?$/.exec(written);
  if (!name) return undefined;
  zones ??= new Map(
    WINDOWS_ZONES.split(";").map((line) => {
      const [of = "", zone = ""] = line.split(" = ");
      return [of.trim(), zone.trim()];
    }),
  );
  return zones.get(`${name[1]}${name[2] ?? ""}`);
}
