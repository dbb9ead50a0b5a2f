// Files as other platforms and spreadsheets write them: what their people, consents and values become (AMB-131 to AMB-133).
import { describe, expect, it } from "vitest";
import { importing, people } from "../support/imports.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const importer = importing({ withTenant });

/** A workspace of Berlin. */
async function setting() {
  const found = await importer();
  const { world, as } = found;
  const body = { timezone: "Europe/Berlin", region: "DE" };
  expect((await world.call("PATCH /api/v1/workspace", { as: await as(), body })).body).toMatchObject(body);
  const mail = async (external_id: string) => {
    const [newest] = (await found.consents(external_id)).filter(
      ({ channel }: { channel: string }) => channel === "email",
    );
    return newest && [newest.status, newest.consented_at];
  };
  return { ...found, mail };
}

const SHEET = [
  ["external_id", "email", "first_name", "consent_status", "consent_at"],
  ["x1", "x1@example.com", "Zoë", "subscribed", "2026-03-01"],
  ["x2", "x2@example.com", "Ünal", "unsubscribed", ""],
];

describe("exports of platforms", () => {
  it("a list without a header is refused, and loses nobody as the names of its columns (AMB-133)", async () => {
    const { run } = await setting();
    const { status, error_message } = await run("Ann,a1@example.com,Subscribed\nBob,b1@example.com,Unsubscribed\n");
    expect([status, error_message]).toEqual(["failed", expect.stringContaining("neither an external_id nor an email")]);
  });

  it.each([
    ["columns", ["email", ...Array.from({ length: 1_000 }, (_, n) => `opt out ${n}`)], "1001 columns; at most 1000"],
    [
      "bytes",
      ["email", ...Array.from({ length: 90 }, (_, n) => `${n}${"x".repeat(6_000)}`)],
      "bytes as JSON; at most 65536",
    ],
  ])(
    "a header of too many %s ends its import, and does not come back to the worker again and again (IMP-4)",
    async (_, header, excess) => {
      const { run } = await setting();

      const { status, error_message } = await run(
        `${header.join(",")}\na1@example.com${",x".repeat(header.length - 1)}\n`,
      );

      expect([status, error_message]).toEqual(["failed", expect.stringContaining(excess)]);
    },
  );

  it.each([
    ["Subscribers on 1 May;;\n;;\nE-Mail;Abgemeldet;\nt1@example.com;ja;\nt2@example.com;nein;\n", 2],
    ["Subscribers\nof all lists\n\nemail,opt_out\nt1@example.com,yes\nt2@example.com,no\n", 2],
    ["Subscribers\nemail\nt1@example.com\n", 1],
    ["Kontakte\nt1@example.com\n", 1],
    ["Kontakte;Ort\nt1@example.com;Bonn\n", 1],
    ["Billing Email,City\nt1@example.com,Bonn\n", 1],
  ])(
    "%j: titles above the header are no rows, and addresses are found by what a column holds (AMB-133)",
    async (text, rows) => {
      const { run, members, mail } = await setting();
      expect(await run(text)).toMatchObject({
        status: "completed",
        processed_rows: rows,
        total_rows: rows,
        failed_rows: 0,
      });
      expect(await members()).toHaveLength(rows);
      if (rows === 2) expect((await mail("t1@example.com"))?.[0]).toBe("opted_out");
    },
  );

  it("a file may be divided by bars (AMB-133)", async () => {
    const { run, mail } = await setting();
    const done = await run("email|opt_out|name\np1@example.com|yes|A, B\np2@example.com|no|C\n");

    expect(done).toMatchObject({ status: "completed", failed_rows: 0, encoding: "utf-8" });
    expect((await mail("p1@example.com"))?.[0]).toBe("opted_out");
    expect(await mail("p2@example.com")).toBeUndefined();
  });

  it("Klaviyo: a suppression by UNSUBSCRIBE is an opt-out, by HARD_BOUNCE a suppression (AMB-132)", async () => {
    const { run, mail, attributes } = await setting();
    const done = await run(
      "Email,External ID,Zip Code,Email Marketing Consent,Email Marketing Consent Timestamp,Email Suppressions,SMS Marketing Consent\n" +
        "k1@example.com,ext1,02101,SUBSCRIBED,2024-03-04 05:06:07+00:00,[],SUBSCRIBED\n" +
        "k2@example.com,,,SUBSCRIBED,,,\n" +
        'k3@example.com,,,UNSUBSCRIBED,2024-03-04 05:06:07+00:00,"[""UNSUBSCRIBE""]",\n' +
        'k4@example.com,,,NEVER_SUBSCRIBED,,"[""HARD_BOUNCE""]",\n',
      { source: "platform_a" },
    );
    const counted = { opted_in: 1, opted_out: 1, suppressed: 1, unknown: 1, yes_without_time: 1 };

    expect(done.consent_summary).toMatchObject(counted);
    expect(await mail("ext1")).toEqual(["opted_in", "2024-03-04T05:06:07.000Z"]);
    expect(await mail("k2@example.com")).toBeUndefined();
    expect((await mail("k3@example.com"))?.[0]).toBe("opted_out");
    expect((await mail("k4@example.com"))?.[0]).toBe("suppressed");
    expect((await attributes("ext1")).zip_code).toBe("02101");
  });

  it("Mailchimp: the source given for the file is that of its consents, else it is `import` (AMB-133)", async () => {
    const { run, consents } = await setting();
    const file = (name: string) => `Email Address,CONFIRM_TIME\n${name}@example.com,2026-01-02 10:00:00\n`;
    await run(file("m1"), { source: "platform_b", consent_source: "checkout" });
    await run(file("m2"), { source: "platform_b" });

    expect((await consents("m1@example.com"))[0].source).toBe("checkout");
    expect((await consents("m2@example.com"))[0].source).toBe("import");
  });

  const SHOP =
    "Customer ID,E-mail,First name,Country,Newsletter consent,Total spent,Phone\n" +
    "C1,leon@example.com,Leon,CH,yes,211.68,044 668 18 00\nC2,not-an-email,Ella,AT,yes,92.65,\n" +
    "C3,hannes@example.com,Hannes,DE,no,260.10,+491510000015\n";

  it("a shop: the time and source given for the file make its yes an opt-in (AMB-132, AMB-133)", async () => {
    const { run, mail, attributes, consents } = await setting();
    const without = await run(SHOP, { dry_run: "true" });
    expect(without.consent_summary).toMatchObject({ unknown: 1, yes_without_time: 1, opted_out: 1 });
    const done = await run(SHOP, { consent_at: "2026-01-02", consent_source: "checkout" });
    expect(done).toMatchObject({ failed_rows: 1, consent_summary: { opted_in: 1, opted_out: 1, yes_without_time: 0 } });
    expect(await mail("C1")).toEqual(["opted_in", "2026-01-01T23:00:00.000Z"]);
    expect((await consents("C1"))[0].source).toBe("checkout");
    expect((await mail("C3"))?.[0]).toBe("opted_out");
    expect(await attributes("C1")).toMatchObject({ total_spent: 211.68, phone: "+41446681800", country: "CH" });
    expect((await attributes("C3")).total_spent).toBe(260.1);
  });
});

