// Which consents a row of a file states, and which it does not (IMP-12).
import { describe, expect, it } from "vitest";
import type { ImportSource } from "../../shared/rules/import-sources.ts";
import { rowOf } from "../support/rows.ts";

const row = (cells: Record<string, string>, source: ImportSource = "csv") => rowOf(cells, { source });
const AT = "2025-03-01T09:30:00Z";
const INSTANT = "2025-03-01T09:30:00.000Z";

describe("consent is translated conservatively", () => {
  const csv = (consent_status: string, consent_at = "") => row({ email: "a@b.co", consent_status, consent_at }).consent;
  it.each(["opted_in", "subscribed", "true", "yes", "1", "YES"])(
    "%s in a CSV is an opt-in only with a time (IMP-12)",
    (status) => {
      expect(csv(status, AT)).toMatchObject({ status: "opted_in", at: INSTANT });
      expect(csv(status)).toMatchObject({ status: "unknown", said: status });
    },
  );
  it.each(["opted_out", "unsubscribed", "false", "no", "0"])("%s in a CSV is an opt-out (AMB-88)", (status) => {
    expect(csv(status)).toMatchObject({ status: "opted_out" });
  });
  it("a consent of a CSV that is anything else is unknown, nothing is nothing (IMP-12)", () => {
    expect(csv("maybe", AT)).toMatchObject({ status: "unknown" });
    expect(row({ email: "a@b.co" }).consent).toBeUndefined();
  });

  const a = (cells: Record<string, string>) => row({ Email: "a@b.co", ...cells }, "platform_a");
  it("of an export of platform_a headers are aliased, its other columns become attributes (IMP-10)", () => {
    expect(
      a({ "External ID": "x1", "First Name": "Ada", "Klaviyo ID": "01H", "Historic Customer Lifetime Value": "12.5" }),
    ).toMatchObject({
      external_id: "x1",
      attributes: { first_name: "Ada", klaviyo_id: "01H", historic_customer_lifetime_value: 12.5 },
    });
  });
  it.each([
    ["SUBSCRIBED", "2025-03-01 09:30:00", "", { status: "opted_in", at: INSTANT }],
    ["Subscribe", AT, "", { status: "opted_in" }],
    ["SUBSCRIBED", "", "", { status: "unknown", said: "SUBSCRIBED" }],
    ["NEVER_SUBSCRIBED", AT, "", { status: "unknown" }],
    ["UNSUBSCRIBED", AT, "", { status: "opted_out", at: INSTANT }],
    ["SUBSCRIBED", AT, "USER_SUPPRESSED", { status: "suppressed", at: undefined }],
    ["SUBSCRIBED", AT, "UNSUBSCRIBED", { status: "opted_out", at: INSTANT }],
    ["", "", "HARD_BOUNCE", { status: "suppressed" }],
    ["", AT, "", { status: "unknown" }],
  ])(
    "an export of platform_a that says %s at %s with the suppressions %j (IMP-12)",
    (status, at, suppressions, expected) => {
      const { consent } = a({
        "Email Marketing Consent": status,
        "Email Marketing Consent Timestamp": at,
        "Email Suppressions": suppressions,
      });
      expect(consent).toMatchObject(expected);
    },
  );
  it.each([
    ["NEVER_SUBSCRIBED", undefined],
    ["UNSUBSCRIBED", "opted_out"],
  ])("an export of platform_a that says %s of text messages opts out: %s (AMB-132)", (said, status) => {
    expect(a({ "Phone Number": "+4915112345678", "SMS Marketing Consent": said }).choices.sms?.status).toBe(status);
  });
  it("an export of platform_a keeps what it only claimed as an attribute (IMP-12)", () => {
    expect(a({ "Email Marketing Consent": "SUBSCRIBED" }).attributes).toEqual({ imported_consent: "SUBSCRIBED" });
    expect(a({ "Email Marketing Consent": "" }).attributes).toEqual({});
  });

  const b = (cells: Record<string, string>) => row({ "Email Address": "a@b.co", ...cells }, "platform_b");
  it("of an export of platform_b headers are aliased, merge fields become attributes (IMP-10)", () => {
    expect(
      b({ FNAME: "Ada", LNAME: "L", MEMBER_RATING: "2", TAGS: '"vip","beta"', BIRTHDAY: "03/01", OPTIN_IP: "1.2.3.4" }),
    ).toMatchObject({
      external_id: "a@b.co",
      attributes: {
        first_name: "Ada",
        last_name: "L",
        member_rating: 2,
        tags: ["vip", "beta"],
        birthday: "03/01",
        optin_ip: "1.2.3.4",
      },
    });
  });
  it.each([
    [
      { CONFIRM_TIME: "2025-03-01 09:30:00", CONFIRM_IP: "1.2.3.4", OPTIN_TIME: "" },
      { status: "opted_in", at: INSTANT, ip: "1.2.3.4", source: "import" },
    ],
    [
      { OPTIN_TIME: "2025-03-01 09:30:00", OPTIN_IP: "1.2.3.4", CONFIRM_TIME: "" },
      { status: "opted_in", ip: "1.2.3.4" },
    ],
    [{ OPTIN_TIME: AT, UNSUB_TIME: AT }, { status: "opted_out" }],
    [
      { CONFIRM_TIME: AT, OPTIN_IP: "1.2.3.4" },
      { status: "opted_in", ip: "1.2.3.4" },
    ],
    [
      { OPTIN_TIME: AT, CLEAN_TIME: AT },
      { status: "suppressed", at: INSTANT },
    ],
    [{ Status: "nonsubscribed", CLEAN_TIME: AT }, { status: "suppressed" }],
    [{ Status: "cleaned", CONFIRM_TIME: AT }, { status: "suppressed" }],
    [{ Status: "unsubscribed", CONFIRM_TIME: AT }, { status: "opted_out" }],
    [{ Status: "pending", OPTIN_TIME: AT }, { status: "opted_out" }],
    [{ Status: "nonsubscribed", CONFIRM_TIME: AT }, { status: "unknown" }],
    [{ Status: "transactional", OPTIN_TIME: AT }, { status: "unknown" }],
    [{ OPTIN_TIME: "" }, { status: "unknown" }],
  ])("the consent of an export of platform_b with %j (IMP-12)", (cells, expected) => {
    expect(b(cells as Record<string, string>).consent).toMatchObject(expected);
  });
});

