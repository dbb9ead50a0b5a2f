// Phone numbers as cells of files write them (AMB-133).
import { describe, expect, it } from "vitest";
import { readPhone } from "../../shared/rules/import-phones.ts";
import { regionOf } from "../../shared/rules/import-places.ts";
import { rowOf } from "../support/rows.ts";

describe("phone numbers", () => {
  it.each([
    ["+49 151 1234567", "DE", "kept +491511234567"],
    ["0151/1234567", "DE", "converted +491511234567"],
    ["0049 151 1234567", undefined, "converted +491511234567"],
    ["+49 (0)151 1234567", "DE", "converted +491511234567"],
    ["0049 (0) 151 1234567", undefined, "converted +491511234567"],
    ["(415) 555-2671", "US", "converted +14155552671"],
    ["'+491511234567", undefined, "kept +491511234567"],
    ["tel:+49-151-1234567", "DE", "kept +491511234567"],
    ["491511234567", "DE", "converted +491511234567"],
    ["491511234567,0", "DE", "converted +491511234567"],
    ["491511234567.00", "DE", "converted +491511234567"],
    ["3912345678", "IT", "converted +393912345678"],
    ["0151/1234567", undefined, "unreadable undefined"],
    ["4.91511E+11", "DE", "unreadable undefined"],
    ["4.91511234567E+11", "DE", "converted +491511234567"],
    ["4,91511234567E+11", "DE", "converted +491511234567"],
    ["4.9151123456E+11", "DE", "unreadable undefined"],
    ["call me", "DE", "unreadable undefined"],
    ["+49-(0)-151-1234567", "DE", "converted +491511234567"],
    ["＋49 151 1234567", "DE", "kept +491511234567"],
    ["p:+491511234567", "DE", "converted +491511234567"],
    ["+49 151 1234567 (mobil)", "DE", "converted +491511234567"],
    ["0151 1234567 / 030 123456", "DE", "converted +491511234567"],
    ["0151 1234567; 0151 1234568", "DE", "converted +491511234567"],
    ["0151 1234567 ::: 030 1234", "DE", "converted +491511234567"],
    ["=+491511234567", "DE", "kept +491511234567"],
    ["tel. 0151 1234567", "DE", "converted +491511234567"],
    ["+0049 151 1234567", "DE", "converted +491511234567"],
    ["14155550123", "FR", "converted +14155550123"],
    ["14155550123", undefined, "converted +14155550123"],
    ["15212345678", "DE", "converted +4915212345678"],
    ["13812345678", "CN", "converted +8613812345678"],
    ["14155550123", "DE", "converted +14155550123"],
    ["447911123456", "DE", "converted +447911123456"],
    ["33612345678", "DE", "converted +33612345678"],
    ["41791234567", "DE", "converted +41791234567"],
    ["919812345678", "AT", "converted +919812345678"],
    ["905321234567", "DE", "converted +905321234567"],
    ["17012345678", "CN", "converted +8617012345678"],
    ["55991234567", "BR", "converted +5555991234567"],
    ["5511912345679", "BR", "converted +5511912345679"],
    ["81234567890", "ID", "converted +6281234567890"],
    ["46701234567", "SE", "converted +46701234567"],
    ["1511234567", "DE", "converted +491511234567"],
    ["7911123456", "GB", "converted +447911123456"],
    ["17012345678", "DE", "unreadable undefined"],
    ["16012345678", "DE", "unreadable undefined"],
    ["4520123456", "DE", "unreadable undefined"],
    ["447700900123", "DE", "unreadable undefined"],
    ["(555) 010-1234", "DE", "unreadable undefined"],
    ["415-555-0123", "FR", "unreadable undefined"],
  ])("%s of %s is %s (AMB-133)", (text, region, expected) => {
    const read = readPhone(text, { region });
    expect(`${read.kind} ${"phone" in read ? read.phone : undefined}`).toBe(expected);
  });

  it("the region is that of the form, else of the row, else of the workspace (AMB-133)", () => {
    const phone = (cells: Record<string, string>, phoneRegion?: string) =>
      rowOf({ external_id: "x", Phone: "044 668 18 00", ...cells }, { reading: { phoneRegion, region: "DE" } })
        .attributes.phone;
    expect([phone({ Country: "Schweiz" }), phone({ Country: "CH" }, "DE"), phone({})]).toEqual([
      "+41446681800",
      "+49446681800",
      "+49446681800",
    ]);
    expect(["AUT", "Schweiz (CH)", "GB-ENG", "The Netherlands", "+1", "49", "276"].map(regionOf)).toEqual([
      ...["AT", "CH", "GB", "NL", "US", "DE", undefined],
    ]);
    expect(["us", "United States", "UK", "Deutschland", "Espagne", "Atlantis", ""].map(regionOf)).toEqual([
      "US",
      "US",
      "GB",
      "DE",
      "ES",
      undefined,
      undefined,
    ]);
  });

  it.each([
    [{ id: "u1", cio_id: "c1", phone: "14155550123" }, "+14155550123"],
    [{ id: "u1", cio_id: "c1", phone: "447911123456" }, "+447911123456"],
    [{ id: "u1", cio_id: "c1", phone: "1511234567" }, "+491511234567"],
    [{ email: "a@b.co", msisdn: "15035556789" }, "+15035556789"],
    [{ email: "a@b.co", "Phone Number": "(617) 555-0123", CC: "US" }, "+16175550123"],
    [
      { email: "a@b.co", Telephone: "079 123 45 67", "Home Country/Region": "Switzerland", CC: "b@b.co" },
      "+41791234567",
    ],
    [{ email: "a@b.co", Phone: "415 555 2671", "Country Code": "+1" }, "+14155552671"],
    [{ email: "a@b.co", Phone: "0664 1234567", Land: "A" }, "+436641234567"],
    [{ email: "a@b.co", Phone: "0664 1234567", Land: "Atlantis" }, "0664 1234567"],
    [{ email: "a@b.co", Phone: "+436641234567", Land: "Atlantis" }, "+436641234567"],
    [{ email: "a@b.co", Natel: "+41 79 123 45 67" }, "+41791234567"],
    [{ email: "a@b.co", 携帯電話: "090-1234-5678", 国: "JP" }, "+819012345678"],
    [{ email: "a@b.co", Phone: "+49301234567", MobilePhone: "+491511234567" }, "+491511234567"],
    [
      { email: "a@b.co", "Person - Phone - Work": "+49301234567", "Person - Phone - Mobile": "+491511234567" },
      "+491511234567",
    ],
    [{ email: "a@b.co", Telefon: "+49301234567", "Telefon (mobil)": "+491511234567" }, "+491511234567"],
    [{ email: "a@b.co", phone: "+491511234567", mobile: "+491511234568" }, "+491511234567"],
  ])("the number of %j is %s (AMB-133)", (cells, phone) => {
    expect(rowOf(cells as Record<string, string>, { reading: { region: "DE" } }).attributes.phone).toBe(phone);
  });

  it("another column with a number stands in where the first is empty or cannot be read (AMB-133)", () => {
    const row = (cells: Record<string, string>) => rowOf({ email: "a@b.co", ...cells }, { reading: { region: "DE" } });
    const both = row({ "Default Address Phone": "+41791234569", Phone: "" });
    expect([both.attributes.phone, both.attributes.default_address_phone]).toEqual(["+41791234569", "+41791234569"]);
    expect(row({ Telephone: "0151 1234567", Mobile: "ask her" })).toMatchObject({
      attributes: { phone: "+491511234567" },
      phone: "converted",
    });
    expect(row({ SMS: "491511234567", Phone: "" }).attributes.phone).toBe("+491511234567");
  });

  it.each(["moe_unsubscribe", "MSG-sms"])("beside %s a long number has the code of its country (AMB-133)", (name) => {
    const { attributes } = rowOf(
      { email: "a@b.co", Phone: "919812345678", [name]: "false" },
      { reading: { region: "DE" } },
    );
    expect(attributes.phone).toBe("+919812345678");
  });

  it("a column that writes no plus gets one, and what cannot be read stays (AMB-133)", () => {
    expect(rowOf({ email: "a@b.co", SMS: "491511234567" }).attributes.phone).toBe("+491511234567");
    const odd = rowOf({ email: "a@b.co", phone: "4.91511E+11" });
    expect([odd.attributes.phone, odd.phone, odd.warnings]).toEqual([
      "4.91511E+11",
      "unreadable",
      ["has a phone number that cannot be read"],
    ]);
  });
});
