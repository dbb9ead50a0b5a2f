// Times of schedules in words.
import { expect, it } from "vitest";
import { cronWords } from "../../console/app/cron-words.ts";

it.each([
  ["0 9 * * 1", "every Monday at 09:00"],
  ["0 9 * * 0,6", "every Saturday and Sunday at 09:00"],
  ["30 8 * * 1-5", "Monday to Friday at 08:30"],
  ["0 9 * * *", "every day at 09:00"],
  ["0 9,18 * * 7", "every Sunday at 09:00 and 18:00"],
  ["0 9 1 * *", "on day 1 of each month at 09:00"],
  ["0 9 1,15 * *", "on day 1 and 15 of each month at 09:00"],
  ["5 * * * *", "every hour at :05"],
  ["*/15 * * * *", "every 15 minutes"],
  ["* * * * *", "every minute"],
  ["*/7 * * * *", "*/7 * * * *"],
  ["0 9 1 1 *", "0 9 1 1 *"],
  ["0 9 1 * 1", "0 9 1 * 1"],
  ["nonsense", "nonsense"],
])("%s is %s (CON-3)", (expression, words) => {
  expect(cronWords(expression)).toBe(words);
});
