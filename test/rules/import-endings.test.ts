// Names of columns that say by a verb that mail is not wanted, and answers to what somebody wants (AMB-132).
import { expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const said = (name: string, value: string) => rowOf({ email: "a@b.co", [name]: value }).consent?.status;

it.each([
  ["Canceló la suscripción a todos los correos electrónicos", "sí"],
  ["Anuló la suscripción", "sí"],
  ["Optó por no recibir correos electrónicos", "sí"],
  ["Rechaza comunicaciones", "sí"],
  ["Revocó consentimiento", "sí"],
  ["Iscrizione annullata da tutte le e-mail", "sì"],
  ["Annullamento iscrizione a tutte le email", "sì"],
  ["Non ricevere email", "sì"],
  ["Rifiuta comunicazioni marketing", "sì"],
  ["Opposizione marketing", "sì"],
  ["Optou por não receber e-mails", "sim"],
  ["Recusou comunicações", "sim"],
  ["Removido da lista", "sim"],
  ["Retiré de la liste", "oui"],
  ["Newsletter storniert", "ja"],
  ["Newsletter gestoppt", "ja"],
  ["Werbung untersagt", "ja"],
  ["E-Mail-Verbot", "ja"],
  ["Werbestopp", "ja"],
  ["Bezwaar tegen marketing", "ja"],
  ["Cofnięcie zgody", "tak"],
  ["Objected to marketing", "yes"],
  ["Never email", "yes"],
  ["Left list", "yes"],
  ["Non vorrei ricevere offerte", "sì"],
  ["Wil geen aanbiedingen", "ja"],
  ["Sperrkennzeichen Werbung", "ja"],
  ["Newsletter cancelled", "yes"],
  ["Newsletter stop", "yes"],
  ["Consent denied", "yes"],
  ["Consent missing", "yes"],
  ["Opt-in not confirmed", "yes"],
  ["Einwilligung fehlt", "ja"],
  ["Newsletter unbestätigt", "ja"],
  ["Newsletter Nein", "x"],
  ["Marketing emails disabled", "yes"],
  ["Inactive newsletter", "yes"],
  ["Opt-in inactive", "yes"],
  ["Consent removed", "yes"],
  ["Left newsletter", "yes"],
  ["Newsletter deaktiviert", "ja"],
  ["Abonnement désactivé", "oui"],
  ["Suscripción inactiva", "sí"],
])("%s is an opt-out where it is true, and nothing where it is not (AMB-132)", (name, yes) => {
  expect([said(name, yes), said(name, "false"), said(name, "")]).toEqual(["opted_out", undefined, undefined]);
});

it.each([
  ["Autoriza marketing", "não"],
  ["Autorisation marketing", "non"],
  ["Akkoord", "nee"],
  ["Einverständnis", "nein"],
  ["Infos erwünscht", "nein"],
  ["Darf per Mail kontaktiert werden", "nein"],
  ["Can be contacted", "no"],
  ["Promotions", "false"],
  ["Newsletter", "keine"],
  ["Newsletter", "nunca"],
  ["Consenso newsletter", "negato"],
  ["Consent", "none given"],
  ["Consent", "No (2024-01-02)"],
  ["Newsletter", "Nein (per Telefon)"],
  ["Suscriptor", "no"],
  ["Vorrei ricevere offerte", "no"],
  ["Chcę otrzymywać oferty", "nie"],
  ["DOI-Status", "nicht bestätigt"],
])("%s: %s is an opt-out (AMB-132)", (name, no) => {
  expect(said(name, no)).toBe("opted_out");
});

it.each([
  ["Einverständnis Foto", "nein"],
  ["Never emailed", "yes"],
  ["Retirement newsletter", "yes"],
  ["Promo code rejected", "yes"],
  ["Annual newsletter", ""],
  ["Order e-mail cancelled", "yes"],
  ["Unsubscribed at", "k. A."],
  ["Unsubscribed", "No (still active)"],
  ["Unsubscribed at", "jamais"],
  ["Abgemeldet am", "noch nicht"],
  ["Unsubscribed at", "(vide)"],
  ["Unsubscribed at", "not applicable"],
])("%s: %s says no to nothing (AMB-132)", (name, value) => {
  expect(said(name, value) ?? "unknown").toBe("unknown");
});

it.each([
  "Opt-in active",
  "Extended marketing consent",
  "Newsletter aktiv",
  "Einwilligung in Aktivitäten",
  "Opt-in confirmed",
  "Consent checked",
  "Recommended newsletter",
])("a yes in %s is one, for it says nothing of an end (AMB-132)", (name) => {
  expect(rowOf({ email: "a@b.co", [name]: "yes", consent_at: "2024-01-01" }).consent?.status).toBe("opted_in");
});

it.each(["Newsletter no", "Consent given/removed", "Consent requested", "Einwilligung erforderlich"])(
  "a yes in %s is none, for nobody knows to what (AMB-132)",
  (name) => {
    expect(rowOf({ email: "a@b.co", [name]: "1", consent_at: "2024-01-01" }).consent?.status).toBeUndefined();
  },
);

it.each(["Werbesperre bis", "Newsletter gesperrt bis", "Unsubscribed until"])(
  "a day to come in %s is an opt-out until then (AMB-132)",
  (name) => {
    expect(said(name, "31.12.9999")).toBe("opted_out");
  },
);

it("a mail that came back is told by the error beside its address (AMB-132)", () => {
  expect([said("Email error", "550 user unknown"), said("Email error", "mailbox busy")]).toEqual([
    "suppressed",
    undefined,
  ]);
});

it.each([
  ["Rifiuta SMS", "sms"],
  ["SMS storniert", "sms"],
  ["Annulation WhatsApp", "chat_app"],
])("%s is an opt-out of %s alone (AMB-132)", (name, channel) => {
  const { consent, choices } = rowOf({ email: "a@b.co", [name]: "true" });
  expect([consent, choices]).toMatchObject([undefined, { [channel]: { status: "opted_out" } }]);
});
