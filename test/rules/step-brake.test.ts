// What the brake of a step remembers of the last messages, and that of a send of those before it was resumed (F21).
import { expect, it } from "vitest";
import { chunksAllowed, type Figures } from "../../shared/rules/brake.ts";
import { attemptsOf, laneBound, NO_STEP_ATTEMPTS, type StepWindow, slide } from "../../shared/rules/step-brake.ts";

const attempts = (passed: number, errors = 0) => ({ tried: { sms: passed }, errors: { sms: errors }, passed });

it("a full half of the window of a step counts until the next one is full (F21)", () => {
  const known = (window: StepWindow) => attemptsOf([window.before, window.now]);
  let window = slide({ now: NO_STEP_ATTEMPTS, before: NO_STEP_ATTEMPTS }, attempts(130, 40));
  expect(known(window)).toEqual(attempts(130, 40));

  window = slide(window, attempts(100));
  expect(known(window)).toEqual(attempts(230, 40));

  window = slide(window, attempts(30));
  expect(known(window)).toMatchObject({ passed: 130, errors: {} });
});

it("a lane lets more messages be under way the more passed, and few while its errors are above the limit (F21)", () => {
  const limits = { max_error_rate: 0.2 };

  expect(laneBound(limits, attempts(800, 160))).toBe(100);
  expect(laneBound(limits, attempts(800, 161))).toBe(50);
  expect(laneBound(limits, attempts(8))).toBe(50);
});

it("a send that was resumed begins chunks beyond those that passed before it (F21)", () => {
  const limits = { max_error_rate: 0.2 };
  const figures = (passed: number, errors: number): Figures => ({
    ...attempts(passed, errors),
    ...{ bounced: 0, complained: 0, opted_out: 0 },
  });
  const before = figures(40, 20);

  expect(chunksAllowed(limits, before, before)).toBe(40 + 2);
  expect(chunksAllowed(limits, figures(44, 20), before)).toBe(40 + 8);
  expect(chunksAllowed(limits, figures(44, 21), before)).toBe(40 + 5);
});
