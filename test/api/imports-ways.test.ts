// Columns that name a way to reach somebody, and hold whether it may be used (AMB-132).
import { expect, it } from "vitest";
import { importing } from "../support/imports.ts";
import { mailing, mailsOf } from "../support/mails.ts";
import { worlds } from "../support/worlds.ts";

const setting = importing(worlds());

it.each([
  ["nein", "ja"],
  ["N", "J"],
  ["0", "1"],
  ["non", "oui"],
])("E-Mail and SMS with %s and %s are no address and no number, and a no there is heard (AMB-132)", async (no, yes) => {
  const { run, consents, attributes } = await setting();

  const done = await run(
    "Kundennr;E-Mail-Adresse;Telefon;E-Mail;SMS\n" +
      `x1;x1@example.com;+491511234567;${no};${no}\nx2;x2@example.com;;${yes};${yes}\n`,
  );

  expect([done.status, done.failed_rows]).toEqual(["completed", 0]);
  const said = (await consents("x1")).map(({ channel, status }: Record<string, string>) => `${channel} ${status}`);
  expect(said.sort()).toEqual(["email opted_out", "sms opted_out"]);
  expect((await attributes("x1")).phone).toBe("+491511234567");
  expect(await consents("x2")).toEqual([]);
});

it("an opt-out beside the time of the yes before it counts against what was said since (AMB-131, AMB-132)", async () => {
  const { run, consents, world, tenant } = await setting();
  const consent = { status: "opted_in", consented_at: "2025-06-01T00:00:00Z" };
  const person = { external_id: "x1", email: "x1@example.com", consent };
  await world.call("POST /api/v1/subscribers/upsert", { as: tenant.server, body: person });

  await run("external_id,email,Email Marketing Status,Opt-in Time\nx1,x1@example.com,unsubscribed,2024-03-04\n");

  expect((await consents("x1"))[0]).toMatchObject({ channel: "email", status: "opted_out" });
});

it("an id may be 0 or 1 (IMP-9)", async () => {
  const { run, members } = await setting();

  expect(await run("external_id,email\n0,x0@example.com\n1,x1@example.com\n")).toMatchObject({ failed_rows: 0 });

  expect((await members()).map(({ external_id }) => external_id).sort()).toEqual(["0", "1"]);
});

it("a proof for an address in capitals is a proof where opt-ins are confirmed (AMB-129, AMB-132)", async () => {
  const { run, consents, tenant } = await setting();
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });

  await run("external_id,email,consent_status,consent_at\nada,Ada@Example.com,yes,2025-01-01T00:00:00Z\n");

  expect(await consents("ada")).toMatchObject([{ channel: "email", status: "opted_in" }]);
});

it("an import into a list that asks sends no question to who has opted out of mail, here or by the file (AMB-129, AMB-132)", async () => {
  const { world, tenant, run, list } = await setting();
  await mailing(world, tenant, "x@x.example");
  await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });
  await tenant.upsert({ external_id: "ada", email: "ada@x.example", consent: { status: "opted_out" } });
  await run("external_id,email,unsubscribed\nada,ada@x.example,\nbob,bob@x.example,yes\neve,eve@x.example,no\n");
  await world.settle();

  const asked = (await mailsOf(world)).filter(({ text }) => text.includes("/i/"));
  expect(asked.map(({ to }) => to)).toEqual(["eve@x.example"]);
});

it("a file that says pending takes nothing back that was said here (AMB-129, AMB-132)", async () => {
  const { tenant, run, consents } = await setting();
  const consent = { status: "opted_in" };
  await tenant.upsert({ external_id: "agreed", email: "a@x.example", consent });
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  await tenant.call("POST /api/v1/topics", { key: "news", name: "News", double_opt_in: true });
  const id = await tenant.upsert({ external_id: "asked", email: "b@x.example", consent });
  await tenant.call("PUT /v1/preferences", { subscriber_id: id, topics: { news: "opted_in" } });
  const said = [await consents("agreed"), await consents("asked")];
  const file = "external_id,consent_status,topic:news\nagreed,pending,\nasked,pending,pending\nnew,pending,\n";

  for (const dry_run of ["true", "false"])
    expect(await run(file, { dry_run })).toMatchObject({
      consent_summary: { opted_out: 1, unchanged: 2 },
      topic_summary: { news: { opted_out: 0, unchanged: 1 } },
    });
  expect([await consents("agreed"), await consents("asked")]).toEqual(said);
});
