// Logs of events and lists of suppressed addresses: another column says why, or how, a mail came back (AMB-132).
import { describe, expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const consentOf = (cells: Record<string, string>, source: "csv" | "platform_a" = "csv") =>
  rowOf({ Email: "a@example.com", ...cells }, { source }).consent;

const TIME = "2026-03-01T10:00:00Z";

describe("a mail that came back for a while", () => {
  it.each([
    [{ Type: "SoftBounce", TypeCode: "4096", BouncedAt: TIME }, undefined],
    [{ Type: "AutoResponder", TypeCode: "32", BouncedAt: TIME }, undefined],
    [{ Type: "HardBounce", TypeCode: "1", BouncedAt: TIME }, "suppressed"],
    [{ Type: "Unsubscribe", TypeCode: "16", BouncedAt: TIME }, "opted_out"],
    [{ BounceCategory: "Soft bounce", BounceType: "immediate", SMTPCode: "452" }, undefined],
    [{ BounceCategory: "Hard bounce", BounceType: "immediate", SMTPCode: "550" }, "suppressed"],
    [{ event: "bounce", hard_bounce: "false" }, undefined],
    [{ event: "bounce", hard_bounce: "true" }, "suppressed"],
    [{ event: "bounce", reason: "421 try later" }, undefined],
    [{ event: "bounce", reason: "550 no such user" }, "suppressed"],
    [{ eventName: "emailBounce", recipientState: "SoftBounce" }, undefined],
    [{ eventName: "emailBounce", recipientState: "HardBounce" }, "suppressed"],
    [{ "Bounced Hard": "0", "Bounced Soft": "2", "Bounced Date": "2026-03-01" }, undefined],
    [{ "Bounced Hard": "1", "Bounced Soft": "0", "Bounced Date": "2026-03-01" }, "suppressed"],
    [{ "Bounced at": "2026-03-01", "Total spent": "450" }, "suppressed"],
    [{ BounceCategory: "Technical", BounceType: "delayed", SMTPCode: "421" }, undefined],
    [{ BounceCategory: "Technical", BounceType: "immediate", SMTPCode: "550" }, "suppressed"],
    [{ Bounced: "yes", "Bounce reason": "452 mailbox full" }, "suppressed"],
    [{ Status: "Bounced", "Bounced Hard": "0" }, "suppressed"],
  ])("%j means %s (AMB-132)", (cells, status) => {
    expect(consentOf(cells as Record<string, string>)?.status).toBe(status);
  });

  it("takes back no complaint and no opt-out in the same row (AMB-132)", () => {
    expect(consentOf({ event: "bounce", type: "soft", complained: "yes" })?.status).toBe("suppressed");
    expect(consentOf({ event: "bounce", type: "soft", unsubscribed: "yes" })?.status).toBe("opted_out");
  });
});

describe.each(["csv", "platform_a"] as const)("who is suppressed, with source %s", (source) => {
  it.each([
    [{ "Email Suppressions": '["UNSUBSCRIBE"]', "Email Suppressions Timestamp": TIME }],
    [{ "Suppression Reason": "UNSUBSCRIBED", "Suppressed At": TIME }],
    [{ "Global Suppression Reason": "UNSUBSCRIBE", "Global Suppression Timestamp": TIME }],
  ])("has opted out where the reason says nothing else: %j (AMB-132)", (cells) => {
    const at = "2026-03-01T10:00:00.000Z";
    expect(consentOf(cells as Record<string, string>, source)).toMatchObject({ status: "opted_out", at });
  });

  it.each([
    [{ "Email Suppressions": '["HARD_BOUNCE"]', "Email Suppressions Timestamp": TIME }],
    [{ "Email Suppressions": '["UNSUBSCRIBE","SPAM_COMPLAINT"]', "Email Suppressions Timestamp": TIME }],
    [{ "Email Suppressions": "", "Email Suppressions Timestamp": TIME }],
    [{ "Suppressed At": TIME, Status: "unsubscribed" }],
  ])("stays so for any other reason: %j (AMB-132)", (cells) => {
    expect(consentOf(cells as Record<string, string>, source)?.status).toBe("suppressed");
  });
});

it.each([
  [{ unsubSource: "HardBounce" }, "suppressed"],
  [{ unsubSource: "EmailLink" }, "opted_out"],
  [{ dnc: "1", dnc_reason: "Bounced" }, "suppressed"],
  [{ dnc: "1", dnc_reason: "Unsubscribed" }, "opted_out"],
  [{ UNSUB_TIME: TIME, UNSUB_REASON: "ABUSE" }, "suppressed"],
  [{ UNSUB_TIME: TIME, UNSUB_REASON: "NORMAL" }, "opted_out"],
  [{ "Unsubscribe reason": "Spam complaint" }, "suppressed"],
])("a reason of who left says that the mail came back, or was complained of: %j is %s (AMB-132)", (cells, status) => {
  expect(consentOf(cells as Record<string, string>)?.status).toBe(status);
});

it.each([
  ["st_text", "Complaint", "suppressed"],
  ["st_text", "Delivered", undefined],
  ["Reason", "Flagged as spam", "suppressed"],
  ["reason.code", "contactFlaggedAsSpam", "suppressed"],
  ["spammed", "1700000003", "suppressed"],
  ["Marked as junk", "2026-03-01", "suppressed"],
  ["eventName", "emailComplaint", "suppressed"],
  ["eventName", "emailUnSubscribe", "opted_out"],
  ["status_explain", "Rejected by mail server", "suppressed"],
  ["Статус", "Не подтвержден", "opted_out"],
  ["Статус", "Жалоба на спам", "suppressed"],
  ["Статус", "Адрес не существует", "suppressed"],
  ["Статус", "Активный", undefined],
  ["Statut", "Bounce permanent", "suppressed"],
  ["Estado", "Rebote duro", "suppressed"],
  ["EMAIL_DELIVERABILITY_STATUS_", "U", "suppressed"],
  ["EMAIL_DELIVERABILITY_STATUS_", "D", undefined],
  ["Email Status", "Feedback loop", "suppressed"],
  ["Rückläufer", "1", "suppressed"],
  ["Bounced emails", "2", undefined],
  ["Email channel subscription status", "nonSubscribed", "opted_out"],
  ["Newsletter terms", "revoked", "opted_out"],
  ["Newsletter terms", "2026-03-01 10:00:00", undefined],
  ["Stop Time", "2026-03-01 10:00:00", "opted_out"],
  ["Stop Time", "", undefined],
  ["Se dio de baja de todo el correo electrónico", "true", "opted_out"],
  ["Bulk email", "Do Not Allow", "opted_out"],
  ["Contact allowed", "No", "opted_out"],
  ["Reachable by email", "false", "opted_out"],
  ["Erasure requested", "yes", "opted_out"],
  ["Right to be forgotten", "yes", "opted_out"],
  ["Do not sell", "yes", undefined],
  ["Optin partenaires", "non", undefined],
])("%s: %s is %s (AMB-132)", (name, value, status) => {
  expect(consentOf({ [name]: value })?.status).toBe(status);
});

it("an end beside its start is one of a shift, and who was never activated elsewhere gets nothing (AMB-132)", () => {
  expect(consentOf({ "Start Time": TIME, "Stop Time": TIME })).toBeUndefined();
  expect(consentOf({ Aktiviert: "0", Deaktiviert: "" })?.status).toBe("opted_out");
  expect(consentOf({ Aktiviert: "0" })).toBeUndefined();
});

it("the recipient of a log is the address of its person, and that of a list of presents is not (AMB-133)", () => {
  const cells = { customer_id: "u1", recipient: "a@example.com" };
  expect(rowOf({ ...cells, bounced: "1700000001" }).email).toBe("a@example.com");
  expect(rowOf({ ...cells, present: "roses" }).email).toBeUndefined();
});

describe("a log of text messages", () => {
  const messageOf = (cells: Record<string, string>) => {
    const { external_id, attributes, consent, choices } = rowOf({
      From: "+491511111111",
      To: "+4930123456",
      Body: "STOP",
      Direction: "inbound",
      Status: "received",
      ErrorCode: "",
      ...cells,
    });
    return [external_id, attributes.phone, consent?.status, choices.sms?.status, choices.chat_app?.status];
  };
  const [ADA, US] = ["+491511111111", "+4930123456"];
  const outbound = { From: US, To: ADA, Direction: "outbound-api" };

  it.each([
    [{}, "opted_out", undefined],
    [{ Body: "Stop." }, "opted_out", undefined],
    [{ Body: "Arrêt" }, "opted_out", undefined],
    [{ Body: "When do you stop work?" }, undefined, undefined],
    [{ From: `whatsapp:${ADA}`, To: `whatsapp:${US}` }, undefined, "opted_out"],
    [{ ...outbound, ErrorCode: "21610" }, "opted_out", undefined],
    [{ ...outbound, ErrorCode: "30003" }, undefined, undefined],
    [{ ...outbound, Status: "canceled" }, undefined, undefined],
  ])("is of whoever is not the sender of the messages, and %j says %s of SMS (AMB-132)", (cells, sms, chat) => {
    expect(messageOf(cells as Record<string, string>)).toEqual([ADA, ADA, undefined, sms, chat]);
  });

  it.each([
    { direction: "mo", originator: "491511111111", recipient: "4930123456", body: "stop" },
    { direction: "inbound", from: "491511111111", to: "4930123456", message_body: "STOP" },
  ])("is read as others write it: %j (AMB-132)", (cells) => {
    const { external_id, choices } = rowOf(cells as Record<string, string>);
    expect([external_id, choices.sms?.status]).toEqual([ADA, "opted_out"]);
  });

  it.each([
    [{ From: ADA, To: US, Body: "Stop" }, ADA, "opted_out"],
    [{ From: ADA, To: US, Body: "STOP", OptOutType: "STOP" }, ADA, "opted_out"],
    [{ From: ADA, To: US, Body: "leave me alone", OptOutType: "STOP" }, ADA, "opted_out"],
    [{ From: US, To: ADA, Body: "Reply STOP to leave" }, ADA, undefined],
    [{ From: US, To: ADA, OptOutType: "" }, ADA, undefined],
  ])(
    "without a direction, %j is of %s and says %s of SMS: our own number has not opted out (AMB-132)",
    (cells, who, sms) => {
      const { external_id, choices } = rowOf(cells as Record<string, string>);
      expect([external_id, choices.sms?.status]).toEqual([who, sms]);
    },
  );

  it.each([
    [{ phone: ADA, message: "STOP" }, "opted_out"],
    [{ phone: ADA, "Last reply": "stop." }, "opted_out"],
    [{ phone: ADA, message: "end" }, undefined],
    [{ phone: ADA, message: "When do you stop work?" }, undefined],
    [{ message: "STOP" }, undefined],
  ])("what somebody wrote is an opt-out of SMS in any file: %j says %s (AMB-132)", (cells, sms) => {
    const { choices } = rowOf({ email: "a@example.com", ...cells } as Record<string, string>);
    expect(choices.sms?.status).toBe(sms);
  });
});

it.each([
  [{ phone: "+491511111111", message: "STOP" }, [undefined, "opted_out", undefined]],
  [{ phone: "+491511111111", channel: "WhatsApp", message: "STOP" }, [undefined, undefined, "opted_out"]],
  [{ "WhatsApp number": "+491511111111", message: "STOP" }, [undefined, undefined, "opted_out"]],
  [{ phone: "+491511111111", channel: "email", message: "unsubscribe" }, ["opted_out", undefined, undefined]],
  [{ "Last reply": "Unsubscribe" }, ["opted_out", undefined, undefined]],
  [{ message: "please don't stop" }, [undefined, undefined, undefined]],
  [{ phone: "+491511111111", message: "Bus stop" }, [undefined, undefined, undefined]],
])("what somebody wrote is an opt-out of the channel that the row is of: %j (AMB-132)", (cells, said) => {
  const { consent, choices } = rowOf({ email: "a@example.com", ...cells } as Record<string, string>);
  expect([consent?.status, choices.sms?.status, choices.chat_app?.status]).toEqual(said);
});

it("a sender that is no number is not the phone of whoever wrote STOP (AMB-132, AMB-133)", () => {
  const ada = { email: "a@example.com", phone: "+491511111111" };
  for (const From of ["Website", "2026-03-01", "Ada <ada@example.com>"]) {
    const { attributes, numbers } = rowOf({ ...ada, From, To: "Support", Message: "STOP" });
    expect([attributes.phone, numbers.sms]).toEqual([ada.phone, [ada.phone]]);
  }
});

it("columns from and to without a message hold no numbers (AMB-133)", () => {
  expect(() => rowOf({ company: "Acme", from: "Berlin", to: "Paris" })).toThrow("the columns hold neither");
});

it("a reason that speaks of abuse or of spam and is no complaint suppresses nobody (AMB-132)", () => {
  for (const reason of ["No abuse", "Not a spam complaint", "Campaign: Spam week", "Too many mails"])
    expect(consentOf({ "Unsubscribe reason": reason })?.status).not.toBe("suppressed");
});

it("a column Email of who may be written to, beside the address, is no address (AMB-132)", () => {
  const rowWith = (Email: string) =>
    rowOf({ "Email Address": "a@example.com", Email, "Bulk Email": "Allow", Phone: "Do Not Allow" });
  expect(rowWith("Do Not Allow")).toMatchObject({ email: "a@example.com", consent: { status: "opted_out" } });
  expect(rowWith("Allow")).toMatchObject({ email: "a@example.com", consent: { status: "unknown" } });
});

describe("a mail that came to us and asks to leave", () => {
  const of = (cells: Record<string, string>) => {
    const { external_id, email, otherEmails, consent, choices } = rowOf(cells);
    return { external_id, email, otherEmails, status: consent?.status, choices };
  };
  const sent = { external_id: "a@x.example", email: "a@x.example", otherEmails: [], status: "opted_out", choices: {} };

  it.each([
    [{ From: "Ada <a@x.example>", To: "us@x.example", Body: "STOP" }],
    [{ "From: (Address)": "a@x.example", "To: (Address)": "us@x.example", Subject: "Unsubscribe", Body: "Please." }],
    [{ "Von: (Adresse)": "a@x.example", "An: (Adresse)": "us@x.example", Betreff: "Abmelden" }],
    [{ Direction: "inbound", From: "a@x.example", To: "us@x.example", Text: "stop" }],
  ])("%j is an opt-out of its sender, and not of ours (AMB-132)", (cells) => {
    expect(of(cells as unknown as Record<string, string>)).toEqual(sent);
  });

  it("is one of the address of its row too, where another column has that (AMB-132)", () => {
    expect(of({ email: "b@x.example", from: "a@x.example", to: "us@x.example", subject: "stop" })).toMatchObject({
      email: "b@x.example",
      otherEmails: ["a@x.example"],
      status: "opted_out",
    });
  });

  it("is of who got it, where we wrote (AMB-132)", () => {
    expect(of({ from: "us@x.example", to: "a@x.example", subject: "News", status: "bounced" })).toMatchObject({
      email: "a@x.example",
      status: "suppressed",
    });
  });
});

it.each([
  [{ "Suppression Reason": "UNSUBSCRIBE", Timestamp: TIME }, "opted_out", TIME],
  [{ Reason: "HARD_BOUNCE", Date: TIME }, "suppressed", TIME],
  [{ event: "unsubscribe", timestamp: TIME, plan: "pro", city: "Rome" }, "opted_out", TIME],
  [{ "Unsubscribe reason": "too many", Date: TIME, plan: "pro", city: "Rome" }, "opted_out", undefined],
  [{ event: "unsubscribe", date: "2026-03-01", time: "14:30" }, "opted_out", undefined],
])("of a file of those who left, or of events, the one time is when they did: %j (AMB-132)", (cells, status, at) => {
  expect(consentOf(cells as unknown as Record<string, string>)).toMatchObject({ status });
  expect(consentOf(cells as unknown as Record<string, string>)?.at).toBe(at && new Date(at).toISOString());
});

it("a keyword of STOP is an opt-out of SMS, and another one says nothing (AMB-132)", () => {
  const choicesOf = (keyword: string) => rowOf({ msisdn: "491511234567", keyword }).choices;

  expect([choicesOf("STOP"), choicesOf("INFO")]).toEqual([{ sms: { status: "opted_out" } }, {}]);
});

it("who allows no broadcasts has opted out of WhatsApp (AMB-132)", () => {
  expect(rowOf({ Phone: "+491511234567", AllowBroadcast: "FALSE" }).choices).toEqual({
    chat_app: { status: "opted_out" },
  });
});

it.each([
  [{ phone: "+491511111111", Subject: "Stop" }, ["opted_out", "opted_out"]],
  [{ From: "a@example.com", To: "us@x.example", Subject: "Cancel" }, [undefined, undefined]],
  [{ Direction: "inbound", From: "a@example.com", To: "us@x.example", Subject: "Cancel" }, [undefined, undefined]],
  [{ Subject: "STOP!", Delivered: "1" }, [undefined, undefined]],
])("a subject asks to leave by a word for that alone, whatever the row has beside it: %j (AMB-132)", (cells, said) => {
  const { consent, choices } = rowOf({ email: "a@example.com", ...cells } as Record<string, string>);
  expect([consent?.status, choices.sms?.status]).toEqual(said);
});

it("columns De, A and Direction without a message are of no log: the row says what its status says (AMB-132, AMB-133)", () => {
  const { attributes, consent } = rowOf({
    email: "a@example.com",
    De: "Paris",
    A: "Lyon",
    Direction: "Sud",
    Statut: "Désabonné",
  });
  expect([attributes.phone, consent?.status]).toEqual([undefined, "opted_out"]);
});
