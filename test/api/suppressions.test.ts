// Suppressions of addresses: they hold for the owner of the address, and for no former owner.
import { describe, expect, it } from "vitest";
import { mailing } from "../support/mails.ts";
import { client } from "../support/opt-outs.ts";
import { entriesOf } from "../support/pages.ts";
import { addPeople, send } from "../support/people.ts";
import { mend, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const BOUNCES = "bounce@simulator.amazonses.com";
const COMPLAINS = "complaint@simulator.amazonses.com";

/** A workspace that mails, in which an address is suppressed because of what its provider said. */
async function suppressed(email: string) {
  const { world, tenant } = await withTenant();
  const { ada, channel, mail } = await mailing(world, tenant, email);
  await mail();
  await world.advance(MINUTE);
  const to = async (subscriber: string, more: object = {}) =>
    (await send(world, tenant, { subscriberIds: [subscriber], channel_ids: [channel], ...more })).job;
  return { world, tenant, ada, channel, to, ...client(tenant) };
}

describe("the suppression of an address", () => {
  it("the suppression of an address stops mail to every subscriber that has the address (AMB-128)", async () => {
    const { to, upsert } = await suppressed(COMPLAINS);
    const child = await upsert("child", { email: COMPLAINS.toUpperCase() });

    expect((await to(child)).skip_reasons).toEqual({ suppressed: 1 });
    expect((await to(child, { category: "transactional" })).skip_reasons).toEqual({ suppressed: 1 });
  });

  it("the suppression of an address stays behind when a subscriber gets another address (AMB-128)", async () => {
    const { ada, to, upsert, statusesOf } = await suppressed(BOUNCES);
    expect(await statusesOf(ada)).toEqual(["suppressed"]);
    await upsert("ada", { email: "right@example.com" });
    expect(await statusesOf(ada)).toEqual([]);
    expect((await to(ada)).counts.delivered).toBe(1);
  });

  it("the suppression of an address holds for who gets the address later (AMB-128)", async () => {
    const { ada, to, upsert } = await suppressed(BOUNCES);
    await upsert("ada", { email: "right@example.com" });
    const bob = await upsert("bob", { email: BOUNCES });

    expect((await to(bob)).skip_reasons).toEqual({ suppressed: 1 });
    expect((await to(ada)).counts.delivered).toBe(1);
  });

  it("the suppression of an address is asked again when a message is sent (AMB-128)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel } = await mailing(world, tenant);
    const { call } = client(tenant);
    const quiet_hours = { start: "10:00", end: "23:00", timezone_mode: "workspace" };
    await call("PATCH /api/v1/workspace", { quiet_hours });
    const input = { subscriberIds: [ada], channel_ids: [channel], title: "Hi", body: "There" };
    const { id } = (await call("POST /api/v1/notifications", input)).body;
    await world.settle();
    expect((await call(`GET /api/v1/notifications/${id}`)).body.deferred).toBe(1);
    await call("POST /api/v1/suppressions", { address: "ada@example.com" });
    await world.advance(24 * 60 * MINUTE);
    expect((await call(`GET /api/v1/notifications/${id}`)).body.counts.delivered).toBe(0);
    const explained = await call(`GET /api/v1/notifications/${id}/recipients/${ada}`);
    expect(explained.body).toMatchObject({ reason: "suppressed" });
  });

  it("the suppression of a number is asked again when a message is sent, also where those before it in the send have none (AMB-128)", async () => {
    const { world, tenant } = await withTenant();
    const { email, sms } = await openChannels(world, tenant, "email", "sms");
    const { call } = client(tenant);
    const phone = "+4915112345678";
    const ids = await addPeople(world, tenant, 11, (n) =>
      n < 10 ? { email: `p${n}@example.com` } : { attributes: { phone } },
    );
    const quiet_hours = { start: "10:00", end: "23:00", timezone_mode: "workspace" };
    await call("PATCH /api/v1/workspace", { quiet_hours });
    const input = { subscriberIds: ids, channel_ids: [email, sms], title: "Hi", body: "There" };
    const { id } = (await call("POST /api/v1/notifications", input)).body;
    await world.settle();
    await call("POST /api/v1/suppressions", { address: phone });

    await world.advance(24 * 60 * MINUTE);

    expect((await call(`GET /api/v1/notifications/${id}`)).body.delivered_by_channel).toEqual({ email: 10 });
  });

  it("the suppression of an address is not lifted by an upsert, a consent or an import (AMB-129)", async () => {
    const { ada, to, upsert, call } = await suppressed(BOUNCES);
    await upsert("ada", { email: BOUNCES, consent: { status: "opted_in" } });
    await call(`POST /api/v1/subscribers/${ada}/consents`, { channel: "email", status: "opted_in" });

    expect((await to(ada)).skip_reasons).toEqual({ suppressed: 1 });
  });

  it("the suppression of an address is lifted by an operator who says why (AMB-129)", async () => {
    const { ada, to, call } = await suppressed(BOUNCES);
    const [found] = (await call("GET /api/v1/suppressions")).body.items;
    expect(found).toMatchObject({ kind: "email", address: BOUNCES, reason: "bounce", source: "provider" });
    expect((await call(`DELETE /api/v1/suppressions/${found.id}?reason=Mailbox%20is%20back`)).status).toBe(204);
    expect((await call("GET /api/v1/suppressions")).body.items).toEqual([]);
    for (const again of ["GET", "DELETE"])
      expect(
        (await call(`${again} /api/v1/suppressions/${found.id}${again === "GET" ? "" : "?reason=x"}`)).status,
      ).toBe(404);
    expect((await to(ada)).skip_reasons).toEqual({});
  });

  it("why the suppression of an address was lifted is with the consents of who has it now, and in their export (AMB-129)", async () => {
    const { world, ada, upsert, call } = await suppressed(BOUNCES);
    const twin = await upsert("twin", { email: BOUNCES });
    const lifted = async (id: string, of = "consents") =>
      (await call(`GET /api/v1/subscribers/${id}/${of}`)).body.lifted;
    expect(await lifted(ada)).toEqual([]);

    const [found] = (await call("GET /api/v1/suppressions")).body.items;
    await call(`DELETE /api/v1/suppressions/${found.id}?reason=Mailbox%20is%20back`);

    const said = [{ kind: "email", lifted_at: expect.any(String), reason: "Mailbox is back" }];
    expect([await lifted(ada), await lifted(twin), await lifted(ada, "export")]).toEqual([said, said, said]);

    await upsert("ada", { email: "other@example.com" });
    await world.settle();
    expect(await lifted(ada)).toEqual([]);
  });
});

