// The text form of progress in the row of a claim: a few hundred bytes as long as nothing fails.
import { isKnownProvider } from "./mailbox-providers.ts";
import { type LedgerState, ledgerStates, newProgress, type Progress, type Unit, type Verdict } from "./progress.ts";
import { byPlace } from "./progress-rounds.ts";

const letterOf = (state: LedgerState): string => (state === "skipped" ? "k" : state.charAt(0));
const shortStates = new Map(ledgerStates.map((state) => [letterOf(state), state]));

/** The text that `progressOf` reads. */
export function progressText({ work, next, pending, counted, ...others }: Progress): string {
  const { countedBy, reached, missed, unsure, ...rest } = others;
  const sets = Object.entries({ countedBy, reached, missed, unsure }).filter(([, value]) => !isEmpty(value));
  const plain = Object.entries(rest).filter(([, value]) => !isEmpty(value));
  return JSON.stringify({
    ...Object.fromEntries(plain),
    ...(work && { work: unitsText(work) }),
    ...(next.length > 0 && { next: unitsText(next) }),
    ...(pending.length > 0 && { pending: pending.map(verdictText) }),
    ...(counted !== 0n && { counted: counted.toString(36) }),
    ...Object.fromEntries(sets.map(([name, value]) => [name, setsText(value)])),
  });
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === 0 ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0);

/** @param text absent: nothing was done yet */
export function progressOf(text = "{}"): Progress {
  const { work, next = "", pending = [], counted = "", ...others } = JSON.parse(text);
  const { countedBy = {}, reached = {}, missed = {}, unsure = {}, ...rest } = others;
  return {
    ...newProgress(),
    ...rest,
    ...(work !== undefined && { work: unitsIn(work) }),
    next: unitsIn(next),
    pending: pending.map(verdictIn),
    counted: fromBase36(counted),
    countedBy: setsIn(countedBy),
    reached: setsIn(reached),
    missed: setsIn(missed),
    unsure: setsIn(unsure),
  };
}

/**
 * A letter for the state, then the reason. A capital letter: the mailbox provider and a colon come before the reason.
 */
const verdictText = ({ state, reason = "", mailbox }: Verdict): string =>
  mailbox === undefined ? letterOf(state) + reason : `${letterOf(state).toUpperCase()}${mailbox}:${reason}`;

function verdictIn(text: string): Verdict {
  const letter = text.charAt(0);
  const state = shortStates.get(letter.toLowerCase()) ?? "unknown";
  const cut = letter === letter.toLowerCase() ? 0 : text.indexOf(":");
  const [mailbox, reason] = [text.slice(1, cut), text.slice(cut + 1)];
  return { state, ...(reason && { reason }), ...(isKnownProvider(mailbox) && { mailbox }) };
}

/**
 * Units grouped by their time, because many wait for the same hour: `due!quiet=recipient.target@since~try,…;…`, `@@`
 * for a held one.
 */
function unitsText(units: readonly Unit[]): string {
  const groups = Map.groupBy(units, ({ due, quiet }) => short(due) + (quiet === undefined ? "" : `!${short(quiet)}`));
  const textOfUnit = ({ recipient, target, tries, throttledSince, isHeld }: Unit) =>
    [
      `${recipient}.${target}${throttledSince === undefined ? "" : `${isHeld ? "@@" : "@"}${short(throttledSince)}`}`,
      ...tries.map(short),
    ].join("~");
  return [...groups].map(([when, group]) => `${when}=${group.map(textOfUnit).join(",")}`).join(";");
}

const short = (n: number): string => n.toString(36);
const long = (text: string): number => Number.parseInt(text, 36);

function unitsIn(text: string): Unit[] {
  const units = text.split(";").flatMap((group) => {
    const [when = "", list = ""] = group.split("=");
    const [due = "0", quiet] = when.split("!");
    return list === "" ? [] : list.split(",").map((unitText) => unitIn(unitText, long(due), quiet));
  });
  return units.sort(byPlace);
}

function unitIn(text: string, due: number, quiet: string | undefined): Unit {
  const [place = "", ...tries] = text.split("~");
  const [address = "", since] = place.split(/@+/);
  const [recipient, target] = address.split(".");
  return {
    recipient: Number(recipient),
    target: Number(target),
    tries: tries.map(long),
    due,
    ...(since !== undefined && { throttledSince: long(since) }),
    ...(place.includes("@@") && { isHeld: true as const }),
    ...(quiet !== undefined && { quiet: long(quiet) }),
  };
}

const setsText = (sets: Record<string, bigint>): Record<string, string> =>
  Object.fromEntries(Object.entries(sets).map(([name, set]) => [name, set.toString(36)]));

const setsIn = (texts: Record<string, string>): Record<string, bigint> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fromBase36(text)]));

const fromBase36 = (text: string): bigint =>
  [...text].reduce((sum, letter) => sum * 36n + BigInt(Number.parseInt(letter, 36)), 0n);
