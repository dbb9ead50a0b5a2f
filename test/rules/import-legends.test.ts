// Letters and digits in the cells of files, by what the name of their column says that they stand for (AMB-132).
import { expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const rowWith = (name: string, value: string) => rowOf({ email: "a@example.com", [name]: value });

it.each([
  ["Status (S=subscribed, U=unsubscribed, C=cleaned)", "S", undefined],
  ["Status (S=subscribed, U=unsubscribed, C=cleaned)", "u", "opted_out"],
  ["Status (S=subscribed, U=unsubscribed, C=cleaned)", "C", "suppressed"],
  ["Status [U: unsubscribed; S: subscribed]", "U", "opted_out"],
  ["Status [U: unsubscribed; S: subscribed]", "S", undefined],
  ["Mail status: A - active, X - opted out", "X", "opted_out"],
  ["Mail status: A - active, X - opted out", "A", undefined],
  ["Newsletter (1 = ja, 2 = nein)", "2", "opted_out"],
  ["Newsletter (1 = ja, 2 = nein)", "1", "unknown"],
  ["Newsletter (0=ja, 1=nein)", "0", "unknown"],
  ["Newsletter (0=ja, 1=nein)", "1", "opted_out"],
  ["Newsletter 1=oui 0=non", "0", "opted_out"],
  ["Abgemeldet (1=nein/2=ja)", "1", undefined],
  ["Abgemeldet (1=nein/2=ja)", "2", "opted_out"],
  ["S=subscribed, U=unsubscribed, C=cleaned", "C", "suppressed"],
  ["Subscribed/Unsubscribed (S/U)", "S", undefined],
  ["Subscribed/Unsubscribed (S/U)", "U", "opted_out"],
  ["U/S/C", "U", "opted_out"],
  ["U/S/C", "C", "suppressed"],
  ["U/S/C", "S", undefined],
  ["Gender (F=female, M=male)", "M", undefined],
  ["Size (S/M/L)", "S", undefined],
])("%s: %s is %s (AMB-132)", (name, value, status) => {
  expect(rowWith(name, value).consent?.status).toBe(status);
});

it("says of another channel what its name says (AMB-132)", () => {
  const { consent, choices } = rowWith("SMS (1=yes, 2=no)", "2");
  expect([consent, choices.sms?.status]).toEqual([undefined, "opted_out"]);
});

it("is proved by a time as a word is, and stays an attribute as it is written (AMB-132)", () => {
  const cells = { email: "a@example.com", "Consent status (1=opted in, 2=opted out)": "1", consent_at: "2026-03-01" };
  expect(rowOf(cells).consent).toMatchObject({ status: "opted_in", at: "2026-03-01T00:00:00.000Z" });
  expect(rowWith("Gender (F=female, M=male)", "M").attributes).toEqual({ gender_f_female_m_male: "M" });
});

it.each([
  ["Newsletter", "S", true],
  ["Newsletter", "7", true],
  ["Newsletter", "N", false],
  ["Newsletter", "Weekly", false],
  ["Status", "C", true],
  ["Status", "U", false],
  ["Status", "7", false],
  ["consent_status", "perhaps", true],
  ["Email consent", "perhaps", true],
  ["consent_status", "yes", false],
  ["consent_status", "N/A", false],
  ["Newsletter (S=yes, N=no)", "S", false],
])("%s: that %s cannot be read is a warning: %s (AMB-132)", (name, value, isWarned) => {
  const warning = "has a consent that cannot be read";
  expect(rowWith(name, value).warnings).toEqual(isWarned ? [warning] : []);
});

it.each([
  ["Newsletter (Description)", "You can unsubscribe at any time.", undefined],
  ["Newsletter (Text)", "I agree. I can opt out anytime by the link in each mail.", undefined],
  ["Newsletter-Hinweis", "Sie können sich jederzeit abmelden.", undefined],
  ["Newsletter (Consent)", "Not Checked", "opted_out"],
  ["Newsletter (Consent)", "Checked", "unknown"],
  ["SubscribeType", "Removed", "opted_out"],
  ["Bounce am", "07.03.2024 06:00:00", "suppressed"],
  ["Bounce-Datum", "2024-03-07", "suppressed"],
])("a form and a log: %s, %s is %s (AMB-132)", (name, value, status) => {
  expect(rowWith(name, value).consent?.status).toBe(status);
});

it.each([
  "Newsletter? (you can unsubscribe any time)",
  "Would you like our newsletter? You can withdraw at any time.",
  "I want to receive the newsletter, which I can unsubscribe from at any time",
  "Ich möchte den Newsletter erhalten. Abmeldung jederzeit möglich.",
  "Recevoir la newsletter (désinscription possible à tout moment)",
])("a question that says how to leave later asks for a yes: %s (AMB-132)", (name) => {
  const statusOf = (cell: string) => rowOf({ email: "a@example.com", [name]: cell }).consent?.status;

  expect([statusOf("no"), statusOf("yes")]).toEqual(["opted_out", "unknown"]);
});

it.each([
  ["Inactive (never confirmed)", "opted_out"],
  ["Bounced [550]", "suppressed"],
  ["Active (was inactive)", undefined],
])("a remark behind a status takes nothing from it: %s (AMB-132)", (status, said) => {
  expect(rowOf({ email: "a@example.com", "email status": status }).consent?.status).toBe(said);
});

it.each([
  ["Status", "Inactive (never confirmed)", "opted_out"],
  ["Status", "Gesperrt (Wunsch)", "opted_out"],
  ["Email status", "(inactive)", "opted_out"],
  ["Status", "No (marketing)", "opted_out"],
  ["Status", "Active (was inactive)", undefined],
  ["Customer status", "Inactive (no order)", undefined],
  ["Subscription status", "Canceled (2025)", undefined],
])("a remark behind a status of anything takes nothing from it: %s, %s (AMB-132)", (name, status, said) => {
  const bought = name === "Subscription status" && { next_charge_date: "2026-07-01" };
  expect(rowOf({ email: "a@example.com", [name]: status, ...bought }).consent?.status).toBe(said);
});

it("an objection to advertising is an opt-out as the reason of a block (AMB-132)", () => {
  const row = rowOf({ email: "a@example.com", Sperrgrund: "Werbewiderspruch" });

  expect(row.consent?.status).toBe("opted_out");
});

it.each([
  ["Merkmale", "Newsletter: ja; Werbesperre: nein"],
  ["Tags", "abgemeldet: nein"],
  ["Notes", "désabonné: non"],
])("a word for an opt-out that is answered by a no is none: %s, %s (AMB-132)", (name, value) => {
  expect(rowWith(name, value).consent).toBeUndefined();
});
