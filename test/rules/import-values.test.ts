// Values, times, phone numbers and usual names in files (AMB-133).
import { describe, expect, it } from "vitest";
import { dateOrderOf, readTime } from "../../shared/rules/import-times.ts";
import { cellValue, columnTypes, tagsOf, tagsValue } from "../../shared/rules/import-values.ts";
import { columnsOf, rowOf } from "../support/rows.ts";

describe("columns", () => {
  it.each([
    [["E-Mail"], ["email"]],
    [
      ["Email Address", "External ID"],
      ["email", "external_id"],
    ],
    [
      ["USER-ID", "MobilePhone"],
      ["external_id", "phone"],
    ],
    [
      ["Customer ID", "E-mail", "First name"],
      ["external_id", "email", "first_name"],
    ],
    [
      ["id", "cio_id", "email"],
      ["external_id", undefined, "email"],
    ],
    [
      ["id", "email"],
      [undefined, "email"],
    ],
    [
      ["CONTACT ID", "EMAIL", "LASTNAME", "SMS"],
      [undefined, "email", "last_name", "phone"],
    ],
    [
      ["Subscriber Key", "EmailAddress", "Preferred language"],
      ["external_id", "email", "locale"],
    ],
    [
      ["Record ID", "Email", "Mobile Phone Number", "Phone Number"],
      [undefined, "email", "phone", undefined],
    ],
    [
      ["user_id", "external_id"],
      [undefined, "external_id"],
    ],
    [
      ["E-Mail-Adresse", "Vorname", "Nachname"],
      ["email", "first_name", "last_name"],
    ],
    [
      ["email", "Opt-in Time"],
      ["email", "consent_at"],
    ],
  ])("%j are known by their names in any writing (AMB-133)", (header, fields) => {
    expect(columnsOf(header).cells.map(({ standard }) => standard)).toEqual(fields);
  });
});

describe("values", () => {
  it.each([
    [["true", "False", "YES", ""], "boolean"],
    [["true", "1"], "answers"],
    [["ja", "N"], "answers"],
    [["0", "1"], "binary"],
    [["ja", "2"], "text"],
    [["1", "2.5", "-3"], "number"],
    [["260.10", "88.10"], "number"],
    [["a@b.co", "Ada <a@c.co>", ""], "address"],
    [["a@b.co", "Ada <B@B.co>", ""], "one_domain"],
    [["a@gmail.com", "b@gmail.com"], "address"],
    [["a@gmail.com", "a@gmail.com"], "same_private"],
    [["a@b.co", "nobody"], "text"],
    [["1.10", "1.9"], "text"],
    [["01234", "1"], "text"],
    [["1e5"], "text"],
    [["12345678901234567890"], "text"],
    [["3.10", "TRUE"], "text"],
    [["-5", "=1+1"], "text"],
    [["+5"], "text"],
    [["", ""], "empty"],
    [["5", "NULL", "\\N"], "number"],
    [["true", "N/A", "-"], "boolean"],
    [["NULL", "NULL"], "empty"],
  ])("a column of %j is of type %s (AMB-133)", (cells, type) => {
    const seen = columnTypes();
    for (const cell of cells) seen.see([cell]);
    expect(seen.types()).toEqual([type]);
  });

  it.each([
    [["WAHR", "falsch"], ",", "boolean"],
    [["PRAWDA", "FAŁSZ"], ";", "boolean"],
    [["12,50", "1.234,50"], ";", "local_number"],
    [["12,5", "7", "1\u202f234"], ";", "local_number"],
    [["1,10", "1,9"], ";", "text"],
    [["1,234", "2,500"], ";", "text"],
    [["38,40", "42,44"], ",", "text"],
    [["1,234.50", "20.00"], ",", "local_number"],
    [["1,234", "20"], ",", "text"],
    [["1'234.50", "88.10"], ";", "local_number"],
    [["1.234.567", "12.345.678"], ";", "text"],
    [["1.234", "999"], ";", "text"],
    [["1.234", "2.345"], "\t", "text"],
    [["1.234", "0.125"], ";", "number"],
    [["1.234", "999"], ",", "number"],
    [["1.234", "12,5"], ";", "local_number"],
  ])("a column of %j in a file divided by %s is of type %s (AMB-133)", (cells, delimiter, type) => {
    const seen = columnTypes(delimiter);
    for (const cell of cells) seen.see([cell]);
    expect(seen.types()).toEqual([type]);
  });

  it("numbers as people write them are numbers (AMB-133)", () => {
    const written = ["1.234,50", "12,5", "1\u00a0234", "-7", "1,234.50", "-12.345.678,9"];
    expect(written.map((text) => cellValue(text, "local_number"))).toEqual([
      1234.5, 12.5, 1234, -7, 1234.5, -12_345_678.9,
    ]);
  });

  it.each([
    ['{"id":12345678901234567890}', "a number beyond 2^53"],
    ['[{"score":0.12345678901234567}]', "a number with more decimals than are stored"],
  ])("JSON stays the text %s, which has %s (AMB-133)", (text) => {
    expect(cellValue(text, "text")).toBe(text);
  });

  it("JSON whose numbers keep their digits becomes what it says, also beside long texts of digits (AMB-133)", () => {
    const text = '{"id":"12345678901234567890","n":9007199254740991,"v":-1.50}';
    expect(cellValue(text, "text")).toEqual({ id: "12345678901234567890", n: 9007199254740991, v: -1.5 });
  });

  it.each<[string, unknown]>([
    ['[{"name":"vip"},"new"]', [{ name: "vip" }, "new"]],
    ['{"plan":"pro"}', { plan: "pro" }],
    ['["a"," b, c "]', ["a", "b, c"]],
    ["[1, 12345678901234567890]", "[1, 12345678901234567890]"],
    ["[urgent], later", ["[urgent]", "later"]],
  ])("a column of tags with %s keeps what it says (AMB-133)", (text, value) => {
    expect(tagsValue(text)).toEqual(value);
  });

  it("JSON becomes what it says (AMB-133)", () => {
    expect(cellValue('{"a":[1]}', "text")).toEqual({ a: [1] });
    expect(cellValue("[1,", "text")).toBe("[1,");
    expect(cellValue('{"__proto__":1}', "text")).toBe('{"__proto__":1}');
  });

  it.each([
    ["vip; beta", ["vip", "beta"]],
    ['"a, b","c"', ["a, b", "c"]],
    ['"say ""hi""" | x', ['say "hi"', "x"]],
    ['["a,b","c"]', ["a,b", "c"]],
    ["it's, fine", ["it's", "fine"]],
    [" , ;", []],
  ])("the tags of %s (AMB-133)", (text, tags) => {
    expect(tagsOf(text)).toEqual(tags);
  });

  it("a domain gets its form in ASCII, and other letters before the @ are a warning (AMB-133)", () => {
    expect(rowOf({ email: "info@müller.example" })).toMatchObject({
      email: "info@xn--mller-kva.example",
      warnings: [],
    });
    const odd = rowOf({ email: "jörg@müller.example" });
    expect(odd.email).toBe("jörg@xn--mller-kva.example");
    expect(odd.warnings).toEqual(["has an email address that is not supported"]);
  });
});

