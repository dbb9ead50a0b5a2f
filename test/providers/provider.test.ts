// What all providers share: outcomes without an answer, and Retry-After.
import { expect, it } from "vitest";
import {
  jsonOf,
  type OutgoingMessage,
  rejected,
  retryAfter,
  retryable,
  unanswered,
  unverifiable,
} from "../../shared/providers/provider.ts";
import { mergedData } from "../../shared/providers/push.ts";
import { channelTypes, providedChannels } from "../../shared/rules/channel-types.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

it("a refused target is final, a failed connection is retryable, a missing answer is unknown (T4)", () => {
  const refused = { kind: "not_sent", reason: "no", isRefused: true } as const;
  const failed = { kind: "not_sent", reason: "no", isRefused: false } as const;
  const silent = { kind: "unknown", reason: "no" } as const;
  expect([refused, failed, silent].map((exchange) => unanswered(exchange).kind)).toEqual([
    "rejected",
    "retryable",
    "unknown",
  ]);
  expect([refused, failed, silent].map((exchange) => unverifiable(exchange).kind)).toEqual([
    "refused",
    "undecided",
    "undecided",
  ]);
  expect([rejected("x"), rejected("x", { addressDead: true }), retryable("x", 2)]).toEqual([
    { kind: "rejected", reason: "x" },
    { kind: "rejected", reason: "x", addressDead: true },
    { kind: "retryable", reason: "x", retryAfterSeconds: 2 },
  ]);
});

it.each([
  ["120", 120],
  ["0", 0],
  ["99999999", 86_400],
  ["Fri, 20 Nov 2026 12:00:30 GMT", 30],
  ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
  ["soon", undefined],
  ["-5", undefined],
])("the service reads Retry-After: %s", (text, seconds) => {
  expect(retryAfter({ "retry-after": text }, NOW)).toBe(seconds);
});

it("merges data with the notification's ids, which data cannot replace (D-PUSH)", () => {
  const message = { job: "j", subscriber: "s", variant: "b", data: { a: 1, notification_id: "forged" } };
  expect(mergedData(message as unknown as OutgoingMessage)).toEqual({
    a: 1,
    notification_id: "j",
    subscriber_id: "s",
    variant_id: "b",
  });
  expect([jsonOf("[1"), jsonOf("1"), jsonOf('{"a":1}')]).toEqual([{}, {}, { a: 1 }]);
});

it("the service has a provider for each channel type except in_app (NTF-23)", () => {
  expect(channelTypes.filter((type) => !providedChannels.some((providedChannel) => providedChannel === type))).toEqual([
    "in_app",
  ]);
});
