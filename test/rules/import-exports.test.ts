// Exports of other systems as they are, in the languages of the service (AMB-132, AMB-133).
import { describe, expect, it } from "vitest";
import { rowOf } from "../support/rows.ts";

const attributesOf = (cells: Record<string, string>) => rowOf({ email: "a@example.com", ...cells }).attributes;
const consentOf = (cells: Record<string, string>) => rowOf({ email: "a@example.com", ...cells }).consent;

it.each([
  ["Tel. mobil", "0151 1234567"],
  ["Mobilfunknummer", "0151 1234567"],
  ["Nr tel.", "0151 1234567"],
  ["Telefon kom.", "0151 1234567"],
  ["channels.sms.address", "0151 1234567"],
  ["Teléfono de contacto", "0151 1234567"],
  ["mobile_e164", "+491511234567"],
])("%s is the phone (AMB-133)", (name, number) => {
  expect(attributesOf({ [name]: number, Land: "Deutschland" }).phone).toBe("+491511234567");
});

it.each(["Land/Region", "Pays/Région", "País/Región", "Paese/Regione", "Kraj/region", "Ländercode"])(
  "%s is the country of the numbers (AMB-133)",
  (name) => {
    expect(attributesOf({ Telefon: "0664 1234567", [name]: "AT" }).phone).toBe("+436641234567");
  },
);

it.each(["Idioma", "Lingua", "Taal", "Język", "Langue préférée"])("%s is the language (AMB-133)", (name) => {
  expect(attributesOf({ [name]: "pl" }).locale).toBe("pl");
});

it.each(["ID do cliente", "Kd.-Nr.", "Código do cliente", "Klantnr.", "Nr klienta", "Code client", "ID de usuario"])(
  "%s is the external id (AMB-133)",
  (name) => {
    expect(rowOf({ email: "a@example.com", [name]: "C7" }).external_id).toBe("C7");
  },
);

it.each([
  [{ Vorname: "Ada", Name: "Byron" }, "Byron"],
  [{ Vorname: "Ada", Name: "Ada Byron", Nachname: "Byron" }, "Byron"],
  [{ "First name": "Ada", Name: "Ada Byron" }, undefined],
])("%j: the last name is %s (AMB-133)", (cells, name) => {
  expect(attributesOf(cells as Record<string, string>).last_name).toBe(name);
});

describe("a column in which nothing stands", () => {
  it.each(["traits_email", "Billing Email"])("leaves its field to %s (AMB-133)", (name) => {
    expect(rowOf({ user_id: "u1", email: "", [name]: "a@example.com" }).email).toBe("a@example.com");
  });

  it("keeps its field where no other column is for it (AMB-133)", () => {
    expect(rowOf({ user_id: "u1", email: "" })).toMatchObject({ external_id: "u1", warnings: [] });
  });
});

describe("what stands for no value", () => {
  it.each(["NULL", "N/A", "-", "\\N", "#NV"])("%s is no name, zone or language (AMB-133)", (none) => {
    const row = rowOf({ email: "a@example.com", first_name: none, timezone: none, locale: none });
    expect([row.attributes.first_name, row.warnings]).toEqual([undefined, []]);
  });

  it.each(["Null", "Nil", "Nan"])("%s is a name (IMP-9)", (name) => {
    expect(attributesOf({ first_name: name }).first_name).toBe(name);
  });
});

describe("the time of a yes", () => {
  it.each(["Opt-in Time", "Subscribed at", "Consent date", "Einwilligungsdatum"])(
    "in %s is not that of what takes it back (AMB-132)",
    (name) => {
      const time = { [name]: "2026-03-01" };
      expect(consentOf({ "Email Marketing Status": "unsubscribed", ...time })).toEqual({ status: "opted_out" });
      expect(consentOf({ "Email Marketing Status": "cleaned", ...time })).toEqual({ status: "suppressed" });
      expect(consentOf({ "Email Marketing Status": "subscribed", ...time })?.status).toBe("opted_in");
    },
  );

  it.each(["consent_at", "Email Marketing Consent Timestamp"])("in %s is that of the status (D-CSV)", (name) => {
    const said = consentOf({ "Email Marketing Consent": "unsubscribed", [name]: "2026-03-01" });
    expect(said).toMatchObject({ status: "opted_out", at: "2026-03-01T00:00:00.000Z" });
  });

  it.each([
    "Date d'inscription à la newsletter",
    "Fecha de suscripción al boletín",
    "Data de inscrição na newsletter",
    "Data de subscrição",
    "Datum inschrijving voor nieuwsbrief",
    "Data zapisu do newslettera",
    "Data wyrażenia zgody",
  ])("%s has the words between (AMB-132)", (name) => {
    const said = consentOf({ Newsletter: "1", [name]: "2026-03-01" });
    expect(said).toMatchObject({ status: "opted_in", at: "2026-03-01T00:00:00.000Z" });
  });

  it("is a proof alone as Airship writes it (AMB-132)", () => {
    expect(consentOf({ commercial_opted_in: "2026-03-01T10:00:00" })).toMatchObject({
      status: "opted_in",
      at: "2026-03-01T10:00:00.000Z",
    });
  });
});

