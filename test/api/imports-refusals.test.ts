// What rows refuse that are not imported (AMB-132).
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { heldAddresses } from "../../shared/store/subscribers/addresses.ts";
import { importing, people } from "../support/imports.ts";
import { operate } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

/** A workspace, a file in it, and what counts on a channel for a person who comes later with an address. */
async function afterFile(csv: string, fields: Record<string, string> = {}) {
  const { run, tenant, world, as } = await setting();
  const job = await run(csv, fields);
  const statusOf = async (external_id: string, profile: Record<string, unknown>, channel = "email") => {
    const { id } = (
      await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id, ...profile } })
    ).body;
    const { items } = (await world.call(`GET /api/v1/subscribers/${id}/consents`, { as: await as() })).body;
    return items.find((item: { channel: string }) => item.channel === channel)?.status;
  };
  return { job, run, tenant, world, statusOf };
}

const LONG = "x".repeat(4_097);

describe("an opt-out in a row that is rejected", () => {
  it.each([
    ["has a value that is too long", `email,note,unsubscribed\na@x.example,${LONG},true\n`],
    ["has a comma in a cell", "email,note,unsubscribed\na@x.example,Hi, there,true\nb@x.example,Hi,false\n"],
    ["has a cell too many at its end", "email,note,unsubscribed\na@x.example,Hi,true,more\nb@x.example,Hi,false\n"],
    ["lacks a cell", "email,note,unsubscribed\na@x.example,true\nb@x.example,Hi,false\n"],
    [
      "has another status than all other rows",
      "email,consent_status,unsubscribed\na@x.example,maybe,true,more\nb@x.example,opted_in,false\n",
    ],
    ["has too long an external id", `external_id,email,unsubscribed\n${"u".repeat(513)},a@x.example,yes\n`],
  ])("an opt-out in a rejected row holds for its address where it %s (AMB-132)", async (_, csv) => {
    const { job, statusOf } = await afterFile(csv);

    expect(job.failed_rows).toBe(1);
    expect(await statusOf("somebody", { email: "A@x.example" })).toBe("opted_out");
    expect(await statusOf("other", { email: "b@x.example" })).toBeUndefined();
  });

  it("an opt-out in a rejected row is said beside the reason, in a rehearsal too (AMB-132)", async () => {
    const csv =
      "email,note,unsubscribed\na@x.example,Hi, there,true\nb@x.example,Hi, there,false\nc@x.example,Hi,false\n";
    const { job } = await afterFile(csv, { dry_run: "true" });

    expect(job.rejected_sample).toEqual([
      { line: 2, reason: "has 4 cells, the header 3; that it opts out is kept" },
      { line: 3, reason: "has 4 cells, the header 3" },
    ]);
  });

  it("a rejected row that says that mail came back suppresses its address (AMB-132)", async () => {
    const { statusOf } = await afterFile("email,note,bounced\na@x.example,Hi, there,2026-03-01\n");

    expect(await statusOf("somebody", { email: "a@x.example" })).toBe("suppressed");
  });

  it("an opt-out in a rejected row is one of the person that the row names, if there is one (AMB-132)", async () => {
    const { run, statusOf } = await afterFile("external_id,email\nu1,a@x.example\nu2,b@x.example\n");
    await run("external_id,email,unsubscribed\nu1,not an address,true\nu2,also none,false\n");

    expect(await statusOf("u1", {})).toBe("opted_out");
    expect(await statusOf("u2", {})).toBeUndefined();
  });

  it("an opt-out in a rejected row holds for a number that the row can be known by (AMB-132)", async () => {
    const { statusOf } = await afterFile("email,phone,sms_opt_out\n,+491511234567,true\n,+491511234568,false\n");

    expect(await statusOf("u1", { attributes: { phone: "+491511234567" } }, "sms")).toBe("opted_out");
    expect(await statusOf("u2", { attributes: { phone: "+491511234568" } }, "sms")).toBeUndefined();
  });

  it("an opt-out in a rejected row is one of the person whom another row of the file creates (AMB-132)", async () => {
    const { job, statusOf } = await afterFile(
      "external_id,email,consent_status,consent_at\nu1,not an address,no,\nu1,a@x.example,yes,2026-01-01\n",
    );

    expect(job.consent_summary).toMatchObject({ opted_in: 0, unchanged: 1 });
    expect(await statusOf("u1", {})).toBe("opted_out");
  });

  it.each([["false"], ["true"]])(
    "an opt-out in a rejected row is one of the person whom a row far behind it creates, in a rehearsal %s (AMB-132)",
    async (dry_run) => {
      const between = people(120).split("\n").slice(1, -1);
      const rows = ["v1,bad,no,,no,", ...between.map((row) => `${row},,,,`), "v1,a@x.example,yes,2026-01-01,,"];
      const { job, statusOf } = await afterFile(
        ["external_id,email,consent_status,consent_at,consent_status:sms,consent_at:sms", ...rows].join("\n"),
        { dry_run },
      );

      expect(job).toMatchObject({ failed_rows: 1, consent_summary: { opted_in: 0, unchanged: 1 } });
      if (dry_run === "true") return;
      expect(await statusOf("v1", {})).toBe("opted_out");
      expect(await statusOf("v1", {}, "sms")).toBe("opted_out");
    },
  );

  it("an opt-out in a rejected row outlives a later row of the file that agrees (AMB-132)", async () => {
    const agreeing = "a@x.example,Hi,true,2026-03-01,";
    const header = "email,note,newsletter,consent_at,unsubscribed";
    const { job, statusOf } = await afterFile(
      [header, "a@x.example,Hi, there,false,,true", agreeing, "b@x.example,Hi,true,2026-03-01,false"].join("\n"),
    );

    expect(job.consent_summary).toMatchObject({ opted_in: 1, unchanged: 1 });
    expect(await statusOf("a@x.example", {})).toBe("opted_out");
  });

  it("an opt-out in a row beyond the plan's subscribers holds for the address of an earlier row of its person (AMB-88, AMB-132)", async () => {
    const { run, tenant, world } = await setting();
    await fill(world, tenant, 1_010);
    await operate(world, tenant, { plan: "free" });

    const csv = "external_id,email,unsubscribed\nu1,a@x.example,\nu1,,yes\n";
    expect(await run(csv)).toMatchObject({ failed_rows: 2 });

    expect([...(await heldAddresses(tenant.store, ["a@x.example"]))]).toEqual(["a@x.example"]);
  });

  it.each([
    ["the row behind it", "u1,,yes,,", 0, "false"],
    ["the row behind it, in a rehearsal", "u1,,yes,,", 0, "true"],
    ["the row behind it, where it is rejected itself", "u1,bad,yes,,", 0, "false"],
    ["a row far behind it", "u1,,yes,,", 120, "false"],
    ["a row far behind it, in a rehearsal", "u1,,yes,,", 120, "true"],
  ])(
    "an opt-out in a row beyond the plan's subscribers holds for the address that its person has by %s (AMB-88, AMB-132)",
    async (_, refusing, between, dry_run) => {
      const { run, tenant, world } = await setting();
      await tenant.upsert({ external_id: "u2", email: "a@x.example" });
      await fill(world, tenant, 1_010);
      await operate(world, tenant, { plan: "free" });

      const others = Array.from({ length: between }, () => "u3,,,,");
      const after = Array.from({ length: 120 }, () => "u3,,,,");
      const rows = [refusing, ...others, "u1,a@x.example,,,", ...after, "u2,,,yes,2026-01-01"];
      const { consent_summary } = await run(
        ["external_id,email,unsubscribed,newsletter,consent_at", ...rows].join("\n"),
        { dry_run },
      );

      expect(consent_summary).toMatchObject({ opted_in: 0, unchanged: 1 });
    },
  );

  it.each([
    ["the row behind it", 0],
    ["a row far behind it", 120],
  ])(
    "an opt-out in a rejected row is one of the person whom %s creates anew after an erasure (SUB-9, AMB-132)",
    async (_, between) => {
      const { run, statusOf, tenant, world } = await afterFile("external_id\nu0\n");
      const id = await tenant.upsert({ external_id: "u1" });
      await tenant.call(`DELETE /api/v1/subscribers/${id}`);
      await world.settle();
      await world.advance(MINUTE);

      const others = Array.from({ length: between }, () => "u0,,,");
      await run(
        ["external_id,email,consent_status,consent_at", "u1,bad,no,", ...others, "u1,a@x.example,yes,2026-01-01"].join(
          "\n",
        ),
      );

      expect(await statusOf("u1", {})).toBe("opted_out");
    },
  );
});

