// Times in files: with a zone, in the zone of the import, or as a bare day (AMB-133).
import { DAY, SECOND } from "../kernel/clock.ts";
import { plainDigits } from "./folded.ts";
import { columnKey, LANGUAGES } from "./import-names.ts";
import { changeNear, isTimeZone } from "./time-zones.ts";
import { parseTimestamp } from "./timestamps.ts";

export const dateOrders = ["ymd", "dmy", "mdy"] as const;
type DateOrder = (typeof dateOrders)[number];

export interface TimeForm {
  /** IANA name. */
  zone: string;
  /** The order of days such as 03/04/2024; without it, an ambiguous day is not read. */
  order?: DateOrder | undefined;
}

/** The order in a pattern such as `dd/mm/yyyy`, `MM-DD-YYYY` or `dmy`. */
export function dateOrderOf(pattern: string): DateOrder | undefined {
  const letters = pattern.toLowerCase().replaceAll(/[\s/.,-]/g, "");
  if (!/^[dmy]+$/.test(letters)) return undefined;
  const order = letters.replaceAll(/(.)\1+/g, "$1");
  return dateOrders.find((candidate) => candidate === order || (order.length === 2 && candidate === `${order}y`));
}

/** Words of a clock: `10:11 Uhr`. */
const OF_A_CLOCK = /^uhr$/i;
const DATE = /^(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})/;
const CLOCK =
  /^(?:[T ,]+|T|,? (?:at|um|à|a las|alle|às|om|o) )(\d{1,2})[:.h](\d{2})(?:[:.](\d{2})(?:[.,]\d{1,9})?)?(?: ?([AP])\.? ?M\.?(?!\p{L}))?/iu;
/** `Z`, `+01:00`, and as JavaScript and Go write it: `GMT+0100 (CET)`, `+0000 UTC`. */
const ZONE = /^ ?(?:(Z|UTC|GMT)|(?:GMT|UTC)?([+-])(\d{2}):?(\d{2})?)(?: UTC| \([^)]*\))?$/i;
/** Names of zones outside IANA, with their hours. */
const NAMED_ZONES: Record<string, number> = {
  MEZ: 1,
  MESZ: 2,
  CEST: 2,
  WEST: 1,
  EEST: 3,
  EDT: -4,
  CDT: -5,
  MDT: -6,
  PDT: -7,
  PST: -8,
};
/** Seconds, or thousandths or millionths of them. */
const UNIX = /^(?:\d{9,10}|\d{13}|\d{16})(?:\.\d+)?$/;
/** The number of a day as spreadsheets count them, of the years 1990 to 2064. */
const SERIAL = /^(?:3[3-9]|[45]\d)\d{3}(?:[.,]\d+)?$/;
const SERIAL_START = Date.UTC(1899, 11, 30);

/** `1st`, `1er`, `1º` */
const ORDINAL = /(?<=^|[^\p{L}\p{N}])(\d{1,2})(?:st|nd|rd|th|er|\.?[ºª°])(?=[\s,])/iu;
const DAY_MONTH =
  /^(?:\p{L}{2,9}\.?,? )?(\d{1,2})(?:\. ?|[ -])(?:de )?(\p{L}{3,12})\.?(?: de)?[ -](\d{4}|\d{2}(?!\d))/u;
const MONTH_DAY = /^(?:\p{L}{2,9}\.?,? )?(\p{L}{3,12})\.? (\d{1,2}),? (\d{4})/u;
const COMPACT = /^((?:19|20)\d{2})(\d{2})(\d{2})(?:[T ]?(\d{2})(\d{2})(\d{2}))?(?=Z?$)/;

let months: Map<string, number> | undefined;
/** The number of a month by its name, or the beginning of it, in the known languages. */
function monthOf(name: string): number | undefined {
  if (!months) {
    months = new Map();
    for (const language of LANGUAGES)
      for (const month of ["long", "short"] as const) {
        const format = new Intl.DateTimeFormat(language, { day: "numeric", month, timeZone: "UTC" });
        for (let n = 1; n <= 12; n++) {
          const part = format.formatToParts(Date.UTC(2024, n - 1, 1)).find(({ type }) => type === "month");
          months.set(columnKey(part?.value ?? ""), n);
        }
      }
  }
  return months.get(columnKey(name)) ?? months.get(columnKey(name).slice(0, 3));
}