describe("spreadsheets", () => {
  it("Windows-1252 is detected where UTF-8 fails, and a date is the start of its day in the zone (AMB-133)", async () => {
    const { run, mail, attributes } = await setting();
    const csv = SHEET.map((row) => row.join(",")).join("\r\n");
    const bytes = Buffer.from(csv.replace("Zoë", "Zoë \x80uro \x93q\x94"), "latin1");
    const done = await run(bytes);

    expect(done).toMatchObject({ status: "completed", encoding: "windows-1252", failed_rows: 0 });
    expect((await attributes("x1")).first_name).toBe("Zoë €uro “q”");
    expect((await attributes("x2")).first_name).toBe("Ünal");
    expect(await mail("x1")).toEqual(["opted_in", "2026-02-28T23:00:00.000Z"]);
    expect((await mail("x2"))?.[0]).toBe("opted_out");
  });

  it("a file in UTF-16 with a byte order mark and tabs is read (AMB-133)", async () => {
    const { run, attributes } = await setting();
    const text = `\uFEFF${SHEET.map((row) => row.join("\t")).join("\r\n")}\r\n`;
    const done = await run(Buffer.from(text, "utf16le"));
    expect(done).toMatchObject({ status: "completed", encoding: "utf-16le", total_rows: 2, failed_rows: 0 });
    expect((await attributes("x1")).first_name).toBe("Zoë");
    const turned = await run(Buffer.from(text, "utf16le").swap16(), { dry_run: "true" });
    expect(turned.encoding).toBe("utf-16be");
    expect(turned.total_rows).toBe(2);
  });

  it("Windows-1250 is detected by its letters, and what it says no to is heard (AMB-132, AMB-133)", async () => {
    const { run, mail, attributes } = await setting();
    const polish: Record<string, number> = { Ł: 0xa3, ł: 0xb3, ę: 0xea };
    const text =
      "E-mail;Imię;Zgoda na newsletter;Wypisany\np1@example.com;Łukasz;FAŁSZ;FAŁSZ\np2@example.com;Ola;;FAŁSZ\n";
    const done = await run(Buffer.from([...text].map((one) => polish[one] ?? one.charCodeAt(0))));

    expect(done).toMatchObject({ status: "completed", encoding: "windows-1250", failed_rows: 0 });
    expect((await mail("p1@example.com"))?.[0]).toBe("opted_out");
    expect(await mail("p2@example.com")).toBeUndefined();
    expect(await attributes("p1@example.com")).toMatchObject({ first_name: "Łukasz", wypisany: false });
  });

  it("the encoding of the form counts (AMB-133)", async () => {
    const { run, attributes } = await setting();
    const done = await run(Buffer.from("external_id,first_name\nx1,Zoë\n"), { encoding: "windows-1252" });

    expect(done.encoding).toBe("windows-1252");
    expect((await attributes("x1")).first_name).toBe("ZoÃ«");
  });

  it("a file in UTF-16 is read on after an interruption (AMB-133, IMP-2)", async () => {
    const { post, list, job, members, cutOff } = await setting();
    const content = Buffer.from(`\uFEFF${people(250).replaceAll("example", "exämple")}`, "utf16le");
    const { body } = await post({ listId: list }, { filename: "a.csv", content });
    await cutOff();

    expect(await job(body.import_job_id)).toMatchObject({ status: "completed", processed_rows: 250, failed_rows: 0 });
    expect(new Set((await members()).map(({ external_id }) => external_id)).size).toBe(250);
  });

  it("a sep= line is no row, and empty cells at the end of a row are no fault (AMB-133)", async () => {
    const { run, members } = await setting();
    const done = await run(
      "sep=;\nexternal_id;email\nx1;x1@example.com;\nx2;x2@example.com;;;\nx3;x3@example.com;;more\n",
    );

    expect(done.total_rows).toBe(3);
    expect(done.failed_rows).toBe(1);
    expect(done.rejected_sample).toEqual([{ line: 5, reason: "has 4 cells, the header 2" }]);
    expect((await members()).map(({ external_id }) => external_id).sort()).toEqual(["x1", "x2"]);
  });

  it("a row with too many cells does not decide the type of a column (AMB-133)", async () => {
    const { run, attributes } = await setting();
    await run("external_id,score,plan\nx1,true,gold,more\nx2,2.5,free\n");

    expect(await attributes("x2")).toEqual({ score: 2.5, plan: "free" });
  });

  it("types need the whole column, and phone numbers are counted (AMB-133)", async () => {
    const { world, run, attributes } = await setting();
    const done = await run(
      'external_id,phone,zip,big,neg,exp,vip,data\np1,+49 151 1234567,01234,12345678901234567890,-5,1e5,TRUE,"{""a"":1}"\n' +
        "p2,0151/1234567,00501,3.10,=1+1,@cmd,no,\np3,4.91511E+11,,TRUE,,,,\n",
    );
    expect(done.phone_summary).toEqual({ kept: 1, converted: 1, unreadable: 1 });
    expect(await attributes("p1")).toEqual({
      phone: "+491511234567",
      zip: "01234",
      big: "12345678901234567890",
      neg: "-5",
      exp: "1e5",
      vip: true,
      data: { a: 1 },
    });
    expect(await attributes("p2")).toMatchObject({ phone: "+491511234567", big: "3.10", vip: false });
    expect((await attributes("p3")).phone).toBe("4.91511E+11");
    const link = await world.call(`GET ${new URL(done.warnings_url).pathname}`);
    const { host, pathname, search } = new URL(String(link.headers.location));
    const { body } = await world.call(`GET ${pathname}${search}`, { headers: { host } });
    expect(body.split("\r\n").slice(0, 2)).toEqual([
      "line,reason,external_id,phone,zip,big,neg,exp,vip,data",
      "4,has a phone number that cannot be read,p3,4.91511E+11,,TRUE,,,,",
    ]);
    expect(done.rejected_rows_url).toBeUndefined();
  });
});

