// What in a file proves a consent to messages, and what does not: no opt-in is made of a yes to something else, or of a time
// that is of something else (AMB-132).
import { describe, expect, it } from "vitest";
import { readRow } from "../../shared/rules/import-rows.ts";
import { columnsOf, READING, rowOf } from "../support/rows.ts";

const consentTo = (cells: Record<string, string>) => rowOf({ email: "a@example.com", ...cells }).consent;
const DAY = "2024-01-01";

it.each([
  "Photo consent",
  "Parental consent",
  "Research consent",
  "Recording consent",
  "Consent to treatment",
  "Data processing consent",
  "Third-party marketing consent",
  "Partner offers opt-in",
  "Einwilligung Datenverarbeitung",
  "Einwilligung Fotos",
  "Consentement photo",
  "Consenso trattamento dati",
  "Zgoda na przetwarzanie danych",
  "Consentimiento datos",
  "個人情報同意",
  "利用規約同意",
])("a yes to %s agrees to no mail (AMB-132)", (name) => {
  expect(consentTo({ [name]: "yes", consent_at: DAY, [`${name} date`]: DAY })).toBeUndefined();
});

it.each(["Photo consent", "Medical consent", "Call consent", "Einwilligung Foto", "Partner offers opt-in"])(
  "a no to %s is none to mail (AMB-132)",
  (name) => {
    expect(consentTo({ [name]: "no" })).toBeUndefined();
  },
);

it.each([
  "Photo newsletter",
  "Children's newsletter",
  "Data processing consent",
  "Health updates by email subscription",
])("a no to %s is one to mail (AMB-132)", (name) => {
  expect(consentTo({ [name]: "no" })?.status).toBe("opted_out");
});

it.each([
  "Newsletter last sent date",
  "Opt-in email sent date",
  "Consent requested at",
  "Consent request date",
  "Double opt-in mail sent on",
  "Opt-in reminder date",
  "Consent review date",
  "Newsletter paused until",
  "Newsletter verschickt am",
])("%s is no time of a yes (AMB-132)", (name) => {
  expect(consentTo({ Newsletter: "yes", [name]: DAY })?.status).toBe("unknown");
});

it.each([
  "Newsletter subscribed at",
  "Marketing consent updated on",
  "emailConsentGivenAt",
  "Datum der Einwilligung",
  "Date d'inscription newsletter",
  "Fecha suscripción",
  "Data iscrizione",
  "Datum inschrijving nieuwsbrief",
  "購読開始日",
])("%s is the time of a yes (AMB-132)", (name) => {
  expect(consentTo({ Newsletter: "yes", [name]: DAY })).toMatchObject({
    status: "opted_in",
    at: `${DAY}T00:00:00.000Z`,
  });
});

it.each([
  ["Not opted in", "yes", "opted_out"],
  ["Not opted in", "no", undefined],
  ["Pas inscrit", "oui", "opted_out"],
  ["Sin consentimiento", "sí", "opted_out"],
  ["Ohne Einwilligung", "x", "opted_out"],
  ["Notifications subscribed", "yes", "unknown"],
])("a name that denies a yes says no: %s with %s is %s (AMB-132)", (name, value, expected) => {
  expect(consentTo({ [name]: value, ...(expected === "opted_out" && { consent_at: DAY }) })?.status).toBe(expected);
});

it.each([
  ["unsubscribe_hash", "abc123"],
  ["unsub_key", "9f"],
  ["optout_uuid", "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60"],
  ["unsubscribe_id", "12345"],
  ["List-Unsubscribe", "<mailto:x@example.com>"],
  ["Newsletter language", "NO"],
  ["Newsletters received", "0"],
  ["newsletter_id", "0"],
  ["Consent version", "0"],
  ["Newsletter popup shown", "false"],
  ["Bounce status", "OK"],
  ["Bounce status", "Valid"],
  ["Unsubscribed", "(blank)"],
])("%s with %s says nothing (AMB-132)", (name, value) => {
  expect(consentTo({ [name]: value })).toBeUndefined();
});

