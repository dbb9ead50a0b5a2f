// How the console judges what mailbox providers send back.
import { expect, it } from "vitest";
import { fineShare, mailboxName, mailVerdict } from "../../console/app/mailboxes.ts";
import { mailboxProviders } from "../../shared/rules/mailbox-providers.ts";

it("bounces are judged from 2% on, and are too many from 5% on (CON-3)", () => {
  const of = (bounced: number) => mailVerdict({ sent: 1_000, bounced, complained: 0 }, "bounced");

  expect([of(19), of(20), of(49), of(50)]).toEqual(["fine", "watch", "watch", "high"]);
});

it("complaints are judged from 0.1% on, and are too many from 0.3% on (CON-3)", () => {
  const of = (complained: number) => mailVerdict({ sent: 10_000, bounced: 0, complained }, "complained");

  expect([of(9), of(10), of(29), of(30)]).toEqual(["fine", "watch", "watch", "high"]);
});

it("a share of fewer than a hundred emails is not judged (CON-3)", () => {
  const of = (sent: number) => mailVerdict({ sent, bounced: sent, complained: 0 }, "bounced");

  expect([of(99), of(100)]).toEqual(["fine", "high"]);
});

it("a share has the digits that a limit of 0.1% asks for (CON-3)", () => {
  expect([fineShare(8, 10_000), fineShare(0, 10), fineShare(0, 0)]).toEqual(["0.08%", "0%", "–"]);
});

it("every mailbox provider has a name of its own (CON-3)", () => {
  expect(new Set(mailboxProviders.map(mailboxName)).size).toBe(mailboxProviders.length);
});
