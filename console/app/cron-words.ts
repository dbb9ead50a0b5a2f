// When a schedule runs, in words.
import { type Cron, parseCron } from "../../shared/rules/cron.ts";
import { DAY_NAMES, listed } from "./time.ts";

const EVERY_DAY = "every day";
const HOURS_OF_A_DAY = 24;
const MINUTES_OF_AN_HOUR = 60;
const MONTHS_OF_A_YEAR = 12;
const DAYS_OF_A_MONTH = 31;
/** More moments of a day are no sentence. */
const MAX_TIMES = 4;

const ordered = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b);
const two = (n: number): string => String(n).padStart(2, "0");

/** `every Monday at 09:00`; what has no short sentence stays the expression. */
export function cronWords(expression: string): string {
  const parsed = parseCron(expression.trim());
  if (parsed.kind === "refused") return expression;
  const { cron } = parsed;
  if (cron.isEitherDay || cron.months.size < MONTHS_OF_A_YEAR) return expression;
  const days = daysOf(cron);
  const times = timesOf(cron);
  if (days === undefined || times === undefined) return expression;
  return days === EVERY_DAY && times.startsWith("every") ? times : `${days} ${times}`;
}

function daysOf({ days, weekdays }: Cron): string | undefined {
  if (days.size < DAYS_OF_A_MONTH)
    return days.size <= MAX_TIMES ? `on day ${listed(ordered(days).map(String))} of each month` : undefined;
  if (weekdays.size === DAY_NAMES.length) return EVERY_DAY;
  const chosen = ordered(weekdays);
  if (chosen.join() === "1,2,3,4,5") return "Monday to Friday";
  // The week begins on Monday.
  const names = chosen.toSorted((a, b) => ((a + 6) % 7) - ((b + 6) % 7)).map((day) => DAY_NAMES[day] ?? "");
  return `every ${listed(names)}`;
}

function timesOf({ hours, minutes }: Cron): string | undefined {
  const [minute = 0, second] = ordered(minutes);
  if (hours.size === HOURS_OF_A_DAY) {
    if (minutes.size === MINUTES_OF_AN_HOUR) return "every minute";
    if (minutes.size === 1) return `every hour at :${two(minute)}`;
    const step = (second ?? 0) - minute;
    const isEven = minute === 0 && ordered(minutes).every((at, n) => at === n * step) && minutes.size * step === 60;
    return isEven ? `every ${step} minutes` : undefined;
  }
  const moments = ordered(hours).flatMap((hour) => ordered(minutes).map((at) => `${two(hour)}:${two(at)}`));
  return moments.length <= MAX_TIMES ? `at ${listed(moments)}` : undefined;
}
