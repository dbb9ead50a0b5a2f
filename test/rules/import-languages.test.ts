// Words for a no of statuses, reasons and tags that platforms write in their own languages (AMB-132).
import { describe, expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const said = (cells: Record<string, string>) => rowOf({ email: "a@b.co", ...cells }).consent?.status;

describe("a status says the same in a column of no particular thing and in one of mail", () => {
  it.each([
    ..."Отписан|Отписался|Не подтвержден|Заблокирован|已退订|未订阅|黑名單|수신거부|구독취소|配信停止|Odhlášen|Afmeldt|Avmeldt|Peruutettu"
      .split("|")
      .map((word) => [word, "opted_out"]),
    ..."Abonelikten çıktı|On Hold Opt Out|DNC|No email|Bloqué".split("|").map((word) => [word, "opted_out"]),
    ..."Недоступен|Жалоба на спам|退信|投诉|반송|不達|Beschwerde|Plainte|Reclamo|Queja|Klacht|Skarga|Rebond|bouncing|previous bounce"
      .split("|")
      .map((word) => [word, "suppressed"]),
    ..."bad email|Email invalid|Reported Spam|Abuse complaint|On Hold Bounce"
      .split("|")
      .map((word) => [word, "suppressed"]),
    ..."Cancelado|Annulée|Storniert|Annullato|Opgezegd|Anulowano|expired|Scaduto|Verlopen|paused|Suspendu|nicht aktiv|niet actief"
      .split("|")
      .map((word) => [word, "opted_out"]),
    ..."Cancelled subscription|Canceled by user|Former subscriber|Transactional only|unerwünscht|RET|הוסר|غير مشترك"
      .split("|")
      .map((word) => [word, "opted_out"]),
  ])("%s is %s (AMB-132)", (word, status) => {
    expect([said({ Status: word }), said({ "Email subscription status": word })]).toEqual([status, status]);
  });
});

it.each([
  ["Tags", "已退订", "opted_out"],
  ["E-posta İzni", "Ret", "opted_out"],
  ["إلغاء الاشتراك", "نعم", "opted_out"],
  ["الاشتراك في النشرة البريدية", "لا", "opted_out"],
  ["הוסר מרשימת תפוצה", "כן", "opted_out"],
  ["אישור דיוור", "לא", "opted_out"],
  ["Löschantrag", "2024-05-05", "opted_out"],
  ["Mailing-Sperre", "x", "opted_out"],
  ["Newsletter bis", "2024-05-05", "opted_out"],
  ["Statut", "Rejeté", "opted_out"],
  ["Rejet définitif", "Oui", "suppressed"],
  ["OXEMAILFAILED", "1", "suppressed"],
  ["Demande de suppression", "oui", "opted_out"],
  ["Consenso marketing e profilazione", "NO", "opted_out"],
  ["Newsletter-Profiling Einwilligung", "nein", "opted_out"],
  ["Acepta perfilado y publicidad", "no", "opted_out"],
  ["Email offers", "no", "opted_out"],
  ["İzin Durumu", "RET", "opted_out"],
  ["Tags", "수신거부", "opted_out"],
  ["Tags", "vip,no-email", "opted_out"],
  ["On Hold", "On Hold Opt Out", "opted_out"],
  ["On Hold", "On Hold Bounce", "suppressed"],
  ["email1_is_bad", "true", "suppressed"],
  ["removal reason", "bounce", "suppressed"],
  ["removal reason", "unsubscribed by user", "opted_out"],
  ["Removed on", "2024-01-02", "opted_out"],
  ["Deceased", "Yes", "opted_out"],
  ["non_transactional", "true", "opted_out"],
])("%s: %s is %s (AMB-132)", (name, value, status) => {
  expect(said({ [name]: value })).toBe(status);
});

it("an address that Mailgun keeps back came back before (AMB-132)", () => {
  expect(said({ code: "605", error: "Not delivering to previously bounced address" })).toBe("suppressed");
});

it.each([
  ["Status", "Активен"],
  ["Customer status", "Suspended"],
  ["Email status", "Bounced (soft)"],
  ["Status", "Bounce - soft"],
  ["Consenso profilazione", "NO"],
  ["Type", "RET"],
  ["Email offers", "yes"],
  ["Email Office", "a.b@b.co"],
  ["Newsletter bis", "31.12.9999"],
  ["Marketing source failed", "x"],
  ["Status", "已订阅"],
  ["Status", "No complaints"],
  ["On Hold", "No"],
  ["Deceased", "No"],
  ["email1_is_bad", "false"],
  ["Tags", "email,marketing"],
])("%s: %s says no nothing (AMB-132)", (name, value) => {
  expect(said({ [name]: value }) ?? "unknown").toBe("unknown");
});

it.each([{ enabled: "0" }, { disabled: "1" }])(
  "who is switched off in a list of phpList or AcyMailing gets nothing: %j (AMB-132)",
  (cells) => {
    expect(said({ confirmed: "1", ...cells })).toBe("opted_out");
    expect(said(cells)).toBeUndefined();
  },
);

it.each(["Cancelled by customer", "Cancelled subscription", "RET"])(
  "a payment is what %s is said of beside the columns of payments (AMB-132)",
  (status) => {
    expect(said({ Status: status, "Next billing date": "2026-08-01" })).toBeUndefined();
  },
);

it.each([
  ["Unconfirmed", true],
  ["Unconfirmed subscriber", true],
  ["Not activated", true],
  ["Not active", undefined],
  ["Pendiente de baja", undefined],
  ["En attente de désinscription", undefined],
  ["Pendente de cancelamento", undefined],
])("who asked to leave, or was switched off, is none who never confirmed: %s (AMB-132)", (status, isPending) => {
  expect(rowOf({ email: "a@b.co", Status: status }).consent).toMatchObject({ status: "opted_out" });
  expect(rowOf({ email: "a@b.co", Status: status }).consent?.isPending).toBe(isPending);
});

it("a yes to profiling, with a time, is none to mail (AMB-132)", () => {
  expect(said({ "Consenso profilazione marketing": "SI", "Data consenso": "2024-03-01" })).toBeUndefined();
});

it("a number is of the country that a column names in its own language (AMB-133)", () => {
  expect(
    rowOf({ 手机: "13812345678", 邮箱: "a@b.co", 国家: "中国" }, { reading: { region: "DE" } }).attributes.phone,
  ).toBe("+8613812345678");
});

it.each([
  ["مشترك", "١", "unknown"],
  ["مشترك", "٠", "opted_out"],
  ["Newsletter", "０", "opted_out"],
])("%s with the digit %s of another script is %s (AMB-132)", (name, value, status) => {
  expect(rowOf({ email: "a@example.com", [name]: value }).consent?.status).toBe(status);
});

it.each([
  { "E-POSTA İZNİ": "EVET", "İZİN TARİHİ": "01.03.2026" },
  { "E-posta izni": "Evet", "Onay tarihi": "01.03.2026" },
])("the Turkish date of a permission proves its yes: %j (AMB-132)", (cells) => {
  expect(rowOf({ email: "a@example.com", ...cells }).consent).toMatchObject({
    status: "opted_in",
    at: "2026-03-01T00:00:00.000Z",
  });
});

it.each([
  ["موافق على الرسائل", "لا", "opted_out"],
  ["موافق على الرسائل", "غير موافق", "opted_out"],
  ["موافق على الرسائل", "نعم", "unknown"],
  ["استقبال العروض", "لا", "opted_out"],
])("%s with %s is %s (AMB-132)", (name, value, status) => {
  expect(said({ [name]: value })).toBe(status);
});

it.each(["Permission date", "Date d'abonnement"])("%s proves the yes beside it (AMB-132)", (name) => {
  expect(said({ Newsletter: "yes", [name]: "2026-03-01" })).toBe("opted_in");
  expect(said({ [name]: "2026-03-01" })).toBeUndefined();
});

it.each([
  "nur Transaktionsmails",
  "Nur Servicemails",
  "uniquement transactionnel",
  "solo transaccional",
  "auf keinen Fall",
  "DSGVO gelöscht",
])("%s is no yes to a newsletter (AMB-132)", (value) => {
  expect(said({ Newsletter: value })).toBe("opted_out");
});
