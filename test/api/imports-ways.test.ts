// Columns that name a way to reach somebody, and hold whether it may be used (AMB-132).
import { expect, it } from "vitest";
import { importing } from "../support/imports.ts";
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

it("an id may be 0 or 1 (IMP-9)", async () => {
  const { run, members } = await setting();

  expect(await run("external_id,email\n0,x0@example.com\n1,x1@example.com\n")).toMatchObject({ failed_rows: 0 });

  expect((await members()).map(({ external_id }) => external_id).sort()).toEqual(["0", "1"]);
});