describe("consent", () => {
  it("an import never lifts a suppression or an opt-out (AMB-128)", async () => {
    const { run, mail } = await setting();
    await run("email,Bounced,Unsubscribed\na@example.com,true,\nb@example.com,,true\n");
    const yes = "subscribed,2030-01-01\n";
    const again = await run(`email,consent_status,consent_at\na@example.com,${yes}b@example.com,${yes}`);
    expect(again.consent_summary).toMatchObject({ opted_in: 0, unknown: 2, future: 2 });
    const past = "subscribed,2020-01-01\n";
    const older = await run(`email,consent_status,consent_at\na@example.com,${past}b@example.com,${past}`);
    expect(older.consent_summary).toMatchObject({ opted_in: 0, unchanged: 2 });
    const out = await run("email,consent_status\na@example.com,no\n");
    expect(out.consent_summary).toMatchObject({ opted_out: 1 });
    expect((await mail("a@example.com"))?.[0]).toBe("suppressed");
    expect((await mail("b@example.com"))?.[0]).toBe("opted_out");
  });

  it("an opt-out in a row that names an address alone holds for whoever has the address (AMB-130, AMB-132)", async () => {
    const { run, mail } = await setting();
    await run("external_id,email\nu1,Shared@example.com\n");
    await run("Email,Unsubscribed\nshared@example.com,true\n");

    expect((await mail("u1"))?.[0]).toBe("opted_out");
  });

  it("who is not to be contacted has opted out of each channel (AMB-132)", async () => {
    const { run, consents } = await setting();
    await run("external_id,Do Not Contact,Mobile Opt Out,OptOut\nx1,true,,\nx2,,yes,NONE\nx3,,,ALL\n");
    const said = async (id: string) =>
      (await consents(id)).map(({ channel }: { channel: string }) => channel).toSorted();
    const each = ["chat_app", "email", "sms"];

    expect(await said("x1")).toEqual(each);
    expect(await said("x2")).toEqual(["sms"]);
    expect(await said("x3")).toEqual(each);
  });
});

it.each([
  ["time_zone", "Berlin"],
  ["date_format", "dd/dd/yyyy"],
  ["phone_region", "Germany"],
  ["phone_region", "XX"],
  ["encoding", "ebcdic"],
  ["consent_at", "lately"],
  ["consent_at", "2999-01-01"],
])("a %s of %s is 422 naming it (AMB-133)", async (name, value) => {
  const { post, list } = await importer();
  const answer = await post({ listId: list, [name]: value }, { filename: "a.csv", content: people(1) });

  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.fields)).toEqual([name]);
});

it("the phone region UK is the United Kingdom (AMB-133)", async () => {
  const { run, attributes } = await importer();
  const { phone_summary } = await run("external_id,phone\nu1,07911 123456\n", { phone_region: "UK" });

  expect(phone_summary).toEqual({ kept: 0, converted: 1, unreadable: 0 });
  expect((await attributes("u1")).phone).toBe("+447911123456");
});