it.each([
  ["SMS", "sms"],
  ["WhatsApp", "chat_app"],
])(
  "an opt-out of %s in a row that names an address and no person holds for its number (AMB-132)",
  async (of, channel) => {
    const { statusOf } = await afterFile(`email,phone,${of} opt out\na@x.example,+491511234567,true\n`);

    expect(await statusOf("u1", { attributes: { phone: "+491511234567" } }, channel)).toBe("opted_out");
  },
);

it.each([
  ["email,consent_status\na@x.example,pending\n"],
  ["email,Status\na@x.example,Unconfirmed\n"],
  ["external_id,email,Status\nada,a@x.example,Unconfirmed\n"],
  ["email,phone,SMS consent\na@x.example,+491511234567,unconfirmed\n"],
  ["email,unconfirmed\na@x.example,yes\n"],
  ["email,confirmed\na@x.example,no\n"],
  ["external_id,email,Opt-in pending\nada,a@x.example,1\n"],
  ["external_id,email,Newsletter noch nicht bestätigt\nada,a@x.example,ja\n"],
  ["email,phone,SMS opt-in not confirmed\na@x.example,+491511234567,yes\n"],
])("who never confirmed elsewhere takes back nothing that was said here of the address: %j (AMB-132)", async (csv) => {
  const { run, statusOf } = await afterFile("external_id,email,phone\nada,a@x.example,+491511234567\n");
  const agreed = { status: "opted_in", consented_at: "2026-01-01T00:00:00Z" };
  await statusOf("ada", { consent: { ...agreed, channel: "email" } });
  await statusOf("ada", { consent: { ...agreed, channel: "sms" } });
  await run(csv);

  expect([await statusOf("ada", {}), await statusOf("ada", {}, "sms")]).toEqual(["opted_in", "opted_in"]);
});

