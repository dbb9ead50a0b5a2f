// Columns of imports: headers, rows, and the conservative translation of consent (IMP-9 to IMP-12, D-CSV).
import { describe, expect, it } from "vitest";
import { readHeader } from "../../shared/rules/import-columns.ts";
import { readRow } from "../../shared/rules/import-rows.ts";
import { columnsOf, READING, rowOf } from "../support/rows.ts";

const row = (cells: Record<string, string>) => rowOf(cells, { source: "csv" });

describe("header", () => {
  it.each([
    [["name"], "neither an external_id nor an email"],
    [["email", ...Array.from({ length: 101 }, (_, i) => `c${i}`)], "at most 100"],
    [["email", "constructor"], "constructor"],
  ])("the header of an import refuses %j (IMP-9, AMB-88)", (header, why) => {
    const read = readHeader(header, "csv");
    expect(read).toMatchObject({ problem: expect.stringContaining(why) });
  });

  it("the header of an import takes headers in any case and with spaces around (IMP-9)", () => {
    expect(row({ " Email ": "a@b.co", EXTERNAL_ID: "x" })).toMatchObject({ external_id: "x", email: "a@b.co" });
  });
});

it("a file of rejected rows that was mended is read as the file that it came from (IMP-3, F13)", () => {
  const mended = { line: "3", reason: "has a bad email address", email: "a@b.co", city: "Rome" };

  expect(row(mended)).toEqual(row({ email: "a@b.co", city: "Rome" }));
});

it("a column that is called line or reason in another file stays an attribute (IMP-9)", () => {
  expect(row({ email: "a@b.co", line: "3" })).toMatchObject({ attributes: { line: 3 } });
});

