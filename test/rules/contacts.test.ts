import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isEmailAddress, isLocale, isPhoneNumber } from "../../shared/rules/contacts.ts";
import { growth, LINEAR } from "../support/growth.ts";

describe("e-mail addresses", () => {
  it.each([
    "a@b.co",
    "ann.lee+news@mail.example.com",
    "o'neil_1-2@ex-ample.org",
    "!#$%&'*+/=?^_`{|}~-@example.com",
    "x@1and1.com",
    "x@xn--bcher-kva.example",
    `${"a".repeat(64)}@example.com`,
    `a@${"b".repeat(63)}.com`,
    `a@${"b.".repeat(124)}com`,
  ])("the rule of e-mail addresses accepts %s (AMB-84)", (text) => {
    expect(isEmailAddress(text)).toBe(true);
  });

  it.each([
    "",
    "a",
    "@",
    "a@",
    "@b.co",
    "a@b",
    "a@b.",
    "a@.co",
    "a@b..co",
    "a@@b.co",
    "a@b@c.co",
    ".a@b.co",
    "a.@b.co",
    "a..b@c.co",
    "a b@c.co",
    "a@b c.co",
    " a@b.co",
    "a@b.co ",
    "a@b.co\n",
    "a\r\nBcc: x@y.co",
    "a\u0000@b.co",
    '"a b"@c.co',
    "a@-b.co",
    "a@b-.co",
    "a@b_c.co",
    "a@127.0.0.1",
    "a@[127.0.0.1]",
    "Ann <a@b.co>",
    "é@b.co",
    "a@bücher.de",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(64)}.com`,
    `a@${"b.".repeat(125)}com`,
  ])("the rule of e-mail addresses refuses %j (AMB-84)", (text) => {
    expect(isEmailAddress(text)).toBe(false);
  });

  it("the rule of e-mail addresses accepts what RFC 5322 generators make (AMB-84)", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (text) => {
        expect(isEmailAddress(text)).toBe(true);
      }),
    );
  });

  it.each<[name: string, text: (length: number) => string]>([
    ["letters", (n) => "a".repeat(n)],
    ["dots before its @", (n) => `${"a.".repeat(n / 2)}@`],
    ["@", (n) => "@".repeat(n)],
    ["dots behind its @", (n) => `a@${"a.".repeat(n / 2)}`],
  ])("the rule of e-mail addresses reads a text of many %s once, and refuses it (AMB-84)", async (_name, text) => {
    expect(isEmailAddress(text(1_000))).toBe(false);
    expect(await growth((length) => isEmailAddress(text(length)))).toBeLessThan(LINEAR);
  });
});

describe("phone numbers", () => {
  it.each(["+4915112345678", "+12025550123", "+1234567", "+123456789012345"])(
    "the rule of phone numbers accepts %s (D-ATTR)",
    (text) => {
      expect(isPhoneNumber(text)).toBe(true);
    },
  );

  it.each([
    "",
    "+",
    "12025550123",
    "+0123456789",
    "+123456",
    "+1234567890123456",
    "+1 202 555",
    "+1-202-555-0123",
    "+12025550123\n",
    "00491511234567",
    "+١٢٣٤٥٦٧٨",
  ])("the rule of phone numbers refuses %j (D-ATTR)", (text) => {
    expect(isPhoneNumber(text)).toBe(false);
  });
});

describe("locales", () => {
  it.each(["en", "de", "pt-BR", "zh-Hant-TW", "sr-Latn-RS", "en-u-ca-gregory"])(
    "the rule of locales accepts %s (D-ATTR)",
    (text) => {
      expect(isLocale(text)).toBe(true);
    },
  );

  it.each(["", "e", "en_US", "en-", "-en", "english language", "en US", "123", "en\n", `en-${"abcd-".repeat(20)}x`])(
    "the rule of locales refuses %j (D-ATTR)",
    (text) => {
      expect(isLocale(text)).toBe(false);
    },
  );
});
