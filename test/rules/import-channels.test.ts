// Rows of one channel, rows with a number alone, and what a row leaves out (AMB-132, AMB-133).
import { expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const saidBy = (cells: Record<string, string>) => {
  const { consent, choices } = rowOf({ external_id: "u1", ...cells });
  return { mail: consent?.status, sms: choices.sms?.status, chat_app: choices.chat_app?.status };
};
const NOTHING = { mail: undefined, sms: undefined, chat_app: undefined };

it.each([
  [
    { phone: "+491511234567", unsubscribed: "true" },
    { mail: "opted_out", sms: "opted_out" },
  ],
  [
    { phone: "+491511234567", consent_status: "unsubscribed" },
    { mail: "opted_out", sms: "opted_out" },
  ],
  [{ phone: "+491511234567", "Email Consent": "unsubscribed" }, { mail: "opted_out" }],
  [{ phone: "+491511234567", email: "a@example.com", "Phone Blacklisted": "True" }, { sms: "opted_out" }],
  [{ phone: "+491511234567", consent_status: "subscribed", consent_at: "2026-03-01" }, { mail: "opted_in" }],
  [{ phone: "+491511234567", email: "a@example.com", unsubscribed: "true" }, { mail: "opted_out" }],
  [
    { phone: "+491511234567", email: "", "Opt out date": "2026-03-01" },
    { mail: "opted_out", sms: "opted_out" },
  ],
])("without an address of mail, what a row refuses holds for its number too: %j (AMB-132)", (cells, said) => {
  expect(saidBy(cells)).toEqual({ ...NOTHING, ...said });
});

it.each([
  [{ Channel: "SMS", "Subscription Status": "Unsubscribed", "Phone Number": "+491511234567" }, { sms: "opted_out" }],
  [{ Channel: "Email", "Subscription Status": "Unsubscribed", Email: "a@example.com" }, { mail: "opted_out" }],
  [{ Channel: "Mobile Push", "Subscription Status": "Unsubscribed", Email: "" }, {}],
  [{ Channel: "Mobile Push", unsubscribed: "yes", Email: "a@example.com" }, { mail: "opted_out" }],
  [
    { Channel: "SMS", unsubscribed: "yes", Email: "a@example.com" },
    { mail: "opted_out", sms: "opted_out" },
  ],
  [
    { "Channel Type": "sms", consent_status: "subscribed", consent_at: "2026-03-01", phone: "+491511234567" },
    { sms: "opted_in" },
  ],
  [{ device_type: "14", identifier: "+491511234567", notification_types: "-2" }, { sms: "opted_out" }],
  [{ device_type: "11", identifier: "a@example.com", notification_types: "-31" }, { mail: "opted_out" }],
  [{ device_type: "11", identifier: "a@example.com", invalid_identifier: "t" }, { mail: "opted_out" }],
  [{ device_type: "11", identifier: "a@example.com", notification_types: "1", invalid_identifier: "f" }, {}],
  [{ device_type: "1", identifier: "token", notification_types: "-2" }, {}],
  [
    { ChannelType: "EMAIL", Address: "a@example.com", OptOut: "NONE", EndpointStatus: "INACTIVE" },
    { mail: "suppressed" },
  ],
  [{ ChannelType: "SMS", Address: "+491511234567", OptOut: "NONE", EndpointStatus: "INACTIVE" }, { sms: "opted_out" }],
  [{ ChannelType: "SMS", Address: "+491511234567", OptOut: "NONE", EndpointStatus: "ACTIVE" }, {}],
  [{ ChannelType: "SMS", Address: "+491511234567", OptOut: "ALL" }, { sms: "opted_out" }],
  [{ ChannelType: "VOICE", Address: "+491511234567", OptOut: "ALL" }, { sms: "opted_out" }],
  [{ ChannelType: "VOICE", Address: "+491511234567", OptOut: "NONE" }, {}],
  [{ Channel: "Voice", consent_status: "subscribed", consent_at: "2026-03-01", phone: "+491511234567" }, {}],
  [{ ChannelType: "EMAIL", Address: "a@example.com", OptOut: "ALL" }, { mail: "opted_out" }],
  [{ ChannelType: "GCM", Address: "token", OptOut: "ALL" }, {}],
  [{ named_user: "u1", device_type: "sms", msisdn: "491511234567", opt_in: "false" }, { sms: "opted_out" }],
  [{ named_user: "u1", device_type: "ios", msisdn: "", opt_in: "false" }, {}],
  [{ subscription_type: "SMS", token: "+491511234567", notification_types: "-2" }, { sms: "opted_out" }],
  [{ subscription_type: "Email", token: "a@example.com", notification_types: "-2" }, { mail: "opted_out" }],
  [{ doNotContact: "sms", email: "a@example.com" }, { sms: "opted_out" }],
  [
    { doNotContact: "1", email: "a@example.com" },
    { mail: "opted_out", sms: "opted_out", chat_app: "opted_out" },
  ],
  [{ "Can Receive SMS Marketing": "FALSE", email: "a@example.com" }, { sms: "opted_out" }],
  [{ "Stop SMS": "oui", email: "a@example.com" }, { sms: "opted_out" }],
  [{ "Permission to send SMS": "No", email: "a@example.com" }, { sms: "opted_out" }],
  [{ device_type: "1", unsubscribed: "true" }, { mail: "opted_out" }],
  [
    { Channel: "SMS", consent_status: "subscribed", consent_at: "2026-03-01", email: "a@example.com" },
    { sms: "opted_in" },
  ],
  [
    { "Consent type": "Text message", Consent: "yes", "Consent date": "2026-03-01", email: "a@example.com" },
    { sms: "opted_in" },
  ],
  [{ channel: "push", consent_status: "subscribed", consent_at: "2026-03-01", email: "a@example.com" }, {}],
  [{ channel: "Phone call", consent_status: "subscribed", consent_at: "2026-03-01", email: "a@example.com" }, {}],
  [{ channel: "Voicemail", consent_status: "subscribed", consent_at: "2026-03-01", email: "a@example.com" }, {}],
  [
    { channel: "Email, SMS", consent_status: "subscribed", consent_at: "2026-03-01", email: "a@example.com" },
    { mail: "opted_in" },
  ],
  [
    { channel: "Organic", consent_status: "subscribed", consent_at: "2026-03-01", email: "a@example.com" },
    { mail: "opted_in" },
  ],
  [{ text_opt_in: "yes", opt_in_date: "2026-03-01", email: "a@example.com" }, { sms: "unknown" }],
  [
    { "Email Address": "a@example.com", Email: "no", SMS: "yes" },
    { mail: "opted_out", sms: "unknown" },
  ],
  [{ email: "a@example.com", SMS: "no" }, { sms: "opted_out" }],
])("a row of one channel speaks of that channel: %j (AMB-132)", (cells, said) => {
  expect(saidBy(cells as Record<string, string>)).toEqual({ ...NOTHING, ...said });
});

it("in a row of one channel, the identifier is its address (AMB-133)", () => {
  const mail = rowOf({ external_user_id: "u1", device_type: "11", identifier: "a@example.com" });
  const sms = rowOf({ external_user_id: "u1", device_type: "14", identifier: "+491511234567" });
  const push = rowOf({ external_user_id: "u1", device_type: "0", identifier: "token" });
  expect([mail.email, sms.attributes.phone, push.email]).toEqual(["a@example.com", "+491511234567", undefined]);
});

it.each([
  ["EMAIL", "a@example.com", "a@example.com", undefined],
  ["SMS", "+491511234567", undefined, "+491511234567"],
  ["GCM", "token", undefined, undefined],
])("the address of an endpoint of %s, %s, is that of its channel (AMB-133)", (ChannelType, Address, email, phone) => {
  const row = rowOf({ "User.UserId": "u1", "User.UserAttributes.FirstName": "Ada", ChannelType, Address });
  expect([row.email, row.attributes.phone, row.attributes.first_name]).toEqual([email, phone, "Ada"]);
});

it.each([
  [{ tags: "VIP, unsubscribed" }, { mail: "opted_out" }],
  [{ tags: '{"plan":"pro","email_unsubscribed":"1"}' }, { mail: "opted_out" }],
  [{ tags: '{"plan":"pro","email_unsubscribed":"0"}' }, {}],
  [{ tags: '["do-not-email","x"]' }, { mail: "opted_out" }],
  [{ tags: "sms-optout" }, { sms: "opted_out" }],
  [{ tags: "vip,text-optout" }, { sms: "opted_out" }],
  [{ tags: "whatsapp-optout" }, { chat_app: "opted_out" }],
  [{ tags: "VIP|cancelled order" }, {}],
  [{ segment: "gold; opted out" }, { mail: "opted_out" }],
  [{ comment: "Please unsubscribe" }, { mail: "opted_out" }],
  [{ cio_subscription_preferences: '{"topics":{"topic_1":true,"topic_2":false}}' }, { mail: "opted_out" }],
  [{ cio_subscription_preferences: '{"topics":{"topic_1":true}}' }, {}],
  [{ subscription_groups: '[{"id":"g","status":"Unsubscribed"}]' }, { mail: "opted_out" }],
  [{ "Is globally ineligible": "true" }, { mail: "opted_out" }],
  [{ "Subscription status: News": "Not opted out" }, {}],
  [{ "Opt out status": "not unsubscribed" }, {}],
  [{ Status: "nicht abgemeldet" }, {}],
  [{ Status: "not subscribed" }, { mail: "opted_out" }],
  [{ Status: "Non-subscribed" }, { mail: "opted_out" }],
  [{ Estado: "No suscrito" }, { mail: "opted_out" }],
  [{ tags: "vip newsletter_opt_out gold" }, { mail: "opted_out" }],
  [{ "Email status - other": "Bounced" }, { mail: "suppressed" }],
  [{ "Email permission status - other": "Awaiting Confirmation" }, { mail: "opted_out" }],
  [{ subscription_status: "canceled", next_charge_date: "" }, {}],
  [{ subscription_status: "canceled" }, { mail: "opted_out" }],
  [{ subscription_status: "unsubscribed", next_charge_date: "" }, { mail: "opted_out" }],
  [{ Plan: "gold", Status: "canceled", "Cancel At Period End": "false" }, {}],
  [{ consent_status: "Not subscribed" }, { mail: "opted_out" }],
])("%j says %j of consent (AMB-132)", (cells, said) => {
  expect(saidBy({ email: "a@example.com", ...(cells as Record<string, string>) })).toEqual({ ...NOTHING, ...said });
});

it("what a row leaves out is a warning (AMB-133)", () => {
  const { warnings, attributes } = rowOf({
    external_id: "u1",
    timezone: "America/Nowhere",
    locale: "Deutsch (DE)",
    consent_status: "subscribed",
    consent_at: "last spring",
  });
  expect(warnings).toEqual([
    "has a time zone that cannot be read",
    "has a locale that cannot be read",
    "has a time of consent that cannot be read",
  ]);
  expect(attributes).toEqual({ imported_consent: "subscribed" });
});

it("the name of a time zone counts before its offset (AMB-133)", () => {
  const { attributes, warnings } = rowOf({ external_id: "u1", timezone: "3600", timezone_id: "Europe/Berlin" });
  expect([attributes.timezone, warnings]).toEqual(["Europe/Berlin", []]);
});

it("OneSignal writes the channel of a subscription in its type, and the address beside it (AMB-132)", () => {
  const cells = { external_id: "u1", onesignal_id: "o1", type: "SMS", token: "+14155550123", notification_types: "-2" };
  const { attributes, consent, choices } = rowOf(cells);
  expect([attributes.phone, consent, choices.sms?.status]).toEqual(["+14155550123", undefined, "opted_out"]);
});

it.each([
  ["İlçe Adı", "ilçe_adı"],
  ["नाम", "नाम"],
])("the column %s is the attribute %s (D-CSV)", (name, key) => {
  expect(Object.keys(rowOf({ external_id: "u1", [name]: "x" }).attributes)).toEqual([key]);
});

it.each(["E-posta", "E-post", "邮箱", "이메일", "Эл. почта"])("%s beside an id is the address (AMB-133)", (name) => {
  expect(rowOf({ external_id: "u1", [name]: "a@example.com" }).email).toBe("a@example.com");
});

it.each([
  ["email", "a@example.com", "opted_out", undefined],
  ["sms", "+14155550123", undefined, "opted_out"],
  ["ios", "token", undefined, undefined],
])("Airship writes a row for each device: an opt-out of %s at %s (AMB-132)", (device_type, address, mail, sms) => {
  const { consent, choices } = rowOf({ named_user_id: "u1", device_type, address, opt_in: "false" });
  expect([consent?.status, choices.sms?.status]).toEqual([mail, sms]);
});

it.each([["opted_in"], ["opted_out"]])(
  "what our own exports say of a channel, %s, is of the number of the person, whatever its attributes are called (AMB-132)",
  (status) => {
    const { choices, numbers } = rowOf({
      ...{ external_id: "u1", phone: "+491511234567", whatsapp_number: "+491519999999" },
      ...{ "consent_status:chat_app": status, "consent_at:chat_app": "2026-03-01T10:00:00Z" },
    });
    expect([choices.chat_app?.status, numbers.chat_app]).toEqual([status, ["+491511234567"]]);
  },
);

it("a number for calls alone is not the one that texts go to, and what its row refuses holds for it (AMB-132)", () => {
  const { attributes, numbers } = rowOf({
    ...{ external_id: "u1", ChannelType: "VOICE", Address: "+4930123456", OptOut: "ALL" },
  });
  expect([attributes.phone, numbers.sms]).toEqual([undefined, ["+4930123456"]]);
});

it("who wants no calls gets no texts, also where the row has an address of mail (AMB-132)", () => {
  const cells = { email: "a@example.com", phone: "+491511234567", Channel: "Voice", unsubscribed: "yes" };
  expect(saidBy(cells)).toEqual({ ...NOTHING, mail: "opted_out", sms: "opted_out" });
});

it.each(["gsm_optin", "GSM izni"])("%s is a consent to SMS, and none to mail (AMB-132)", (name) => {
  const { consent, choices } = rowOf({ email: "a@example.com", gsm: "+905321234567", [name]: "false" });

  expect([consent, choices]).toEqual([undefined, { sms: { status: "opted_out" } }]);
});
