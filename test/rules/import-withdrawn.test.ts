// Answers that take a consent back, and names of columns that ask for one in few words (AMB-132).
import { expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const said = (name: string, value: string) => rowOf({ email: "a@b.co", [name]: value }).consent?.status;

it.each([
  ["Consentement e-mail", "Retiré"],
  ["Consentement", "révoqué"],
  ["Consentimiento", "Denegado"],
  ["Consentimiento", "Retirado"],
  ["Consentimento", "Revogado"],
  ["Consenso", "Ritirato"],
  ["Iscrizione newsletter", "annullata"],
  ["Suscripción", "inactiva"],
  ["Consent", "Objected"],
  ["Einwilligung", "liegt nicht vor"],
  ["Newsletter", "nicht erwünscht"],
  ["Permission status", "Withdrawn"],
  ["Opt-in status", "O"],
  ["Abo-Status", "gekündigt"],
  ["Statut emailing", "inactif"],
  ["Statut abonnement", "résilié"],
  ["Estado suscripción", "No suscrito"],
  ["Estado", "Baja voluntaria"],
  ["Status", "Abmeldung"],
  ["Status", "Widerruf"],
  ["Status", "Not opted-in"],
  ["Status", "Globally unsubscribed"],
  ["Status", "Self unsubscribed"],
  ["marketing_state", "not_subscribed"],
  ["Globaler Status", "zurückgewiesen"],
  ["Globaler Status", "inaktiv"],
])("%s: %s takes the consent back, or says that there is none (AMB-132)", (name, value) => {
  expect(said(name, value)).toBe("opted_out");
});

it.each([
  "Werbung E-Mail",
  "MKT_PERM_EMAIL",
  "Mailing status",
  "Mailings aktiv",
  "Email OK?",
  "emails_enabled",
  "subscription_active",
  "Active subscriber",
  "Emailing allowed",
  "Email campaign opt in",
  "Marketing SMS & Email",
  "Electronic communication",
  "Comunicaciones comerciales",
  "Prospection",
  "Permiso email",
  "Permite contato",
  "preferences.email",
  "Contact via email?",
  "Wants marketing",
  "Gets emails",
  "Sign me up",
  "GDPR ok",
  "DOI",
  "ニュースレター",
  "Hírlevél",
])("%s: a no is an opt-out, and a yes proves nothing (AMB-132)", (name) => {
  expect(said(name, "no")).toBe("opted_out");
  expect(said(name, "yes") ?? "unknown").toBe("unknown");
});

it.each([
  "Mail stop date",
  "Forget me",
  "unsuscribed",
  "Kündigung Newsletter",
  "Leiratkozott",
  "Dezabonat",
  "Απεγγραφή",
])("%s: what stands there is an opt-out, unless it is a no (AMB-132)", (name) => {
  expect([said(name, "1"), said(name, "no")]).toEqual(["opted_out", undefined]);
});

it.each([
  ["Keine WhatsApp", "ja", "chat_app"],
  ["Texting allowed", "No", "sms"],
  ["Handy Werbung", "nein", "sms"],
  ["Mobil Opt-in", "nein", "sms"],
  ["Niet sms'en", "ja", "sms"],
  ["SMS-Sperre", "ja", "sms"],
  ["Sperre WhatsApp", "ja", "chat_app"],
  ["SMS gewünscht", "nein", "sms"],
])("%s: %s opts out of %s alone (AMB-132)", (name, value, channel) => {
  const { consent, choices } = rowOf({ email: "a@b.co", [name]: value });

  expect([consent, choices]).toEqual([undefined, { [channel]: expect.objectContaining({ status: "opted_out" }) }]);
});

it("No to advertising by SMS and WhatsApp is one to these channels (AMB-132)", () => {
  const { consent, choices } = rowOf({ email: "a@b.co", "Werbung SMS": "N", "Werbung WhatsApp": "N" });

  expect(consent).toBeUndefined();
  expect(choices).toMatchObject({ sms: { status: "opted_out" }, chat_app: { status: "opted_out" } });
});

it.each([
  ["Newsletter gelesen", "nein"],
  ["Retirement newsletter", "yes"],
  ["Vertragskündigung", "2024-01-01"],
  ["Email campaign name", "no"],
  ["Email verified", "no"],
  ["Mail stop", "MS-12"],
  ["Vertrag gekündigt", "ja"],
  ["Werbung per Post", "nein"],
  ["Unsubscribed", "ЛОЖЬ"],
  ["Unsubscribed", "YANLIŞ"],
  ["Unsubscribed", "NEPRAVDA"],
  ["newsletter_mode", "0"],
])("%s: %s is no opt-out (AMB-132)", (name, value) => {
  expect(said(name, value)).not.toBe("opted_out");
});