it.each([
  ["Statut", "Exclu", "opted_out"],
  ["Status", "Ausgeschlossen", "opted_out"],
  ["Email status", "nonSubscribed", "opted_out"],
  ["Marketingkontakt-Status", "Kein Marketingkontakt", "opted_out"],
  ["Fecha de suscripción", "2026-03-01", undefined],
  ["data_de_subscricao", "2026-03-01", undefined],
  ["FechaDeSuscripcion", "2026-03-01", undefined],
  ["Fecha desuscripción", "2026-03-01", "opted_out"],
  ["Désuscrit", "1", "opted_out"],
  ["No suscrito", "sí", "opted_out"],
  ["No acepta publicidad", "1", "opted_out"],
  ["Non iscritto", "1", "opted_out"],
  ["No suscrito", "no", undefined],
  ["Cancellation date", "2026-03-01", undefined],
  ["Widerrufsfrist", "2026-03-01", undefined],
  ["Data cancellazione", "2026-03-01", "opted_out"],
  ["Allow mailings", "0", "opted_out"],
  ["unsubscribe_risk", "0.9", undefined],
  ["Opt-out probability", "1", undefined],
  ["active_subscription", "false", undefined],
])("%s: %s is %s (AMB-132)", (name, value, status) => {
  expect(consentOf({ [name]: value })?.status).toBe(status);
});

it("Ometria's word for an opt-in is one, with its time (AMB-132)", () => {
  const said = consentOf({ marketing_optin: "EXPLICITLY_OPTEDIN", timestamp_subscribed: "2026-03-01T10:00:00Z" });
  expect(said).toMatchObject({ status: "opted_in", at: "2026-03-01T10:00:00.000Z" });
});

it("a block of houses is none of the person (AMB-132)", () => {
  expect(consentOf({ Calle: "Mayor", Bloque: "3B", Piso: "2" })).toBeUndefined();
  expect(consentOf({ Bloqué: "oui" })?.status).toBe("opted_out");
});

it.each([
  ["Communication preferences", "email:false;sms:true", "opted_out", undefined],
  ["Marketing preferences", "Email: Yes, SMS: No", undefined, "opted_out"],
  ["Contact preferences", "Newsletter=unsubscribed|SMS=subscribed", "opted_out", undefined],
  ["Consent time", "2026-03-01 10:11", "opted_in", undefined],
])("%s: of pairs, %s refuses what a no stands beside (AMB-132)", (name, value, mail, sms) => {
  const { consent, choices } = rowOf({ email: "a@example.com", [name]: value });
  expect([consent?.status, choices.sms?.status]).toEqual([mail, sms]);
});

it.each([
  ["1", undefined],
  ["2", "opted_out"],
  ["0", "opted_out"],
])("the status %s of ActiveCampaign is %s (AMB-132)", (Status, status) => {
  const cells = { email: "a@example.com", Status, "Bounced Hard": "0", "Bounced Soft": "1" };
  expect(rowOf(cells).consent?.status).toBe(status);
  expect(rowOf({ email: "a@example.com", Status }).consent).toBeUndefined();
});

it.each(["opt-in", "Re-opt-in", "Double opted in"])(
  "a status %s is a yes, and one to mail where its time is known (AMB-132)",
  (Status) => {
    expect(rowOf({ email: "a@example.com", Status }).consent).toMatchObject({ doubt: "yes_without_time" });
    expect(rowOf({ email: "a@example.com", Status, date_of_consent: "2026-03-01" }).consent?.status).toBe("opted_in");
    expect(rowOf({ phone: "+14155552671", Status }).consent).toBeUndefined();
  },
);