describe("a file of suppressed addresses", () => {
  const AT_CREATED = "2024-01-02T03:04:05.000Z";
  it.each([
    { EmailAddress: "a@b.co", SuppressionReason: "HardBounce", Origin: "Recipient", CreatedAt: "2024-01-02T03:04:05Z" },
    { EmailAddress: "a@b.co", Reason: "COMPLAINT", LastUpdateTime: "2024-01-02T03:04:05.000+00:00" },
    { status: "5.1.1", reason: "550 5.1.1 no such user", email: "a@b.co", created: "1704164645" },
    { address: "a@b.co", code: "550", error: "No such mailbox", created_at: "Tue, 02 Jan 2024 03:04:05 UTC" },
  ])("says when mail came back: %j (AMB-128)", (cells) => {
    expect(row(cells as Record<string, string>).consent).toMatchObject({ status: "suppressed", at: AT_CREATED });
  });

  it.each([
    [{ Email: "a@b.co", "Unsubscribe reason": "Too many", created_at: AT_CREATED }, "opted_out"],
    [{ Email: "a@b.co", Reason: "Hard bounce", created_at: AT_CREATED, Plan: "pro", City: "Rome" }, "suppressed"],
  ])("a time that may be when the person was added is none of what it refuses: %j (AMB-132)", (cells, status) => {
    expect(row(cells as unknown as Record<string, string>).consent).toMatchObject({ status, at: undefined });
  });
});