it.each([
  ["Email Verification Status", "undeliverable", "suppressed"],
  ["Email validity", "invalid", "suppressed"],
  ["Identity verification status", "invalid", undefined],
  ["Communication preference", "No marketing", "opted_out"],
  ["Email preference", "Never", "opted_out"],
  ["Marketing consent", "No longer", "opted_out"],
  ["Newsletter", "storniert", "opted_out"],
  ["Newsletter", "nicht interessiert", "opted_out"],
  ["Newsletter", "Ich möchte keinen Newsletter", "opted_out"],
  ["Newsletter", "No data", undefined],
  ["Newsletter", "No objection", undefined],
  ["Would you like to receive our newsletter?", "No, I don't", "opted_out"],
  ["¿Quieres recibir nuestro boletín?", "No quiero recibir", "opted_out"],
  ["Quer receber novidades?", "Não, obrigado", "opted_out"],
  ["Unsubscribed", "No, still active", undefined],
  ["Opt-out", "No emails please", "opted_out"],
  ["Email Opt In Status", "OUT", "opted_out"],
  ["Status", "U", "opted_out"],
  ["Status", "Soft bounced", undefined],
  ["consent_status", "Soft bounce", "unknown"],
  ["Status", "gebounced", "suppressed"],
  ["Estado", "Rebotado", "suppressed"],
  ["Status", "opgeschoond", "suppressed"],
  ["Odbicie twarde", "Tak", "suppressed"],
  ["type", "BadEmailAddress", "suppressed"],
  ["Stato", "In attesa", "opted_out"],
  ["Estado", "No confirmado", "opted_out"],
  ["Estado", "Removido", "opted_out"],
  ["Status", "Usunięty", "opted_out"],
  ["Unsub source", "EmailLink", "opted_out"],
  ["event", "users.messages.email.Unsubscribe", "opted_out"],
  ["event", "users.messages.email.MarkAsSpam", "suppressed"],
  ["event", "users.messages.email.Open", undefined],
  ["Status", "abused", "suppressed"],
  ["Status", "Widerrufen", "opted_out"],
  ["Status", "GDPR deleted", "opted_out"],
  ["type", "unactivated", "opted_out"],
])("%s with %s is %s (AMB-132)", (name, value, expected) => {
  expect(consentTo({ [name]: value })?.status).toBe(expected);
});

it.each([
  ["OK to text?", "No"],
  ["Receive texts", "No"],
  ["Do not text", "Yes"],
  ["Opted out of texts", "Yes"],
  ["MMS opt out", "Yes"],
  ["Cell opt out", "Yes"],
  ["Texting", "Opted Out"],
  ["Keine SMS", "x"],
  ["Pas de SMS", "oui"],
])("%s with %s is an opt-out of SMS, and none of mail (AMB-132)", (name, value) => {
  const { consent, choices } = rowOf({ email: "a@example.com", phone: "+14155550123", [name]: value });
  expect([consent, choices.sms?.status]).toEqual([undefined, "opted_out"]);
});

it.each(["WA opt-out", "wa_unsubscribed"])("%s is an opt-out of chat apps (AMB-132)", (name) => {
  const { consent, choices } = rowOf({ email: "a@example.com", [name]: "yes" });
  expect([consent, choices.chat_app?.status]).toEqual([undefined, "opted_out"]);
});

it("a column about comms is one of mail (AMB-132)", () => {
  const { consent, choices } = rowOf({ email: "a@example.com", "Comms opt out": "yes" });
  expect([consent?.status, choices]).toEqual(["opted_out", {}]);
});

it.each([
  ["No", "opted_out"],
  ["Maybe", undefined],
])("the next answer of a question, in a column without a name: %s is %s (AMB-132)", (value, expected) => {
  const columns = columnsOf(["email", "Would you like to receive our newsletter?", ""]);
  const read = readRow(columns, ["a@example.com", "", value], READING);
  expect(read.kind === "row" && read.row.consent?.status).toBe(expected);
});

it.each([
  "has a bad email address",
  "has neither an external_id nor an email; that it opts out is kept",
  "has an email address that is not supported",
])("the reason of a rejected row, %s, says nothing when its file is imported again (AMB-132)", (reason) => {
  expect(consentTo({ line: "3", reason })).toBeUndefined();
});

