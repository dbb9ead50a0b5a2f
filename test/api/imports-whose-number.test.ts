// Whose number it is that a row of a file opts out or in: of digits without a plus, and of a row with several (AMB-130, AMB-133).
import { describe, expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const importer = importing({ withTenant });

/** A workspace of Germany, and what counts on a channel for a person who comes later with a number. */
async function setting() {
  const all = await importer();
  const { world, tenant, as, run } = all;
  await world.call("PATCH /api/v1/workspace", { as: await as(), body: { region: "DE" } });
  const statusOf = async (phone: string, channel = "sms") => {
    const body = { external_id: `owner of ${phone}`, attributes: { phone } };
    const { id } = (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
    const { items } = (await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).body;
    return items.find((item: { channel: string }) => item.channel === channel)?.status;
  };
  const optOuts = (...numbers: string[]) =>
    run(`email,phone,sms_opt_out\n${numbers.map((number, i) => `p${i}@x.example,${number},yes\n`).join("")}`);
  return { ...all, statusOf, optOuts };
}

describe("digits without a plus", () => {
  it("an opt-out of a number of another country is one of that number, and of no number of the region (AMB-133)", async () => {
    const { optOuts, statusOf } = await setting();
    const { phone_summary } = await optOuts("14155550123", "447911123456");

    expect(phone_summary).toEqual({ kept: 0, converted: 2, unreadable: 0 });
    expect([await statusOf("+14155550123"), await statusOf("+447911123456")]).toEqual(["opted_out", "opted_out"]);
    expect([await statusOf("+4914155550123"), await statusOf("+49447911123456")]).toEqual([undefined, undefined]);
  });

  it("a number that may be of two countries opts out nobody, and the warning says why (AMB-133)", async () => {
    const { world, optOuts, statusOf, consents } = await setting();
    const { phone_summary, warnings_url } = await optOuts("17012345678");

    expect(phone_summary).toEqual({ kept: 0, converted: 0, unreadable: 1 });
    expect([await statusOf("+17012345678"), await statusOf("+4917012345678")]).toEqual([undefined, undefined]);
    const [own] = await consents("p0@x.example");
    expect([own.channel, own.status]).toEqual(["sms", "opted_out"]);
    const link = await world.call(`GET ${new URL(warnings_url).pathname}`);
    const { host, pathname, search } = new URL(String(link.headers.location));
    const { body } = await world.call(`GET ${pathname}${search}`, { headers: { host } });
    expect(body).toContain("which may be of two");
  });

  it("in a file of numbers alone, a row whose number may be of two countries is rejected with that reason (AMB-133)", async () => {
    const { run, members } = await setting();
    const { rejected_sample } = await run("phone,opted out\n17012345678,yes\n+4915112345678,no\n");

    expect(rejected_sample).toEqual([{ line: 2, reason: expect.stringContaining("which may be of two") }]);
    expect((await members()).map(({ external_id }) => external_id)).toEqual(["+4915112345678"]);
  });

  it.each([
    ["international", ["17012345678", "14155550123", "16505550123"], "+17012345678"],
    ["of the region", ["17012345678", "1511234567", "15212345678"], "+4917012345678"],
  ])("what may be of two countries is %s where the rest of its column is (AMB-133)", async (_, numbers, phone) => {
    const { optOuts, statusOf } = await setting();
    const { phone_summary } = await optOuts(...numbers);

    expect(phone_summary).toEqual({ kept: 0, converted: numbers.length, unreadable: 0 });
    expect(await statusOf(phone)).toBe("opted_out");
  });

  it("one foreign number among those of the region changes what none of them is, nor what it is itself (AMB-133)", async () => {
    const { world, as, run, statusOf, optOuts } = await setting();
    const national = Array.from({ length: 40 }, (_, i) => `1511234${500 + i}`);
    await optOuts(...national, "14155550123");
    await world.call("PATCH /api/v1/workspace", { as: await as(), body: { region: "CN" } });
    const chinese = Array.from({ length: 40 }, (_, i) => `138123456${10 + i}`);
    const rows = [...chinese, "447911123456", "13012345678"].map((number) => `${number}@x.example,${number},yes\n`);
    await run(`email,phone,sms_opt_out\n${rows.join("")}`);

    expect(await Promise.all(["+14155550123", "+447911123456", "+8613012345678"].map((one) => statusOf(one)))).toEqual([
      "opted_out",
      "opted_out",
      "opted_out",
    ]);
    expect([await statusOf("+4914155550123"), await statusOf("+13012345678")]).toEqual([undefined, undefined]);
  });

  it.each([
    ["the row", "email,phone,Country,sms_opt_out\na@x.example,17012345678,DE,yes\n", {}],
    ["the form", "email,phone,sms_opt_out\na@x.example,17012345678,yes\n", { phone_region: "DE" }],
  ])("what may be of two countries is of the one that %s names (AMB-133)", async (_, csv, fields) => {
    const { run, statusOf } = await setting();
    await run(csv, fields);

    expect(await statusOf("+4917012345678")).toBe("opted_out");
  });

  it("a file of suppressed numbers is read in the same way (AMB-128, AMB-133)", async () => {
    const { tenant } = await setting();
    const csv = "phone\n14155550123\n17012345678\n";
    const alone = (await tenant.call("POST /api/v1/suppressions/import", { csv: "phone\n17012345678\n" })).body;
    const { suppressed } = (await tenant.call("POST /api/v1/suppressions/import", { csv })).body;

    expect(alone.problems).toEqual([{ line: 2, reason: expect.stringContaining("which may be of two") }]);
    expect(suppressed).toBe(2);
    const { items } = (await tenant.call("GET /api/v1/suppressions")).body;
    expect(items.map(({ address }: { address: string }) => address).sort()).toEqual(["+14155550123", "+17012345678"]);
  });

  it("the rest of a column that is mapped to the phone says what its numbers are (AMB-133)", async () => {
    const { run, statusOf } = await setting();
    const rows = ["17012345678", "14155550123", "16505550123"].map((number, i) => `p${i}@x.example,${number},yes\n`);
    await run(`email,Reachable at,sms_opt_out\n${rows.join("")}`, { mapping: '{"Reachable at":"phone"}' });

    expect(await statusOf("+17012345678")).toBe("opted_out");
  });

  it("a list of suppressed numbers without a header may begin with one that is of two countries (AMB-128, AMB-133)", async () => {
    const { tenant } = await setting();
    const { body } = await tenant.call("POST /api/v1/suppressions/import", { csv: "17012345678\n+4915112345678\n" });

    expect(body).toMatchObject({ suppressed: 1, problems: [{ line: 1 }] });
  });

  it("a suppressed number that may be of two countries is told of beside an address that is suppressed (AMB-128, AMB-133)", async () => {
    const { tenant } = await setting();
    const csv = "email,phone\na@x.example,17012345678\n";
    const { body } = await tenant.call("POST /api/v1/suppressions/import", { csv });

    expect(body).toMatchObject({
      suppressed: 1,
      problems: [{ line: 2, reason: expect.stringContaining("which may be of two") }],
    });
  });

  it.each(["188111222333444", "12345678", "120363043312345678@g.us", "US.13491208655302741918"])(
    "%s in wa_id takes the place of no number (AMB-133)",
    async (id) => {
      const { run, attributes } = await setting();
      await run(`email,Billing Phone,wa_id\na@x.example,0151 1234567,${id}\n`);

      expect((await attributes("a@x.example")).phone).toBe("+491511234567");
    },
  );
});

describe("a row with a number of WhatsApp beside its phone", () => {
  const PHONE = "+4915112345678";
  const CHAT = "+4915199999999";

  it.each(["WhatsApp Number", "wa_id", "WhatsApp"])(
    "an opt-out of WhatsApp holds for the number in %s, and not for the phone (AMB-130, AMB-132)",
    async (name) => {
      const { run, statusOf, attributes } = await setting();
      await run(`email,phone,${name},WhatsApp opt out\na@x.example,${PHONE},${CHAT},yes\n`);

      expect((await attributes("a@x.example")).phone).toBe(PHONE);
      expect(await statusOf(CHAT, "chat_app")).toBe("opted_out");
      expect(await statusOf(PHONE, "chat_app")).toBeUndefined();
    },
  );

  it("an opt-in of WhatsApp is one of that number: the phone of the person has none (AMB-132)", async () => {
    const { run, consents } = await setting();
    const header = "email,phone,WhatsApp Number,WhatsApp opt in,WhatsApp opt in date";
    const { channel_summary } = await run(
      `${header}\na@x.example,${PHONE},${CHAT},yes,2025-01-01\nb@x.example,${CHAT},${CHAT},yes,2025-01-01\n`,
    );

    expect(channel_summary.chat_app).toMatchObject({ opted_in: 1, unknown: 1 });
    expect(await consents("a@x.example")).toEqual([]);
    expect((await consents("b@x.example"))[0]).toMatchObject({ channel: "chat_app", status: "opted_in" });
  });

  it("an opt-in of WhatsApp in a row without a phone is one of the number in the row: it proves nothing of the phone that is stored (AMB-132)", async () => {
    const { run, consents } = await setting();
    await run(`email,phone\na@x.example,${PHONE}\n`);
    await run(`email,WhatsApp,WhatsApp opt in,WhatsApp opt in date\na@x.example,${CHAT},yes,2025-01-01\n`);

    expect(await consents("a@x.example")).toEqual([]);
  });

  it("a day in the column WhatsApp is no number: what the row refuses holds for its phone (AMB-130)", async () => {
    const { run, statusOf } = await setting();
    await run(`email,phone,WhatsApp,WhatsApp opt out\na@x.example,${PHONE},2024-01-15,yes\n`);

    expect(await statusOf(PHONE, "chat_app")).toBe("opted_out");
    expect(await statusOf("+4920240115", "chat_app")).toBeUndefined();
  });

  it("an opt-out of text messages holds for the number in a column of them, also where the row names a person (AMB-130)", async () => {
    const { run, statusOf } = await setting();
    await run(`external_id,phone,SMS Number,SMS opt out\nu1,+493012345678,${PHONE},yes\n`);

    expect([await statusOf(PHONE), await statusOf("+493012345678")]).toEqual(["opted_out", undefined]);
  });

  it("an opt-out holds for each number of a row without such a column (AMB-130)", async () => {
    const { run, statusOf } = await setting();
    await run(`email,phone,mobile phone,SMS opt out\na@x.example,+493012345678,${PHONE},yes\n`);

    expect([await statusOf(PHONE), await statusOf("+493012345678")]).toEqual(["opted_out", "opted_out"]);
  });
});