describe("times", () => {
  const berlin = { zone: "Europe/Berlin" };
  it.each([
    ["2024-03-04T05:06:07Z", "2024-03-04T05:06:07.000Z"],
    ["2024-03-04 05:06:07+00:00", "2024-03-04T05:06:07.000Z"],
    ["2024-03-04 05:06:07 UTC", "2024-03-04T05:06:07.000Z"],
    ["2024-03-04 05:06:07 +0200", "2024-03-04T03:06:07.000Z"],
    ["2024-03-04 05:06:07 +0530", "2024-03-03T23:36:07.000Z"],
    ["2024-03-04 05:06:07-03:30", "2024-03-04T08:36:07.000Z"],
    ["2024-03-04 05:06:07.123", "2024-03-04T04:06:07.000Z"],
    ["2024-07-04 05:06", "2024-07-04T03:06:00.000Z"],
    ["2024-03-04", "2024-03-03T23:00:00.000Z"],
    ["2024/3/4", "2024-03-03T23:00:00.000Z"],
    ["13/04/2024", "2024-04-12T22:00:00.000Z"],
    ["04/13/2024 5:06 PM", "2024-04-13T15:06:00.000Z"],
    ["31.03.2024 02:30", "2024-03-31T01:00:00.000Z"],
    ["04.05.2023", "2023-05-03T22:00:00.000Z"],
    ["04.05.2023 10:11 Uhr", "2023-05-04T08:11:00.000Z"],
    ["2024年3月4日", "2024-03-03T23:00:00.000Z"],
    ["04.05.23", undefined],
    ["04.05.2023 um 10:11 Uhr", "2023-05-04T08:11:00.000Z"],
    ["4. Mai 2023", "2023-05-03T22:00:00.000Z"],
    ["4 de mayo de 2023", "2023-05-03T22:00:00.000Z"],
    ["12 sierpnia 2023", "2023-08-11T22:00:00.000Z"],
    ["20230504", "2023-05-03T22:00:00.000Z"],
    ["20230504101112", "2023-05-04T08:11:12.000Z"],
    ["May 4, 2023 at 10:11 AM", "2023-05-04T08:11:00.000Z"],
    ["04 mai 2023 à 10h11", "2023-05-04T08:11:00.000Z"],
    ["2023-05-04 10.11.12", "2023-05-04T08:11:12.000Z"],
    ["2023-05-04 10:11:12 CEST", "2023-05-04T08:11:12.000Z"],
    ["2023-05-04 10:11 p. m.", "2023-05-04T20:11:00.000Z"],
    ["20230504T101112Z", "2023-05-04T10:11:12.000Z"],
    ["2023-05-04 10:11:12 America/New_York", "2023-05-04T14:11:12.000Z"],
    ["2023-05-04T10:11:12+02:00[Europe/Berlin]", "2023-05-04T08:11:12.000Z"],
    ["0001-01-01T00:00:00", undefined],
    ["1970-01-01 00:00:00", undefined],
    ["Mon, 04 Mar 2024 05:06:07 +0000", "2024-03-04T05:06:07.000Z"],
    ["Mon Mar 04 2024 05:06:07 GMT+0100 (Central European Standard Time)", "2024-03-04T04:06:07.000Z"],
    ["2024-03-04 05:06:07 +0000 UTC", "2024-03-04T05:06:07.000Z"],
    ["2024-03-04 05:06:07.123456+00", "2024-03-04T05:06:07.000Z"],
    ["03/04/24", undefined],
    ["March 4, 2024 5:06 PM", "2024-03-04T16:06:00.000Z"],
    ["4 Foo 2024", undefined],
    ["04-Mar-24", "2024-03-03T23:00:00.000Z"],
    ["4-MAR-24 05.06.07 PM", "2024-03-04T16:06:07.000Z"],
    ["45355", "2024-03-03T23:00:00.000Z"],
    ["45355.5", "2024-03-04T11:00:00.000Z"],
    ["45355,25", "2024-03-04T05:00:00.000Z"],
    ["12345", undefined],
    ["99999", undefined],
    ["1609459200", "2021-01-01T00:00:00.000Z"],
    ["1609459200000", "2021-01-01T00:00:00.000Z"],
    ["1er mars 2024", "2024-02-29T23:00:00.000Z"],
    ["March 4th, 2024 5:06 PM", "2024-03-04T16:06:00.000Z"],
    ["1º de março de 2024", "2024-02-29T23:00:00.000Z"],
    ["Monday, March 4, 2024", "2024-03-03T23:00:00.000Z"],
    ["2024-03-04 05:06:07,123", "2024-03-04T04:06:07.000Z"],
    ["٢٠٢٤-٠٣-٠٤ ٠٥:٠٦", "2024-03-04T04:06:00.000Z"],
    ["۲۰۲۴/۰۳/۰۴", "2024-03-03T23:00:00.000Z"],
    ["13/03/2024 05:06:07 م", "2024-03-13T16:06:07.000Z"],
    ["13/03/2024 05:06:07 ص", "2024-03-13T04:06:07.000Z"],
    ["2024/3/4 下午5:06:07", "2024-03-04T16:06:07.000Z"],
    ["2024-03-04 오전 5:06", "2024-03-04T04:06:00.000Z"],
    ["\u200E13\u200E/\u200E03\u200E/\u200E2024", "2024-03-12T23:00:00.000Z"],
    ["2024. 03. 04.", "2024-03-03T23:00:00.000Z"],
    ["2024. 3. 4. 5:06", "2024-03-04T04:06:00.000Z"],
    ["2024년 3월 4일", "2024-03-03T23:00:00.000Z"],
    ["03/04/2024", undefined],
    ["2024-02-30", undefined],
    ["25:00", undefined],
    ["yesterday", undefined],
    ["5", undefined],
  ])("%s in Berlin is %s (AMB-133)", (text, expected) => {
    const at = readTime(text, berlin);
    expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(expected);
  });

  it("a date format says which of two readings is meant (AMB-133)", () => {
    const day = (order: "dmy" | "mdy") => new Date(readTime("03/04/2024", { zone: "UTC", order }) ?? 0).toISOString();
    expect([day("dmy"), day("mdy")]).toEqual(["2024-04-03T00:00:00.000Z", "2024-03-04T00:00:00.000Z"]);
    const short = (text: string) => new Date(readTime(text, { zone: "UTC", order: "dmy" }) ?? 0).toISOString();
    expect(["03.04.24", "03.04.24 05:06"].map(short)).toEqual(["2024-04-03T00:00:00.000Z", "2024-04-03T05:06:00.000Z"]);
    expect(
      ["dd/mm/yyyy", "MM-DD-YYYY", "dd/mm", "YYYY-MM-DD", "mdy", "d.m.yyyy", "dd/dd", "x"].map(dateOrderOf),
    ).toEqual(["dmy", "mdy", "dmy", "ymd", "mdy", "dmy", undefined, undefined]);
  });
});

it.each(["1704164645", "1704164645.0", "1704164645000", "1704164645000000"])(
  "%s is an instant in seconds, or in thousandths or millionths of them (AMB-133)",
  (text) => {
    expect(readTime(text, { zone: "UTC" })).toBe(Date.parse("2024-01-02T03:04:05Z"));
  },
);