describe("standard columns", () => {
  it("the name of a field may stand behind the word for a person, and the plain one comes first (AMB-132)", () => {
    expect(row({ userId: "u1", "traits.email": "a@b.co", "Contact: First name": "Ada" })).toMatchObject({
      email: "a@b.co",
      attributes: { first_name: "Ada" },
    });
    expect(row({ "traits.email": "old@b.co", email: "a@b.co" })).toMatchObject({ email: "a@b.co" });
    expect(row({ "Person - Email - Work": "a@b.co", "Mobile Number (Standard)": "+491511234567" })).toMatchObject({
      email: "a@b.co",
      attributes: { phone: "+491511234567" },
    });
  });

  it("columns of a warehouse, and of several addresses, are found by their names (AMB-133)", () => {
    expect(row({ user_id: "u1", traits_email: "a@b.co", context_traits_phone: "+491511234567" })).toMatchObject({
      email: "a@b.co",
      attributes: { phone: "+491511234567" },
    });
    expect(
      row({ "E-Mail geschäftlich": "", "E-Mail privat": "a@b.co", "Handy privat": "+491511234567" }),
    ).toMatchObject({
      email: "a@b.co",
      attributes: { phone: "+491511234567" },
    });
    expect(row({ "Email Office": "b@b.co", "E-mail address": "a@b.co", "Client ID office": "7" })).toMatchObject({
      external_id: "a@b.co",
      email: "a@b.co",
    });
    expect(row({ "Email 1": "a@b.co", "Email 2": "b@b.co" })).toMatchObject({
      email: "a@b.co",
      attributes: { email_2: "b@b.co" },
    });
  });

  it.each([
    [{ customer_id: "u1", "Billing Email": "a@b.co", "Contact Phone": "+491511234567" }],
    [{ "E-Mail (Pflichtfeld)": "a@b.co", "Telefon (mobil)": "+491511234567" }],
    [
      {
        "Owner Email": "owner@b.co",
        "Member Email": "Ada <a@b.co>",
        "Home Phone": "+491511234567",
        "Phone type": "Home",
      },
    ],
    [{ Kontakt: "a@b.co", Kundentelefon: "+491511234567" }],
  ])("the address and the number in %j are found by what they hold, and names like theirs (AMB-133)", (cells) => {
    expect(row(cells as unknown as Record<string, string>)).toMatchObject({
      email: "a@b.co",
      attributes: { phone: "+491511234567" },
    });
  });

  it("the addresses of others are those of nobody in the file (AMB-133)", () => {
    expect(row({ customer_id: "u1", "Account owner email": "owner@b.co" }).email).toBeUndefined();
    expect(() => row({ Name: "Ada", "Contact owner": "owner@b.co" })).toThrow("neither");
  });

  it("Subscriber is the address where no other column says who somebody is (AMB-133)", () => {
    expect(row({ Subscriber: "a@b.co", Name: "Ada" })).toMatchObject({ email: "a@b.co" });
    expect(row({ external_id: "u1", Subscriber: "no" })).toMatchObject({ consent: { status: "opted_out" } });
  });

  it("an apostrophe that marks a number as a text is no part of a value (AMB-133)", () => {
    expect(row({ "Customer ID": "'6001", zip: "'02101", note: "'t" })).toMatchObject({
      external_id: "6001",
      attributes: { zip: "02101", note: "'t" },
    });
    expect(row({ "Customer ID": "'n Koffie" })).toMatchObject({ external_id: "'n Koffie" });
  });

  it("standard fields, typed extras, tags (IMP-9, IMP-11)", () => {
    const read = row({
      external_id: "u1",
      email: "Ada@Example.com",
      phone: "+49 151 2345-6789",
      first_name: "Ada",
      last_name: "L",
      timezone: "Europe/Berlin",
      locale: "de-DE",
      tags: "vip; beta",
      "Fav Colour": "blue",
      age: "36",
      zip: "01234",
      active: "true",
      empty: "",
      formula: "=1+1",
    });
    expect(read).toEqual({
      choices: {},
      external_id: "u1",
      email: "Ada@Example.com",
      isByAddress: false,
      otherEmails: [],
      attributes: {
        first_name: "Ada",
        last_name: "L",
        phone: "+4915123456789",
        timezone: "Europe/Berlin",
        locale: "de-DE",
        tags: ["vip", "beta"],
        fav_colour: "blue",
        age: 36,
        zip: "01234",
        active: true,
        formula: "=1+1",
      },
      consent: undefined,
      phone: "kept",
      numbers: { sms: ["+4915123456789"], chat_app: ["+4915123456789"] },
      warnings: [],
    });
  });

  it("without an external_id the lower-cased email is it (D-CSV)", () => {
    expect(row({ email: "Ada@Example.com" })).toMatchObject({
      external_id: "ada@example.com",
      email: "Ada@Example.com",
    });
  });

  it("a row without an address in the column that is mapped to it has the one of no other column (AMB-132, AMB-133)", () => {
    const cells = { "Work mail": "", Email: "b@b.co", "Email 2": "c@b.co" };
    expect(() => rowOf(cells, { mapping: { "Work mail": "email" } })).toThrow("neither an external_id nor an email");
  });

  it("a row has the address of a column that is named again as the one that is mapped to it (AMB-132, AMB-133)", () => {
    const columns = columnsOf(["Email", "Email"], "csv", { mapping: { Email: "email" } });
    expect(readRow(columns, ["", "b@b.co"], READING)).toMatchObject({ row: { email: "b@b.co" } });
  });

  it("of two columns with one name the first counts, and the second is kept under another (AMB-133)", () => {
    const columns = columnsOf(["Email", "Status", "status ", "email", ""], "csv", {
      mapping: { Status: "attribute:plan" },
    });
    const read = readRow(columns, ["a@b.co", "gold", "unsubscribed", "b@b.co", "more"], READING);
    expect(read).toMatchObject({
      row: {
        email: "a@b.co",
        attributes: { plan: "gold", status: "unsubscribed", email_2: "b@b.co", column_5: "more" },
        consent: { status: "opted_out" },
      },
    });
  });

  it.each([
    ["a@b.co; c@b.co", "has several email addresses, of which the first is taken"],
    ["a@b.co ::: c@b.co", "has several email addresses, of which the first is taken"],
    ["'a@b.co", undefined],
    ["a@b.co (Ada)", undefined],
  ])("the address in %j is a@b.co (AMB-133)", (email, warning) => {
    expect(row({ email })).toMatchObject({ email: "a@b.co", warnings: warning ? [warning] : [] });
  });

  it.each([
    ["europe_slash_berlin", "Europe/Berlin"],
    ["america_slash_argentina_slash_buenos_aires", "America/Argentina/Buenos_Aires"],
    ["Berlin", "Europe/Berlin"],
    ["Eastern Time (US & Canada)", "America/New_York"],
    ["W. Europe Standard Time", "Europe/Berlin"],
    ["Central Standard Time (Mexico)", "America/Mexico_City"],
    ["(UTC+01:00) Amsterdam, Berlin, Bern", "Europe/Amsterdam"],
    ["(GMT-05:00) Eastern Time (US & Canada)", "America/New_York"],
    ["Europe/Berlin (GMT+1)", "Europe/Berlin"],
    ["UTC+2", "Etc/GMT-2"],
    ["+09:00", "Etc/GMT-9"],
    ["-18000", "Etc/GMT+5"],
    ["GMT+05:30", "Asia/Kolkata"],
    ["UTC+00:00", "UTC"],
  ])("the time zone %s is %s (AMB-133)", (timezone, zone) => {
    expect(row({ email: "a@b.co", timezone })).toMatchObject({ attributes: { timezone: zone }, warnings: [] });
  });

  it.each(["+15", "300", "12345", "-0330", "America/Nowhere", "(x) Berlin"])(
    "%s is no time zone (AMB-133)",
    (timezone) => {
      const warnings = ["has a time zone that cannot be read"];
      expect(row({ email: "a@b.co", timezone })).toMatchObject({ attributes: {}, warnings });
    },
  );

  it.each([
    ["German", "de"],
    ["français", "fr"],
    ["pt_BR", "pt-BR"],
  ])("the language %s is %s (AMB-133)", (locale, tag) => {
    expect(row({ email: "a@b.co", locale })).toMatchObject({ attributes: { locale: tag }, warnings: [] });
  });

  it.each(["\u200bu1@b.co\u00a0", "Ann B <u1@b.co>", "mailto:u1@b.co", "u1@b.co."])(
    "the address in %j is u1@b.co (AMB-132)",
    (email) => {
      expect(row({ external_id: "u1", email })).toMatchObject({ email: "u1@b.co", warnings: [] });
    },
  );

  it.each(["null", "NaN", "None", "N/A", "#N/A", "-"])("%s stands for no id, address or number (AMB-132)", (none) => {
    expect(row({ external_id: none, email: "u1@b.co", phone: none })).toMatchObject({
      external_id: "u1@b.co",
      attributes: {},
    });
    expect(row({ external_id: "u1", email: none })).not.toHaveProperty("email");
  });

  it.each(["491511234567.0", "+491511234567.00", "\u202a+49 151 1234567\u202c"])(
    "the number in %j has no other digits than its own (AMB-133)",
    (phone) => {
      const [read] = [rowOf({ external_id: "u1", phone, country: "DE" }, { source: "csv" })];
      expect(read).toMatchObject({ attributes: { phone: "+491511234567" } });
    },
  );

  it.each([
    [["", ""], "neither"],
    [["u1", "not-an-email"], "bad email"],
    [["u1"], "cells"],
    [["u1", "a@b.co", "more"], "cells"],
    [["x".repeat(513), ""], "512"],
    [["u1", `a@${"b".repeat(5_000)}.co`], "bytes"],
  ])("the reader of rows rejects %j (IMP-3)", (cells, why) => {
    const read = readRow(
      columnsOf(["external_id", "email"]),
      cells.map((cell) => cell.slice(0, 6_000)),
      READING,
    );
    expect(read).toMatchObject({ kind: "problem", problem: expect.stringContaining(why) });
  });
});