describe("a time of a yes in a file that says nowhere else who agreed", () => {
  it.each(["Opt-in date", "Einwilligung am", "Consent given at", "Newsletter opt-in at", "Data consenso"])(
    "%s is an opt-in at that time, and an empty cell none (AMB-132)",
    (name) => {
      expect(consentTo({ [name]: DAY })).toMatchObject({ status: "opted_in", at: `${DAY}T00:00:00.000Z` });
      expect(consentTo({ [name]: "" })).toBeUndefined();
    },
  );

  it("is one of the channel that its name says (AMB-132)", () => {
    const { consent, choices } = rowOf({ email: "a@example.com", phone: "+491511234567", "SMS opt-in date": DAY });
    expect([consent, choices.sms?.status]).toEqual([undefined, "opted_in"]);
  });

  it("is none where it lies ahead, and is counted so (AMB-131)", () => {
    expect(consentTo({ "Opt-in date": "2026-12-01" })).toMatchObject({ status: "unknown", doubt: "future" });
  });

  it("is a yes without a time where the day can be read in two ways (AMB-132)", () => {
    expect(consentTo({ "Opt-in date": "03/04/2024" })).toMatchObject({ status: "unknown", doubt: "yes_without_time" });
    expect(consentTo({ "Opt-in date": "0000-00-00" })).toBeUndefined();
  });

  it.each(["01/01/1970", "1/0/00", "01.01.1900", "1/1/00"])("is none where %s stands for no day (AMB-132)", (text) => {
    expect(consentTo({ "Opt-in date": text })).toBeUndefined();
  });

  it.each([
    [{ Status: "Active" }, undefined],
    [{ Newsletter: "" }, undefined],
    [{ "Double opt-in date": "" }, undefined],
    [{ "Unsubscribed at": "2024-02-01" }, "opted_out"],
    [{ Bounced: "yes" }, "suppressed"],
    [{ "Confirmed at": "" }, undefined],
    [{ "Bestätigt am": "" }, undefined],
    [{ verified: "0" }, undefined],
    [{ is_active: "0" }, undefined],
    [{ "Left on": "2024-05-05" }, undefined],
    [{ Granted: "false" }, undefined],
    [{ Decision: "declined" }, undefined],
    [{ Kündigung: "ja" }, undefined],
    [{ Retiré: "oui" }, undefined],
    [{ Active: "no" }, undefined],
    [{ "Account status active": "no" }, undefined],
    [{ "Email verified": "false" }, undefined],
    [{ "Transaction type": "WITHDRAWN" }, undefined],
    [{ Purpose: "Profiling" }, undefined],
    [{ "Exit date": "2024-05-05" }, undefined],
    [{ "Cancellation date": "2024-05-05" }, undefined],
  ])("proves nothing beside what may say otherwise: %j (AMB-132)", (cells, status) => {
    expect(consentTo({ "Opt-in date": DAY, ...(cells as Record<string, string>) })?.status).toBe(status);
  });

  it.each([
    { "Last activity": "2024-05-01" },
    { "Last active": "" },
    { "Activity score": "0" },
    { "Letzte Aktivität": "" },
    { "Canceled orders": "0" },
    { "Order confirmation": "no" },
    { "Phone verified": "no" },
    { "2FA enabled": "false" },
    { Performer: "no" },
    { "Response rate": "0" },
    { "Retirement plan": "no" },
    { Block: "5" },
    { "Value of orders": "0" },
    { "Preliminary offer": "no" },
  ])("proves beside what is about another thing: %j (AMB-132)", (cells) => {
    expect(consentTo({ "Opt-in date": DAY, ...(cells as Record<string, string>) })?.status).toBe("opted_in");
  });

  it.each([
    "Subscription Date",
    "consent_at",
    "Confirm time",
    "Registered at",
    "Consent updated at",
    "Optin Status Date",
    "Consent last changed",
  ])("a column %s alone may be of something else (AMB-132)", (name) => {
    expect(consentTo({ [name]: DAY })).toBeUndefined();
  });
});

it.each([
  ["Email valid", "0", "suppressed"],
  ["E-Mail gültig", "FALSCH", "suppressed"],
  ["isEmailValid", "false", "suppressed"],
  ["Valid email address", "invalid", "suppressed"],
  ["Email deliverable", "no", "suppressed"],
  ["Email valid", "1", undefined],
  ["Email valid", "unknown", undefined],
  ["Email valid", "pending", undefined],
  ["Email valid", "", undefined],
  ["Phone valid", "no", undefined],
])("%s: %j means that the address is %s (AMB-132)", (name, value, status) => {
  expect(consentTo({ [name]: value })?.status).toBe(status);
});