describe("an opt-out in a row with several addresses", () => {
  it.each([
    ["is taken", "email,unsubscribed\na@x.example; b@x.example,yes\n", 0],
    ["names a person by an id", "external_id,email,unsubscribed\nu1,a@x.example; b@x.example,yes\n", 0],
    ["is rejected, since one of them cannot be read", "email,unsubscribed\na@x.example / b@x.example / none,yes\n", 1],
  ])("what a row refuses holds for each address of its cell, where it %s (AMB-132)", async (_, csv, failed) => {
    const { job, statusOf } = await afterFile(csv);

    expect(job.failed_rows).toBe(failed);
    expect(await statusOf("somebody", { email: "b@x.example" })).toBe("opted_out");
  });

  it("an opt-out holds for the address of a further column, and a mail that came back does not (AMB-132)", async () => {
    const { job, statusOf } = await afterFile(
      "email 1,email 2,unsubscribed,bounced\na@x.example,b@x.example,yes,\nc@x.example,d@x.example,,yes\n",
    );

    expect(job.consent_summary).toMatchObject({ opted_out: 1, suppressed: 1 });
    expect(await statusOf("b", { email: "b@x.example" })).toBe("opted_out");
    expect(await statusOf("d", { email: "d@x.example" })).toBeUndefined();
  });

  it("a rehearsal counts who agrees after such a row as the import does (AMB-132)", async () => {
    const others = Array.from({ length: 100 }, (_, i) => `p${i}@x.example,,,\n`).join("");
    const header = "email,unsubscribed,newsletter,consent_at\n";
    const csv = `${header}a@x.example; b@x.example,yes,,\n${others}b@x.example,,yes,2026-03-01\n`;
    const { job, run } = await afterFile(csv, { dry_run: "true" });

    expect(job.consent_summary).toMatchObject({ opted_in: 0, opted_out: 1, unchanged: 1 });
    expect((await run(csv)).consent_summary).toEqual(job.consent_summary);
  });
});

it.each(["I confirm that I want to receive the newsletter", "Ich bestätige meine Einwilligung in den Newsletter"])(
  "%s: who answers no has left (AMB-132)",
  async (question) => {
    const { run, world, statusOf } = await afterFile("email,consent_status,consent_at\na@x.example,yes,2026-01-01\n");
    await world.advance(MINUTE);
    await run(`email,"${question}"\na@x.example,no\n`);

    expect(await statusOf("a@x.example", {})).toBe("opted_out");
  },
);

it.each([
  "Unsubscribe pending",
  "Unsubscribe confirmed",
  "Opposition confirmée",
  "Cancelación de la suscripción confirmada",
])("%s: who has yet to confirm that they left has left (AMB-132)", async (name) => {
  const { run } = await afterFile("email,consent_status,consent_at\na@x.example,yes,2026-01-01\n");
  const { consent_summary } = await run(`email,${name}\na@x.example,yes\n`);

  expect(consent_summary).toMatchObject({ opted_out: 1, unchanged: 0 });
});

it.each([
  ["a column again", "email,email,unsubscribed\n,a@x.example,true\nb@x.example,,\n"],
  ["a second column", "E-Mail,E-Mail 2,Abgemeldet\n,a@x.example,ja\nb@x.example,,\n"],
])("an opt-out in a row that has its address in %s holds for it (AMB-132)", async (_, csv) => {
  const { job, statusOf } = await afterFile(csv);

  expect(job).toMatchObject({ processed_rows: 2, failed_rows: 0, consent_summary: { opted_out: 1 } });
  expect(await statusOf("somebody", { email: "a@x.example" })).toBe("opted_out");
});
