// Words for an opt-out in the cells of files, as other platforms write them (AMB-132).
import { expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const statusOf = (name: string, value: string) => {
  const { consent, choices } = rowOf({ email: "a@example.com", [name]: value });
  return consent?.status ?? choices.sms?.status;
};

it.each([
  ["Unsubscribe reason", "Too many mails", "opted_out"],
  ["unsubscribe_reason", "N/A", undefined],
  ["status", "cancelled", "opted_out"],
  ["State", "canceled", "opted_out"],
  ["status", "unmarketable", "opted_out"],
  ["Status", "Deleted", "opted_out"],
  ["Status", "GloballySuppressed", "suppressed"],
  ["Status", "Unconfirmed", "opted_out"],
  ["Email Status", "Awaiting confirmation", "opted_out"],
  ["consent_status", "Not confirmed", "opted_out"],
  ["Status", "Archived", "opted_out"],
  ["consent_status", "Archived", "opted_out"],
  ["Status", "Junk", "suppressed"],
  ["consent_status", "Cleaned", "suppressed"],
  ["Email Status", "Bounced", "suppressed"],
  ["consent_status", "Pending", "opted_out"],
  ["Email subscriber status", "PENDING", "opted_out"],
  ["Status", "disabled", "opted_out"],
  ["Status", "Inactive", "opted_out"],
  ["Customer status", "Inactive", undefined],
  ["Lead Status", "Pending", undefined],
  ["Customer status", "Blocked", "opted_out"],
  ["IsOptInPending", "true", "opted_out"],
  ["IsOptInPending", "false", undefined],
  ["confirmed", "0", "opted_out"],
  ["deleted_at", "2023-05-01T00:00:00Z", "opted_out"],
  ["Marketing contact status", "Non-marketing contact", "opted_out"],
  ["Marketing contact status", "Marketing contact", undefined],
  ["OptOutType", "STOP", "opted_out"],
  ["newsletter", "\\N", undefined],
  ["EMAIL_PERMISSION_STATUS_", "O", "opted_out"],
  ["EMAIL_PERMISSION_STATUS_", "I", undefined],
  ["MOBILE_PERMISSION_STATUS_", "O", "opted_out"],
  ["Status", "O", undefined],
  ["Subscription State", "Inactive", "opted_out"],
  ["Email Status", "Non-Marketable", "opted_out"],
  ["newsletter_subscription", "Not Active", "opted_out"],
  ["Bounce type", "Hard", "suppressed"],
  ["Bounce category", "Soft bounce", undefined],
  ["Bounce", "soft", undefined],
  ["Exclude from mailing", "1", "opted_out"],
  ["Marketing not allowed", "yes", "opted_out"],
  ["Exclu emailing", "1", "opted_out"],
  ["Rechaza publicidad", "Sí", "opted_out"],
  ["Uitgesloten van mailing", "ja", "opted_out"],
  ["Do you want to hear from us?", "No", "opted_out"],
  ["May we contact you?", "No", "opted_out"],
  ["Bounce status", "Geen", undefined],
  ["Bounce status", "No bounce", undefined],
  ["Bounce status", "kein Bounce", undefined],
  ["Bounce status", "Hard", "suppressed"],
  ["Opt-out reason", "keiner", undefined],
  ["Newsletter", "No, unsubscribed", "opted_out"],
  ["Motivo del rebote definitivo", "Usuario desconocido", "suppressed"],
  ["Deaktiviert", "2024-03-01", "opted_out"],
  ["Deaktiviert", "0", undefined],
  ["Gebounct", "1", "suppressed"],
  ["Studsade", "Ja", "suppressed"],
  ["status", "Odbity twardo", "suppressed"],
  ["status", "Do aktywacji", "opted_out"],
  ["Would you like to hear about future events?", "No thanks", "opted_out"],
  ["Would you like to hear about future events?", "Yes please", undefined],
  ["Would you like to receive our programme?", "No", "opted_out"],
  ["How did you hear about us?", "Spam", undefined],
  ["OK to email?", "N", "opted_out"],
  ["Send me offers", "false", "opted_out"],
  ["Receive updates", "no", "opted_out"],
  ["Email notifications", "off", "opted_out"],
  ["Promotional emails", "no", "opted_out"],
  ["Special offers", "No", "opted_out"],
  ["Happy to be contacted", "No", "opted_out"],
  ["Hiermit willige ich ein", "nein", "opted_out"],
  ["Ich stimme dem Erhalt von Werbung zu", "Nein", "opted_out"],
  ["Aceito receber novidades", "Não", "opted_out"],
  ["Email opt-in", "Not opted in", "opted_out"],
  ["Marketing consent", "Not given", "opted_out"],
  ["Marketing consent", "Expired", "opted_out"],
  ["consent", "did not agree", "opted_out"],
  ["No longer contact by email", "Yes", "opted_out"],
  ["Kontaktsperre", "ja", "opted_out"],
  ["RGPD", "refusé", "opted_out"],
  ["Estado", "De baja", "opted_out"],
  ["Estado", "Baja California", undefined],
  ["Statut", "désinscrit le 12/03/2023", "opted_out"],
  ["OptOutType", "START", undefined],
  ["OptOutType", "HELP", undefined],
  ["Status", "IsspComplained", "suppressed"],
  ["Status", "IspComplained", "suppressed"],
  ["Status", "MailBlocked", "suppressed"],
  ["Status", "SharedSuppression", "suppressed"],
  ["Status", "NoMxRecord", "suppressed"],
  ["MSG-dndEmail", "true", "opted_out"],
  ["MSG-dndEmail", "false", undefined],
  ["MSG-dndPhone", "true", "opted_out"],
  ["Phone Blacklisted", "True", "opted_out"],
  ["phone_opt_out", "1", "opted_out"],
  ["Opted out of phone calls", "true", undefined],
  ["iPhone push unsubscribed", "true", undefined],
  ["Lettre d'informations", "0", "opted_out"],
  ["Desea recibir publicidad", "No", "opted_out"],
  ["Desea recibir publicidad", "Sí", "unknown"],
  ["Souhaite recevoir de la publicité", "non", "opted_out"],
  ["Ricevere comunicazioni", "NO", "opted_out"],
  ["Möchte Werbung erhalten", "nein", "opted_out"],
  ["Werbung per E-Mail erlaubt", "Nein", "opted_out"],
  ["Werbung per SMS erlaubt", "Nein", "opted_out"],
  ["Keine Werbung per E-Mail", "Ja", "opted_out"],
  ["Wil nieuws ontvangen", "nee", "opted_out"],
  ["Niet storen", "ja", "opted_out"],
  ["Não perturbe", "Sim", "opted_out"],
  ["Non disturbare", "Sì", "opted_out"],
  ["Bitte nicht stören", "ja", "opted_out"],
  ["Keep me posted", "No", "opted_out"],
  ["Rejects marketing", "yes", "opted_out"],
  ["Status", "Opted out (STOP)", "opted_out"],
  ["Status", "Unsubscribed 2023-05-04", "opted_out"],
  ["Status", "Bounced - mailbox full", "suppressed"],
  ["Status", "Bouncing ideas", undefined],
  ["Email Suspended", "1", "suppressed"],
  ["Person - Marketing status", "No consent", "opted_out"],
  ["Email frequency", "Never", "opted_out"],
  ["Newsletter", "removed", "opted_out"],
  // No answer to the question of a column that says no.
  ["Unsubscribed", "STOP", "opted_out"],
  ["Opt out", "not interested", "opted_out"],
])("%s %s means %s (AMB-132)", (name, value, expected) => {
  expect(statusOf(name, value)).toBe(expected);
});

it.each([
  ["Email campaigns", "Blocklisted", "opted_out"],
  ["List: Offers", "Unsubscribed", "opted_out"],
  ["note", "Do not e-mail!", "opted_out"],
  ["note", "Unsubscribed 04/05/2023", "opted_out"],
  ["order", "cancelled", undefined],
  ["attributes", '{"city":"Köln","unsubscribed":false}', undefined],
  ["attributes", '{"unsubscribed_at":null,"city":"Köln"}', undefined],
  ["attributes", '{"city":"Köln","unsubscribed":true}', "opted_out"],
  ["note", "Unsubscribed: no", undefined],
  ["Web push", "Unsubscribed", undefined],
  ["topic:nothing", "opted_out", undefined],
  ["note", "status: unsubscribed", "opted_out"],
  ["SMS campaigns", "Unsubscribed", "opted_out"],
  ["source", "Spam Complaint", "suppressed"],
  ["source", "Bounce Rule", "suppressed"],
  ["note", "He bounced back", undefined],
  ["Lists", "Customers; Opt-outs", "opted_out"],
  ["Groups", "Blacklist", "opted_out"],
  ["Groupe", "Désabonnés", "opted_out"],
  ["Gruppe", "Sperrliste", "opted_out"],
  ["Lists", "Suppression list", "suppressed"],
  ["Lists", "Hard bounces", "suppressed"],
])("in a column of anything, %s %s means %s (AMB-132)", (name, value, expected) => {
  expect(statusOf(name, value)).toBe(expected);
});

it.each(["pending", "Unconfirmed", "archived"])(
  "who is %s at the other platform has not agreed, though its file says when they signed up (AMB-132)",
  (Status) => {
    const cells = { "Email Address": "a@example.com", Status, OPTIN_TIME: "2026-03-01 10:00:00" };
    expect(rowOf(cells, { source: "platform_b" }).consent?.status).toBe("opted_out");
  },
);

it("an opt-out of a channel in a column of anything is of that channel alone (AMB-132)", () => {
  const { consent, choices } = rowOf({ email: "a@example.com", "SMS campaigns": "Unsubscribed" });
  expect([consent, choices.sms?.status]).toEqual([undefined, "opted_out"]);
});

/** Of other platforms and languages: what says no, and what seems to. */
it.each([
  ["Contact Status", "Marked Spam", "suppressed"],
  ["Reason", "USER_SUPPRESSED", "suppressed"],
  ["reason", "Spam Reporting Address", "suppressed"],
  ["Status", "Unsuppressed", undefined],
  ["reason", "Mail domain mentioned in email address is unknown", "suppressed"],
  ["reason", "550 No such user here", "suppressed"],
  ["reason", "Product not found", undefined],
  ["Master List Status", "Bounced", "suppressed"],
  ["Email Status", "Non-marketable: Hard bounce", "suppressed"],
  ["Email Status", "Not subscribed (unsubscribed)", "opted_out"],
  ["Email Status", "Not opted out", undefined],
  ["Bounced Soft", "2", undefined],
  ["_OptInStatusID", "2", undefined],
  ["subscriber_status", "3", "opted_out"],
  ["subscriber_status", "1", undefined],
  ["Abonelikten Çıktı", "Evet", "opted_out"],
  ["Abonelikten Çıktı", "Hayır", undefined],
  ["E-posta İzni", "Hayır", "opted_out"],
  ["SMS İzni", "Hayır", "opted_out"],
  ["Engelli", "Evet", undefined],
  ["Avregistrerad", "Ja", "opted_out"],
  ["Nyhetsbrev", "Nej", "opted_out"],
  ["Reservert mot e-post", "x", "opted_out"],
  ["Odhlášen", "Ano", "opted_out"],
  ["Souhlas", "Ne", "opted_out"],
  ["Narozen dne", "1.2.1980", undefined],
  ["Отписан", "да", "opted_out"],
  ["Подписан", "нет", "opted_out"],
  ["已退订", "是", "opted_out"],
  ["是否订阅", "否", "opted_out"],
  ["수신거부", "Y", "opted_out"],
  ["수신동의", "아니오", "opted_out"],
  ["会員ステータス", "退会済", "opted_out"],
  ["会員ステータス", "有効", undefined],
])("the column %s with %s means %s (AMB-132)", (name, value, expected) => {
  expect(statusOf(name, value)).toBe(expected);
});

it("a WhatsApp subscription that MoEngage says no to is an opt-out of chat apps (AMB-132)", () => {
  const { consent, choices } = rowOf({ email: "a@example.com", moe_wa_subscription: "false" });
  expect([consent, choices.chat_app?.status]).toEqual([undefined, "opted_out"]);
});

it.each([
  [{ address: "a@example.com", code: "550", error: "No such user" }, "suppressed"],
  [{ address: "a@example.com", code: "421", error: "Try again later" }, undefined],
  [{ email: "a@example.com", code: "550" }, undefined],
])("the code of an error stands beside its text: %j means %s (AMB-132)", (cells, expected) => {
  expect(rowOf(cells).consent?.status).toBe(expected);
});

it.each([
  "GDPR",
  "GDPR consent",
  "Consentement RGPD",
  "Zgoda RODO",
  "confirmed",
  "Special offers",
  "Email notifications",
  "May we contact you?",
])("a yes to %s may be one to something else: it agrees to nothing (AMB-132)", (name) => {
  const { consent } = rowOf({ email: "a@example.com", [name]: "yes", consent_at: "2025-03-01T09:30:00Z" });
  expect(consent).toBeUndefined();
});

it("STOP is an opt-out of SMS too (AMB-132)", () => {
  const { consent, choices } = rowOf({ email: "a@example.com", OptOutType: "STOP" });
  expect([consent?.status, choices.sms?.status]).toEqual(["opted_out", "opted_out"]);
});

it.each([
  ["Opted-out channels", "SMS", ["sms"]],
  ["Unsubscribed channels", "sms;push", ["sms"]],
  ["Unsubscribed channels", '["email", "sms"]', ["mail", "sms"]],
  ["Communication opt-out", "E-Mail und SMS", ["mail", "sms"]],
  ["Opt out", "Push", []],
  ["doNotContact", "sms", ["sms"]],
  ["Opt out", "SMS offers", ["mail"]],
])("%s %s is an opt-out of the channels that it names: %j (AMB-132)", (name, value, channels) => {
  const { consent, choices } = rowOf({ email: "a@example.com", [name]: value });
  expect([consent && "mail", choices.sms && "sms", choices.chat_app].filter(Boolean)).toEqual(channels);
});

it.each([
  ["preferences", '{"subscription_status":"unsubscribed"}', "mail"],
  ["attributes", "{'subscription_status': 'unsubscribed', 'tags': None}", "mail"],
  ["attributes", '{"newsletter":{"subscribed":false}}', "mail"],
  ["properties", '{"marketing":{"email":{"opt_in":false,"date":"2023-01-01"}}}', "mail"],
  ["preferences", '{"email":false,"sms":true}', "mail"],
  ["preferences", '{"email":true,"sms":false}', "sms"],
  ["email_preferences", '{"digest":false}', "mail"],
  ["consents", '[{"channel":"sms","status":"unsubscribed"},{"channel":"email","status":"subscribed"}]', "sms"],
  ["consents", '[{"channel":"email","status":"opted_out"}]', "mail"],
  ["subscription_groups", '[{"name":"SMS US","status":"Unsubscribed"}]', "sms"],
  ["subscription_groups", '{"topics":{"one":true,"two":false}}', "mail"],
  ["unsubscribed", '{"email":false,"sms":true}', "sms"],
  ["unsubscribed", '{"reason":"too much"}', "mail"],
  ["unsubscribed", '{"at":null}', undefined],
  ["email_marketing_consent", '{"state":"unsubscribed","opt_in_level":null}', "mail"],
  ["email_marketing_consent", '{"state":"subscribed","unsubscribed_at":null}', undefined],
  ["consent", '{"newsletter":true,"unsubscribed":false}', undefined],
  ["preferences", '{"dark_mode":false}', undefined],
  ["last_order", '{"status":"cancelled","type":"archived"}', undefined],
  ["push", '{"unsubscribed":true}', undefined],
  ["tags", '{"newsletter_optout":"true"}', "mail"],
])("in JSON, %s %s refuses %s (AMB-132)", (name, value, refused) => {
  const { consent, choices } = rowOf({ email: "a@example.com", [name]: value });
  const mail = consent?.status === "opted_out" ? "mail" : consent?.status;
  expect([mail, choices.sms && "sms", choices.chat_app].filter(Boolean)).toEqual(
    refused === undefined ? [] : [refused],
  );
});

it("a column that is mapped to an attribute says nothing of consent (AMB-132)", () => {
  const cells = { email: "a@example.com", status: "cancelled" };
  const { consent, attributes } = rowOf(cells, { mapping: { status: "attribute:plan_status" } });
  expect([consent, attributes.plan_status]).toEqual([undefined, "cancelled"]);
});