/**
 * Replaces the name of a month by figures, and adds separators: `4 Mar 2024`, `4. März 2024`, `20240304`, `2024年3月4日`,
 * `2024. 3. 4.`
 */
function inFigures(text: string): string {
  const signed = text.replace(/^(\d{4})(?:[年년]|\.(?= )) ?(\d{1,2})(?:[月월]|\.(?= )) ?(\d{1,2})[日일.]?/, "$1-$2-$3");
  if (signed !== text) return signed;
  const [compact, ...parts] = COMPACT.exec(text) ?? [];
  if (compact !== undefined) {
    const [year, month, day, hours, minutes, seconds] = parts;
    const clock = hours === undefined ? "" : `T${hours}:${minutes}:${seconds}`;
    return `${year}-${month}-${day}${clock}${text.slice(compact.length)}`;
  }
  const cardinal = text.replace(ORDINAL, "$1");
  const named = DAY_MONTH.exec(cardinal) ?? MONTH_DAY.exec(cardinal);
  if (!named) return text;
  const [whole, first = "", other = "", year = ""] = named;
  const [day, name] = /^\d/.test(first) ? [first, other] : [other, first];
  const month = monthOf(name);
  const fullYear = year.length === 2 ? `20${year}` : year;
  return month === undefined ? text : `${iso(fullYear, String(month), day)}${cardinal.slice(whole.length)}`;
}

/** Earlier times are placeholders such as `0001-01-01` and `1970-01-01`: nobody agreed online before. */
const FIRST = Date.UTC(1990, 0, 1);

/** Reads a time. @returns milliseconds; undefined for other text. A bare day is its start in the zone */
export function readTime(written: string, form: TimeForm): number | undefined {
  const at = instantIn(written, form);
  return at === undefined || at < FIRST ? undefined : at;
}

/** Characters without a form, which some systems write around the parts of a date. */
const UNSEEN = /\p{Cf}/gu;
/** A half of the day before the clock, as in Chinese, Japanese and Korean, or behind it, as in Arabic. */
const HALF_BEFORE = /(上午|午前|오전|下午|午後|오후) ?(\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)/u;
const HALF_BEHIND = /(?<=\d) ?([صم])$/u;
const FIRST_HALVES = "上午|午前|오전|ص";
const halfOf = (word: string): string => (FIRST_HALVES.split("|").includes(word) ? "AM" : "PM");

/** The text with plain digits, and with the halves of a day as in English. */
const asWritten = (text: string): string =>
  plainDigits(text.replaceAll(UNSEEN, ""))
    .replace(HALF_BEFORE, (_, half: string, clock: string) => `${clock} ${halfOf(half)}`)
    .replace(HALF_BEHIND, (_, half: string) => ` ${halfOf(half)}`);

function instantIn(written: string, form: TimeForm): number | undefined {
  const text = inFigures(asWritten(written));
  const exact = parseTimestamp(text);
  if (exact !== undefined) return exact;
  if (SERIAL.test(text)) return instantOf(serialTime(text), form.zone);
  if (UNIX.test(text)) return unixTime(Number(text));
  const date = DATE.exec(text);
  const day = date && dayOf(date, form.order);
  if (!date || !day) return undefined;
  let rest = text.slice(date[0].length);
  const clock = CLOCK.exec(rest);
  rest = rest.slice(clock?.[0].length ?? 0).trim();
  if (clock) rest = rest.replace(OF_A_CLOCK, "");
  const local = parseTimestamp(`${day}T${timeOf(clock)}Z`);
  if (local === undefined) return undefined;
  if (rest === "") return instantOf(local, form.zone);
  if (!clock) return undefined;
  // Java writes the name of a zone after its offset.
  const zone = ZONE.exec(rest.replace(/(?<=\d)\[[^\]]+\]$/, ""));
  if (zone) return local - offsetOf(zone);
  const hours = NAMED_ZONES[rest.toUpperCase()];
  if (hours !== undefined) return local - hours * 60 * 60 * SECOND;
  return isTimeZone(rest) ? instantOf(local, rest) : undefined;
}

