// How long an environment believes what it found out about a credential.
import { expect, it } from "vitest";
import type { Caller } from "../../shared/http/authenticate.ts";
import { createCredentialCache } from "../../shared/http/credential-cache.ts";
import { unauthorized } from "../../shared/kernel/errors.ts";

/** A memory on a clock, and how often a key was validated, which takes two seconds, after it was asked for. */
function remembering(validate: () => Promise<Caller>) {
  let now = 0;
  let validations = 0;
  const remembered = createCredentialCache(() => now);
  return async (at: number) => {
    now = at;
    const once = () => {
      validations++;
      now += 2_000;
      return validate();
    };
    await remembered("key", once).catch(() => undefined);
    return validations;
  };
}

it("a good key is remembered for a minute from the beginning of its validation (ATH-R6)", async () => {
  const validationsAt = remembering(async () => ({ kind: "public" }));

  expect(await validationsAt(0)).toBe(1);
  expect(await validationsAt(59_999)).toBe(1);
  expect(await validationsAt(60_000)).toBe(2);
});

it("a refused key is remembered for 5 seconds from the beginning of its validation (ATH-R6)", async () => {
  const validationsAt = remembering(() => Promise.reject(unauthorized()));

  expect(await validationsAt(0)).toBe(1);
  expect(await validationsAt(4_999)).toBe(1);
  expect(await validationsAt(5_000)).toBe(2);
});