it("a number that its provider calls deactivated is not tried again, whoever has it, until an operator lifts it (AMB-128)", async () => {
  const { world, tenant } = await withTenant();
  const { sms = "" } = await openChannels(world, tenant, "sms");
  const { upsert, call } = client(tenant);
  const phone = "+491511234567";
  const ada = await upsert("ada", { attributes: { phone } });
  const text = async (subscriber: string) =>
    (await send(world, tenant, { subscriberIds: [subscriber], channel_ids: [sms] })).job;
  await spoil(world, { channel: "sms", outcome: "invalid_token" });
  await text(ada);
  await mend(world);
  const twin = await upsert("twin", { attributes: { phone } });

  expect((await text(ada)).skip_reasons).toEqual({ suppressed: 1 });
  expect((await text(twin)).skip_reasons).toEqual({ suppressed: 1 });

  const [found] = (await call("GET /api/v1/suppressions")).body.items;
  expect(found).toMatchObject({ kind: "phone", address: phone, reason: "bounce", source: "provider" });
  await call(`DELETE /api/v1/suppressions/${found.id}?reason=Number%20is%20back`);
  expect((await text(ada)).counts.delivered).toBe(1);
});

describe("/api/v1/suppressions", () => {
  const withFive = async () => {
    const { world, tenant } = await withTenant();
    const { call } = client(tenant);
    for (let n = 0; n < 5; n++) {
      await call("POST /api/v1/suppressions", { address: `p${n}@example.com`, note: `n${n}` });
      await world.advance(SECOND);
    }
    return call;
  };

  it("suppressions are listed newest first, page by page (AMB-128)", async () => {
    const call = await withFive();
    const listed = await entriesOf<{ note: string }>((page) => call(`GET /api/v1/suppressions${page}`), "limit=2");

    expect(listed.map(({ note }) => note)).toEqual(["n4", "n3", "n2", "n1", "n0"]);
  });

  it.each([
    ["address=P3@EXAMPLE.com", 1],
    ["address=p9@example.com", 0],
    ["address=p3@example.com&reason=bounce", 0],
    ["reason=manual", 5],
    ["reason=bounce", 0],
    ["source=operator", 5],
    ["source=file", 0],
    ["reason=manual&source=file", 0],
  ])(
    "suppressions are listed by address, reason and source: of five by ?%s there are %i (AMB-128)",
    async (query, n) => {
      const call = await withFive();

      expect((await call(`GET /api/v1/suppressions?${query}`)).body.items).toHaveLength(n);
    },
  );

  it.each(["+49 151 1234567", "0151 1234567"])(
    "the suppression of a number is found by %j, as people write it (AMB-128)",
    async (typed) => {
      const { tenant } = await withTenant();
      await tenant.call("PATCH /api/v1/workspace", { region: "DE" });
      const { id } = (await tenant.call("POST /api/v1/suppressions", { address: "+491511234567" })).body;

      const { items } = (await tenant.call(`GET /api/v1/suppressions?address=${encodeURIComponent(typed)}`)).body;
      expect(items).toMatchObject([{ id }]);
    },
  );

  it("a suppression is among the consents of who has the address, with its reason and its note (AMB-128)", async () => {
    const { tenant } = await withTenant();
    const { call, upsert } = client(tenant);
    const ada = await upsert("ada", { email: "ada@example.com" });
    await call("POST /api/v1/suppressions", { address: "ada@example.com", note: "asked by phone" });

    const [consent] = (await call(`GET /api/v1/subscribers/${ada}/consents`)).body.items;
    expect(consent).toMatchObject({ channel: "email", status: "suppressed", source: "manual" });
    expect(consent.evidence.text).toBe("asked by phone");
  });

  it.each([
    ["text", { address: "nobody" }],
    ["a number without a country", { address: "0151 1234567" }],
  ])("%s is refused as an address to suppress (AMB-128)", async (_, body) => {
    const { tenant } = await withTenant();
    const answer = await client(tenant).call("POST /api/v1/suppressions", body);

    expect(answer.status).toBe(422);
    expect(answer.body.fields?.address).toEqual(expect.any(String));
  });

  it("a stronger reason leaves nothing of what was said of the weaker one (AMB-128)", async () => {
    const { tenant } = await withTenant();
    const { call } = client(tenant);
    await call("POST /api/v1/suppressions/import", { csv: "email,reason\nada@example.com,hard bounce\n" });

    expect((await call("POST /api/v1/suppressions", { address: "ada@example.com" })).body).toMatchObject({
      ...{ reason: "manual", source: "operator", note: null },
    });
  });

  it("the list of suppressions forgets an address after the erasure of a subscriber with it, and still holds (AMB-128)", async () => {
    const { world, ada, to, upsert, call } = await suppressed(BOUNCES);
    await call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(5 * MINUTE);

    expect((await call("GET /api/v1/suppressions")).body.items).toMatchObject([{ address: null, reason: "bounce" }]);
    expect((await to(await upsert("again", { email: BOUNCES }))).skip_reasons).toEqual({ suppressed: 1 });
  });

  it("the note of a suppression is gone after the erasure of a subscriber with the address (AMB-128, SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const { call, upsert } = client(tenant);
    const [email, phone] = ["ada@example.com", "+4915112345678"];
    const ada = await upsert("ada", { email, attributes: { phone } });
    for (const address of [email, phone])
      await call("POST /api/v1/suppressions", { address, note: "Ada asked on the phone" });

    await call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(5 * MINUTE);

    expect((await call("GET /api/v1/suppressions")).body.items).toMatchObject(
      Array(2).fill({ address: null, note: null }),
    );
  });
});
