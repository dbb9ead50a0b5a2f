// The details of a bounce or suppression in a row, beside a column with only the fact or the time: a log of events has
// both kinds of bounces, and a list of suppressed addresses includes people who unsubscribed (AMB-132).
import { isNo, isYes, SOFT, saysPermanent, saysTransient, suppressionOf } from "./import-answers.ts";
import type { SignedCell } from "./import-consents.ts";
import { columnKey } from "./import-names.ts";
import type { SignedName } from "./import-signs.ts";
import { readTime, type TimeForm } from "./import-times.ts";

const SOFT_BOUNCE = /^(?:soft|transient|temporary)(?:e?mail)?bounce[ds]?$/;
/** SFMC writes how soon a mail bounced. */
const HOW_SOON = /^(?:immediate|delayed|technical\w*)$/;
const BOUNCED = /^(?:e?mail)?bounce[ds]?$/;

/** The cells of a row without those of a soft bounce. The reason of a suppression replaces its cell. */
export function withReasons(
  cells: readonly SignedCell[],
  form: TimeForm,
  reasons: readonly string[] = [],
): readonly SignedCell[] {
  if (!cells.some(({ signed: { of } }) => of)) return cells;
  const isTime = (value: string) => readTime(value, form) !== undefined;
  const isPlain = ({ value }: SignedCell) => isYes(value) || isTime(value) || HOW_SOON.test(columnKey(value));
  const words = [...reasons, ...cells.flatMap((cell) => (saysWhy(cell.signed) && !isPlain(cell) ? [cell.value] : []))];
  const isOut = words.length > 0 && words.every((word) => suppressionOf(word) !== "suppressed");
  const isSoft = cells.some(({ signed, value }) => saysSoft(signed, columnKey(value)));
  const isHard = cells.some(({ signed: { of }, value }) =>
    of === "hard" ? isYes(value) || isTime(value) : of !== undefined && saysPermanent(value),
  );
  // A spent amount may be 450, too.
  const isNotHard = cells.some(
    ({ signed: { sign, of }, value }) =>
      (of === "hard" && isNo(value)) || ((sign !== "word" || of === "code") && saysTransient(value)),
  );
  return cells.flatMap((cell) => {
    const { signed, value } = cell;
    if (signed.of === "suppression" && isOut && isPlain(cell)) return [{ ...cell, signed: { ...signed, sign: "out" } }];
    if (isHard) return [cell];
    const isOfEvent = signed.of === "event" && BOUNCED.test(columnKey(value));
    const isOfBounce = signed.of === "bounce" && isPlain(cell);
    const isLog = isOfEvent || (isOfBounce && !isYes(value));
    return (isSoft && (isOfEvent || isOfBounce)) || (isNotHard && isLog) ? [] : [cell];
  });
}

const saysWhy = ({ of }: SignedName): boolean => of === "suppression" || of === "reason";

const saysSoft = ({ sign, of }: SignedName, key: string): boolean =>
  SOFT_BOUNCE.test(key) || ((sign === "suppressed" || of === "event") && SOFT.test(key));
