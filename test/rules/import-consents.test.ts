// What rows say of consent by the names of their columns: no opt-out is lost, no opt-in is invented (AMB-131, AMB-132).
import { describe, expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const AT = "2025-03-01T09:30:00Z";
const INSTANT = "2025-03-01T09:30:00.000Z";
const CREATED = "2026-06-01T12:00:00.000Z";

const consentOf = (cells: Record<string, string>, options: Parameters<typeof rowOf>[1] = {}) =>
  rowOf({ email: "a@b.co", ...cells }, options).consent;
const statusOf = (name: string, value: string) => consentOf({ [name]: value })?.status;

/** Names of columns, divided by bars; a language a line. */
const names = (text: string) => text.split("|").map((name) => name.trim());

const NEGATIVE = names(`
  unsubscribed | Unsubscribed from all email | is_unsubscribed | isUnsubscribed | unsubscribed_at | UNSUB_TIME |
  Opt Out | opt-out | OptedOut | Opted out of email: Newsletter | HasOptedOutOfEmail | Email Opt Out | optout |
  Do Not Email | do_not_email | DoNotContact | dont_email | Do not mail | No e-mail |
  blacklisted | EMAIL_BLACKLISTED | Blocklisted | Global unsubscribe | Consent revoked |
  Abgemeldet | Abbestellt am | Newsletter abgemeldet | Keine Werbung | Kein Newsletter | Widerspruch | Gesperrt |
  Robinsonliste | Sperrvermerk | Ne souhaite plus recevoir | Stop mail | Lista Robinson | Revoca consenso |
  Consent withdrawal date | Einwilligung entzogen | Intrekking toestemming |
  Désabonné | Désinscrit | Ne pas contacter | Liste noire | Refus e-mail |
  Dado de baja | Baja | Desuscrito | No contactar | Lista negra |
  Disiscritto | Non contattare | Lista nera | Iscrizione cancellata |
  Descadastrado | Não contatar | Não enviar e-mail | Inscrição cancelada |
  Uitgeschreven | Afgemeld | Niet mailen | Geen e-mail | Zwarte lijst |
  IsExcludedFromCampaigns | Marketing Suspended | deactivated |
  配信停止日 | 登録解除 | ブラックリスト | ARCHIVE_TIME |
  Wypisany | Wypisana | Nie wysyłać | Rezygnacja | Brak zgody | Czarna lista
`);
const SUPPRESSED = names(`
  Bounced | hard_bounced | Email hard bounced | is bounced | bounced_at | Complained | complaint_at |
  Suppressed | Email Suppressions | cleaned | CLEAN_TIME | Marked as spam | Marked email as spam | Unzustellbar |
  Beschwerde |
  Email Invalid | invalid_email | email_disabled | E-Mail ungültig | Email non valida | E-mail inválido |
  Email invalide | Correo inválido | Ongeldig e-mailadres | Nieprawidłowy e-mail | Email Bounced Reason |
  Bounceback? |
  Plainte | Rebotado | Rimbalzato | Reclamação | Klacht | Odrzucony | Skarga
`);
const POSITIVE = names(`
  subscribed | is_subscribed | Email Subscribed | Opt-In | OPT_IN | DOUBLE_OPT-IN | opted_in | Newsletter |
  Accepts Marketing | Accepts Email Marketing | accepts_marketing | Newsletter consent | Marketing permission |
  Mailable | MSG-email | Receive emails | Recibir correos | Recevoir la newsletter | Otrzymuje newsletter |
  E-Mail-Werbung | Kontakt per E-Mail | Kontakt erlaubt | Email Marketing | Consiente | Recibir ofertas |
  Angemeldet | Einwilligung | Zustimmung Newsletter | Abonné | Inscrit à la newsletter | Consentement |
  Suscrito | Consentimiento | Boletín | Iscritto | Consenso marketing | Inscrito | Aceita e-mails |
  メルマガ | メール配信 | Permission to email |
  Ingeschreven | Toestemming | Nieuwsbrief | Zapisany | Zgoda | Subskrybuje
`);
const SILENT = names(`
  Marketing contact status | Record ID | plan | status | Unsubscribe URL | Bounce rate |
  Marketing emails bounced | bounce count | Cookie consent | push_opt_in | Last Activity Date | subscription_plan |
  Consent expiry date | Einwilligung gültig bis | Fax Opt Out | email_soft_bounced | Consent to track | Soft bounce reason | Emails received |
  Newsletter opens | Payment declined | Pedido cancelado | Zahlung widerrufen |
  (Do Not Modify) Contact | Phone opt-in | Country | created_at | _last_emailed
`);
const TRUE = ["true", "TRUE", "yes", "1", "x", "ja", "oui", "sí", "sim", "tak", "はい", "希望する", "✓"];
const FALSE = ["false", "No", "0", "nein", "non", "não", "nee", "nie", "いいえ", "希望しない"];

describe("names", () => {
  it.each(NEGATIVE)("a true %s is an opt-out, a false one says nothing (AMB-132)", (name) => {
    expect(statusOf(name, "true")).toBe("opted_out");
    expect(consentOf({ [name]: "2025-03-01 09:30:00" })).toMatchObject({ status: "opted_out", at: INSTANT });
    expect([statusOf(name, "false"), statusOf(name, "")]).toEqual([undefined, undefined]);
  });

  it.each(SUPPRESSED)("a true %s is a suppression, a false one says nothing (AMB-132)", (name) => {
    expect([statusOf(name, "true"), statusOf(name, AT)]).toEqual(["suppressed", "suppressed"]);
    expect([statusOf(name, "false"), statusOf(name, "[]")]).toEqual([undefined, undefined]);
  });

  it.each(POSITIVE)("a false %s is an opt-out, a true one is unknown without a time (AMB-132)", (name) => {
    expect(statusOf(name, "false")).toBe("opted_out");
    expect(consentOf({ [name]: "true" })).toEqual({ status: "unknown", said: "true", doubt: "yes_without_time" });
    expect(consentOf({ [name]: "true", consent_at: AT })).toMatchObject({ status: "opted_in", at: INSTANT });
  });

  it.each(SILENT)("%s says nothing (AMB-132)", (name) => {
    expect([statusOf(name, "true"), statusOf(name, "false")]).toEqual([undefined, undefined]);
  });

  it("true and false in the languages of the service (AMB-132)", () => {
    expect(TRUE.map((value) => statusOf("Unsubscribed", value))).toEqual(TRUE.map(() => "opted_out"));
    expect(FALSE.map((value) => statusOf("Subscribed", value))).toEqual(FALSE.map(() => "opted_out"));
    expect(FALSE.map((value) => statusOf("Unsubscribed", value))).toEqual(FALSE.map(() => undefined));
  });
});

describe("values", () => {
  it.each([
    ["Unsubscribed", '="1"', "opted_out"],
    ["Global status", "bounced", "suppressed"],
    ["Unsubscribed", "newsletter", "opted_out"],
    ["Unsubscribed", "0000-00-00 00:00:00", undefined],
    ["Unsubscribed", "1.0", "opted_out"],
    ["Ne plus contacter", "Oui", "opted_out"],
    ["Nicht mehr anschreiben", "x", "opted_out"],
    ["Marketing Opt-in", "No thanks", "opted_out"],
    ["Marketing-Status", "Kein Einverständnis", "opted_out"],
    ["Contact preference", "Unsubscribed", "opted_out"],
    ["Contact preference", "E-mail", undefined],
    ["Email permission status", "opted out", "opted_out"],
    ["Unsubscribed", "0.0", undefined],
    ["Newsletter", "0.0", "opted_out"],
    ["Newsletter", "0,00", "opted_out"],
    ["Newsletter", "✗", "opted_out"],
    ["Newsletter", "❌️", "opted_out"],
    ["Newsletter", "never", "opted_out"],
    ["Unsubscribed", "✗", undefined],
    ["Unsubscribed", "never", undefined],
    ["Do not allow Bulk Emails", "Allow", undefined],
    ["Do not allow Bulk Emails", "Do Not Allow", "opted_out"],
    ["Marketing Material", "Do Not Send", "opted_out"],
    ["Status", "Held", "suppressed"],
    ["Unsubscribed", "subscribed", undefined],
    ["unsubscribed_at", "1609459200", "opted_out"],
    ["Newsletter", "unsubscribed", "opted_out"],
    ["Newsletter", "bounced", "suppressed"],
    ["Newsletter", "weekly", undefined],
    ["Newsletter", "Disabled", "opted_out"],
    ["Email Marketing", "Cleaned", "suppressed"],
    ["Email Marketing", "Unsubscribed", "opted_out"],
    ["Email Confirmation Status", "Not confirmed", "opted_out"],
    ["Opt-out", "confirmed", "opted_out"],
    ["Abmeldegrund", "zu viele Mails", "opted_out"],
    ["Motif de désinscription", "trop", "opted_out"],
    ["Unsubscribed at", "1970-01-01 00:00:00", "opted_out"],
    ["Opt-In", "2", "opted_out"],
    ["DOUBLE_OPT-IN", "2.0", "opted_out"],
    ["Newsletter", "2", undefined],
    ["Email Marketing Status", "REDACTED", "opted_out"],
    ["Newsletter", "null", undefined],
    ["Email Suppressions", '["UNSUBSCRIBE"]', "opted_out"],
    ["Email Suppressions", '["UNSUBSCRIBE","HARD_BOUNCE"]', "suppressed"],
    ["consent_status", "NOT_SUBSCRIBED", "opted_out"],
    ["consent_status", "blacklisted", "opted_out"],
    ["consent_status", "hard_bounced", "suppressed"],
    ["consent_status", "Abgemeldet", "opted_out"],
    ["consent_status", "active", "unknown"],
  ])("%s: %s is %s (AMB-132)", (name, value, status) => {
    expect(statusOf(name, value)).toBe(status);
  });

  it("the strongest of several columns counts (AMB-132)", () => {
    const yes = { consent_status: "subscribed", consent_at: AT };
    expect(consentOf({ ...yes, "Opt out": "yes" })?.status).toBe("opted_out");
    expect(consentOf({ ...yes, "Opt out": "yes", Bounced: "1" })?.status).toBe("suppressed");
    expect(consentOf({ ...yes, Newsletter: "no" })?.status).toBe("opted_out");
    expect(consentOf({ ...yes, "Opt out": "no", Bounced: "no" })?.status).toBe("opted_in");
  });

  it("a date in a column that says yes is the time of a yes, and none itself where another column may say no (AMB-132)", () => {
    expect(consentOf({ "Newsletter since opt-in": AT, Status: "" })).toBeUndefined();
    expect(consentOf({ "Newsletter opt-in": AT, Subscribed: "yes" })).toMatchObject({
      status: "opted_in",
      at: INSTANT,
    });
  });

  it("a negative column that is mapped to a consent or a topic stays negative (AMB-132)", () => {
    const mapping = { "Do not email": "consent_status" };
    const of = (value: string) => consentOf({ "Do not email": value }, { mapping })?.status;
    expect([of("true"), of("2025-03-01"), of("false")]).toEqual(["opted_out", "opted_out", undefined]);
    const topic = { mapping: { "Unsubscribed news": "topic:news" }, topics: ["news"] };
    const said = (value: string) => rowOf({ email: "a@b.co", "Unsubscribed news": value }, topic).choices;
    expect(said("yes")).toEqual({ "topic:news": { status: "opted_out", at: undefined, source: undefined } });
    expect(said("no")).toEqual({});
  });

  it("other channels have their own, and the time of a mail proves nothing of them (AMB-132)", () => {
    const read = rowOf({
      email: "a@b.co",
      consent_at: AT,
      "Accepts Email Marketing": "yes",
      "Accepts SMS Marketing": "no",
      WHATSAPP_OPT_IN: "yes",
    });
    expect(read.consent?.status).toBe("opted_in");
    expect(read.choices).toMatchObject({ sms: { status: "opted_out" }, chat_app: { status: "unknown" } });
  });
});

describe("times", () => {
  it("an opt-out that one column states has the time that another one says (AMB-132)", () => {
    const cells = { Status: "Unsubscribed", "Date Subscribed": "2020-01-01", "Date Unsubscribed": AT };
    expect(consentOf(cells)).toMatchObject({ status: "opted_out", at: INSTANT });
  });

  it.each([
    [{ "Email status": "Unsubscribed", "Email status changed at": AT }, "opted_out"],
    [{ "Email status": "Subscribed", "Email status changed at": AT }, "opted_in"],
    [{ accepts_marketing: "true", accepts_marketing_updated_at: AT }, "opted_in"],
    [{ "Email Marketing Status": "UNSUBSCRIBED", "Email Marketing Consent Updated At": AT }, "opted_out"],
  ])("what a column says became so when the column for it says: %j (AMB-132)", (cells, status) => {
    expect(consentOf(cells as Record<string, string>)).toMatchObject({ status, at: INSTANT });
  });

  it.each([
    { status: "unsubscribed", updated_at: AT },
    { "Email status": "unsubscribed", "SMS status changed at": AT },
  ])("%j has no time of the opt-out (AMB-132)", (cells) => {
    expect(consentOf(cells as Record<string, string>)).toMatchObject({ status: "opted_out", at: undefined });
  });

  it("the time of one channel is none of another one (AMB-132)", () => {
    const sms = { "SMS Marketing Consent": "UNSUBSCRIBED", "SMS Marketing Consent Timestamp": AT };
    const { consent, choices } = rowOf({ email: "a@b.co", "Email Marketing Consent": "SUBSCRIBED", ...sms });
    expect([consent?.status, choices.sms]).toMatchObject(["unknown", { status: "opted_out", at: INSTANT }]);
  });

  it("a time ahead of the import proves nothing, and an opt-out counts without it (AMB-131)", () => {
    const csv = (consent_status: string, consent_at: string) => consentOf({ consent_status, consent_at });
    expect(csv("yes", "2026-06-01T12:05:01Z")).toEqual({ status: "unknown", said: "yes", doubt: "future" });
    expect(csv("yes", "2026-06-01T12:05:00Z")).toMatchObject({ status: "opted_in", at: CREATED });
    expect(csv("no", "2099-01-01")).toMatchObject({ status: "opted_out", at: undefined });
    const later = { CONFIRM_TIME: "2099-01-01" };
    expect(consentOf(later, { source: "platform_b" })).toMatchObject({ status: "unknown", doubt: "future" });
  });

  it("one time and source for the whole file counts where a row has none (AMB-133)", () => {
    const reading = { consent_at: "2026-01-01", consent_source: "shop", zone: "Europe/Berlin" };
    expect(consentOf({ Newsletter: "yes" }, { reading })).toMatchObject({
      status: "opted_in",
      at: "2025-12-31T23:00:00.000Z",
      source: "shop",
    });
    expect(consentOf({ Newsletter: "yes", consent_at: AT }, { reading })?.at).toBe(INSTANT);
    expect(consentOf({ Newsletter: "no" }, { reading })).toMatchObject({ status: "opted_out", source: "shop" });
    expect(consentOf({ Newsletter: "yes", consent_at: "lately" }, { reading })?.status).toBe("unknown");
  });
});

describe("statuses and reasons", () => {
  it.each([
    ["Status", "Unsubscribed", "opted_out"],
    ["Subscriber status", "Bounced", "suppressed"],
    ["status", "Hard bounced", "suppressed"],
    ["Contact Status", "complained", "suppressed"],
    ["status", "Abgemeldet", "opted_out"],
    ["Status", "Active", undefined],
    ["status", "declined", undefined],
    ["State", "NY", undefined],
    ["status", "0", undefined],
    ["Email hard bounce reason", "UNKNOWN_USER", "suppressed"],
    ["Reason", "COMPLAINT", "suppressed"],
    ["type", "Bounce", "suppressed"],
    ["Reason", "550 no such user", "suppressed"],
    ["status", "5.1.1", "suppressed"],
    ["status", "blocklisted", "opted_out"],
    ["Status", "Spam complaint", "suppressed"],
    ["Reason", "moved to Berlin", undefined],
    ["dnc_email", "1", "opted_out"],
    ["Abmeldedatum", "13.05.2024", "opted_out"],
    ["Email quarantined", "true", "suppressed"],
    ["Email status", "invalid", "suppressed"],
    ["marketing_consent", "denied", "opted_out"],
    ["marketing_consent", "granted", "unknown"],
    ["Bounce reason rate", "3", undefined],
  ])("%s %s means %s (AMB-132)", (name, value, expected) => {
    expect(statusOf(name, value)).toBe(expected);
  });
});

it("an opt-out has the time of its own column, not that of the yes before (AMB-132)", () => {
  const { consent } = rowOf({
    email: "a@example.com",
    email_subscribe: "unsubscribed",
    email_opted_in_at: "2025-01-02T00:00:00Z",
    unsubscribed_from_emails_at: "2025-06-01T10:00:00Z",
  });
  expect(consent).toMatchObject({ status: "opted_out", at: "2025-06-01T10:00:00.000Z" });
});
