// Files of phone numbers alone, as platforms for text messages export them (AMB-132, AMB-133).
import { describe, expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

const ADA = "+14155550123";
const BOB = "+14155550124";

async function trying() {
  const all = await setting();
  const statusesOf = async (external_id: string) =>
    (await all.consents(encodeURIComponent(external_id))).map(
      ({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`,
    );
  const names = async () => (await all.members()).map(({ external_id }) => external_id).sort();
  return { ...all, statusesOf, names };
}

describe("a file of numbers alone", () => {
  it.each([
    ["EZ Texting", "Phone Number,First Name,Opted Out\n4155550123,Ada,\n(415) 555-0124,Bob,Yes\n"],
    [
      "SlickText",
      "Number,Name,Subscribed Date,Opt Out Date\n14155550123,Ada,2024-03-04,\n14155550124,Bob,,2024-03-05\n",
    ],
    ["Attentive", "phone,status\n+14155550123,ACTIVE\n+14155550124,OPTED_OUT\n"],
    ["Twilio", "PhoneNumber,OptOutType\n+14155550123,\n+14155550124,STOP\n"],
    ["Postscript", "phone_number,unsubscribed_at\n+14155550123,\n+14155550124,2024-03-05T00:00:00Z\n"],
    ["any name for it", "Who,Unsubscribed\n+14155550123,no\n+14155550124,yes\n"],
  ])("%s: each number is the id of its person, and no opt-out is lost (AMB-132)", async (_, content) => {
    const { run, names, statusesOf, attributes } = await trying();
    const { status, failed_rows } = await run(content, { phone_region: "US" });

    expect([status, failed_rows]).toEqual(["completed", 0]);
    expect(await names()).toEqual([ADA, BOB]);
    expect((await attributes(encodeURIComponent(ADA))).phone).toBe(ADA);
    expect(await statusesOf(ADA)).toEqual([]);
    expect(await statusesOf(BOB)).toContain("sms opted_out");
  });

  it("a yes with its time is one to SMS, and none to mail (AMB-132)", async () => {
    const { run, statusesOf } = await trying();
    await run(`phone,subscribed,consent_at\n${ADA},yes,2024-03-04\n${BOB},yes,\n`);

    expect([await statusesOf(ADA), await statusesOf(BOB)]).toEqual([["sms opted_in"], []]);
  });

  it("a row whose number nobody can read is rejected with its reason (IMP-3)", async () => {
    const { run, names } = await trying();
    const { rejected_sample } = await run(`phone,name\n${ADA},Ada\n1.4155E+10,Bob\n,Eve\n`);

    expect(await names()).toEqual([ADA]);
    const reason = "has no phone number that can be read";
    expect(rejected_sample).toEqual([
      { line: 3, reason },
      { line: 4, reason },
    ]);
  });
});

describe("a number that opted out", () => {
  const agrees = `external_id,phone,SMS consent,SMS consent timestamp\nu1,${ADA},yes,2025-01-01\n`;

  it.each([
    ["before the file", `phone,unsubscribed_at\n${ADA},2024-03-05\n`, agrees],
    [
      "in an earlier row",
      "",
      `external_id,phone,SMS consent,SMS consent timestamp,email\n,${ADA},no,,a@x.example\nu1,${ADA},yes,2025-01-01,\n`,
    ],
    [
      "in an earlier row, of somebody whose own row before has it,",
      "",
      `external_id,phone,SMS consent,SMS consent timestamp,email\n,${ADA},no,,a@x.example\nu1,${ADA},,,\nu1,,yes,2025-01-01,\n`,
    ],
    [
      "in an earlier row, of somebody whose row has none,",
      `external_id,phone\nu1,${ADA}\n`,
      `external_id,phone,SMS consent,SMS consent timestamp,email\n,${ADA},no,2024-03-05,a@x.example\nu1,,yes,2025-01-01,\n`,
    ],
  ])("%s is opted in by no import (AMB-130)", async (_, first, second) => {
    const { run, statusesOf } = await trying();
    if (first) await run(first);
    await run(second);

    expect(await statusesOf("u1")).not.toContain("sms opted_in");
  });

  it("is opted in by no import for who was erased and came again, whose row has no number (AMB-130)", async () => {
    const { run, statusesOf, tenant } = await trying();
    await run(`phone,unsubscribed_at\n${ADA},2024-03-05\n`);
    const come = () => tenant.upsert({ external_id: "u1", attributes: { phone: ADA } });
    await tenant.call(`DELETE /api/v1/subscribers/${await come()}`);
    await come();
    await run("external_id,SMS consent,SMS consent timestamp\nu1,yes,2025-01-01\n");

    expect(await statusesOf("u1")).not.toContain("sms opted_in");
  });
});

it("a file of which no row has an address or an id is one of numbers, though it has columns for them (AMB-132)", async () => {
  const { run, names, statusesOf } = await trying();
  const file = `Phone,Email,External ID,Opt Out\n${ADA},,,\n${BOB},,,yes\n`;

  expect((await run(file)).failed_rows).toBe(0);
  expect([await names(), await statusesOf(ADA)]).toEqual([[ADA, BOB], []]);
  expect(await statusesOf(BOB)).toContain("sms opted_out");
});

it.each(["WhatsApp Number", "wa_id"])(
  "numbers in %s agree to chat apps, and refuse them too (AMB-132)",
  async (name) => {
    const { run, statusesOf } = await trying();
    await run(`${name},Opt-in,Opt-in date,Blocked\n${ADA},yes,2024-01-01,no\n${BOB},,,yes\n`);

    expect(await statusesOf(ADA)).toEqual(["chat_app opted_in"]);
    expect(await statusesOf(BOB)).toEqual(expect.arrayContaining(["chat_app opted_out", "sms opted_out"]));
  },
);

it("the rejected rows of a file that have a number alone are imported from the file of them (AMB-132)", async () => {
  const { world, run, names, statusesOf } = await trying();
  const done = await run(`Phone,Email,Opt Out\n${ADA},ada@example.com,\n${BOB},,\n+14155550125,not an address,\n`);
  const link = await world.call(`GET ${new URL(done.rejected_rows_url).pathname}`);
  const url = new URL(String(link.headers.location));
  const { body } = await world.call(`GET ${url.pathname}${url.search}`, { headers: { host: url.host } });
  const again = await run(String(body).replace("not an address", ""));

  expect(again).toMatchObject({ status: "completed", failed_rows: 0 });
  expect(await names()).toEqual([BOB, "+14155550125", "ada@example.com"]);
  expect([await statusesOf(BOB), await statusesOf("+14155550125")]).toEqual([[], []]);
});

it.each([
  ["numbers", "Date,From,To,Message", [ADA, BOB], "+14155550199", "sms opted_out"],
  ["addresses", "Date,From,To,Subject", ["ada@example.com", "bob@example.com"], "us@example.com", "email opted_out"],
] as const)(
  "in an inbox of %s without a direction, who wrote is the person, and not who all wrote to (AMB-132)",
  async (_, header, [ada, bob], us, opted) => {
    const { run, names, statusesOf } = await trying();
    await run(`${header}\n2024-01-02,${ada},${us},STOP\n2024-01-03,${bob},${us},Thanks\n`);

    expect(await names()).toEqual([ada, bob]);
    expect([await statusesOf(ada), await statusesOf(bob)]).toEqual([[opted], []]);
  },
);

it.each([
  ["several customers write to several of us", ["ada@example.com", "bob@example.net"]],
  ["one customer with a private mailbox writes to several of us", ["ada@gmail.com", "ada@gmail.com"]],
])("in an inbox in which %s, no one of us is a person (AMB-132)", async (_, [ada, bob]) => {
  const { run, names } = await trying();
  const [first, second] = ["ann@shop.example", "ben@shop.example"];
  await run(`Date,From,To,Subject\n2024-01-02,${ada},${first},Help\n2024-01-03,${bob},${second},Thanks\n`);

  expect(await names()).toEqual([...new Set([ada, bob])]);
});

it("in a list of mails that one of us sent to people of a company, they are the people (AMB-132)", async () => {
  const { run, names } = await trying();
  const us = "shop@shop.example";
  await run(`Date,From,To,Subject\n2024-01-02,${us},ada@example.com,Hi\n2024-01-03,${us},bob@example.com,Hi\n`);

  expect(await names()).toEqual(["ada@example.com", "bob@example.com"]);
});

it("in a list of messages that we sent, who they went to is the person (AMB-132)", async () => {
  const { run, names } = await trying();
  await run(`Date,From,To,Message\n2024-01-02,+14155550199,${ADA},Hello\n2024-01-03,+14155550199,${BOB},Hello\n`);

  expect(await names()).toEqual([ADA, BOB]);
});

it("in a report on messages that we sent to one address, it is the person, and not the senders (AMB-132)", async () => {
  const { run, names, statusesOf } = await trying();
  const [ours, shop, ada] = ["us@example.com", "shop@example.com", "ada@example.com"];
  await run(`From,To,Subject,Status\n${ours},${ada},News,Bounced\n${shop},${ada},Offer,Bounced\n`);

  expect(await names()).toEqual([ada]);
  expect(await statusesOf(ada)).toEqual(["email suppressed"]);
});