/** The unit follows from the size: seconds have at most eleven digits, and thousandths at most fourteen. */
function unixTime(n: number): number {
  if (n < 1e11) return Math.floor(n * SECOND);
  return Math.floor(n < 1e14 ? n : n / 1_000);
}

/** The time of a serial number, to the second. */
const serialTime = (text: string): number =>
  SERIAL_START + Math.round((Number(text.replace(",", ".")) * DAY) / SECOND) * SECOND;

/** `YYYY-MM-DD`; undefined for an ambiguous day. */
function dayOf([_, a = "", mark, b = "", c = ""]: RegExpExecArray, said: DateOrder | undefined): string | undefined {
  // With points as separators, the day always comes first.
  const order = said ?? (mark === "." ? "dmy" : undefined);
  if (a.length === 4) return c.length > 2 ? undefined : iso(a, b, c);
  // A year of two digits is read only if the order is given.
  if (said !== undefined && said !== "ymd" && c.length === 2 && a.length <= 2)
    return said === "dmy" ? iso(`20${c}`, b, a) : iso(`20${c}`, a, b);
  if (c.length !== 4 || a.length > 2) return undefined;
  if (order === "dmy") return iso(c, b, a);
  if (order === "mdy") return iso(c, a, b);
  if (Number(a) > 12 || a === b) return iso(c, b, a);
  return Number(b) > 12 ? iso(c, a, b) : undefined;
}

const iso = (year: string, month: string, day: string) => `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;

function timeOf(clock: RegExpExecArray | null): string {
  const [_, hour = "0", minute = "00", second = "00", half] = clock ?? [];
  const hours = half ? (Number(hour) % 12) + (half.toUpperCase() === "P" ? 12 : 0) : Number(hour);
  return `${String(hours).padStart(2, "0")}:${minute}:${second}`;
}

const offsetOf = ([_, utc, sign, hours = "0", minutes = "0"]: RegExpExecArray): number =>
  utc ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60 * SECOND;

/** The instant of a local time: the first of two, and the end of a gap that contains it. */
function instantOf(local: number, zone: string): number {
  const { at, before, after } = changeNear(zone, local);
  if (local - before < at) return local - before;
  return Math.max(at, local - after);
}

/** A longer name is not tried, because the form below can match a text in several ways. */
const MAX_MOMENT = 60;
/** A name made only of words for consent and time: no time of a request, a reminder or a mail. */
const OF_A_MOMENT = new RegExp(
  `^(?:${[
    "subscription subscribed subscriber subscribe confirmation confirmed confirm permission agreement agreed acceptance accepted accepts accept",
    "consented consents consent registration registered signedup signup joined double single optin opted opt in newsletter marketing",
    "emails email mails mail sms whatsapp text status state granted given obtained collected timestamp datetime date time at on of the is was",
    "since first last updated update changed change modified when einwilligung zustimmung anmelde(?:datum)? anmeldung angemeldet abonniert",
    "bestatigung bestatigt erteilt werbe werbung zeitpunkt datum zeit seit der des am um consentement inscription inscrit abonnement",
    "abonne acceptation accepte recueilli depuis de du la le suscripcion consentimiento suscrito aceptacion alta fecha desde del el",
    "iscrizione iscritto consenso accettazione dal il data della di consentimento inscricao subscricao inscrito assinatura aceite em da do toestemming",
    "gegeven ingeschreven inschrijving aangemeld aanmelding sinds op van zgody zgoda zapisu zapisany subskrypcji od dnia utc gmt",
    "nieuwsbrief nyhetsbrev nyhedsbrev boletin infolettre newsletters newslettera a al na no aux au les alla zum zur fur voor do wyrazenia udzielenia 同意 登録 購読 開始 承諾 許可 配信 メルマカ 日時 日 s d",
  ]
    .flatMap((line) => line.normalize("NFKD").split(" "))
    .join("|")})+$`,
);

/** Whether a column name means when a person agreed (AMB-132). */
export const isOfMoment = (key: string): boolean => key.length <= MAX_MOMENT && OF_A_MOMENT.test(key);
