// Attacks on the confirmed opt-in by holders of the publishable key, and by members who read sends.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { follow, mailing, mailsOf } from "../support/mails.ts";
import { createMcp } from "../support/mcp.ts";
import { operate, send } from "../support/people.ts";
import { spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const AGREED = "2026-01-01T00:00:00.000Z";

async function setting(options: Parameters<typeof withTenant>[0] = {}) {
  const { world, tenant } = await withTenant(options);
  const { channel } = await mailing(world, tenant, "own@example.com");
  const { call } = tenant;
  await call("PATCH /api/v1/workspace", { double_opt_in: true });
  const upsert = (body: object) =>
    world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id: "ada", ...body } });
  const consent = { channel: "email", status: "opted_in" };
  const statusOf = async (id: string) => (await call(`GET /api/v1/subscribers/${id}`)).body.consents;
  const asked = async () => {
    await world.settle();
    return (await mailsOf(world)).flatMap(({ text, to }) => {
      const link = /\/i\/[\w-]+/.exec(text)?.[0];
      return link ? [{ to, link }] : [];
    });
  };
  const news = async (id: string) => {
    const { job } = await send(world, tenant, { subscriberIds: [id], channel_ids: [channel], category: "marketing" });
    await world.advance(MINUTE);
    return (await call(`GET /api/v1/notifications/${job.id}/recipients`)).body.items[0];
  };
  return { world, tenant, call, upsert, consent, statusOf, asked, news };
}

describe("addresses", () => {
  it("an opt-in that one address confirmed sends nothing to another (AMB-129)", async () => {
    const { world, upsert, consent, asked, news } = await setting();
    const id = (await upsert({ email: "own@example.com", consent })).body.id;
    await follow(world, "POST", (await asked())[0]!.link);
    await world.advance(MINUTE);
    await upsert({ email: "victim@example.com" });
    await world.settle();

    expect(await news(id)).toMatchObject({ state: "skipped" });
  });

  it.each([
    ["now", undefined],
    ["with the time that it had", AGREED],
  ])(
    "an opt-in of before confirmations were asked is none for another address that states it %s (AMB-129)",
    async (_, consented_at) => {
      const { world, call, upsert, consent, asked, statusOf } = await setting();
      await call("PATCH /api/v1/workspace", { double_opt_in: false });
      const id = (await upsert({ email: "own@example.com", consent: { ...consent, consented_at: AGREED } })).body.id;
      await call("PATCH /api/v1/workspace", { double_opt_in: true });
      expect((await statusOf(id))[0].status).toBe("opted_in");
      await world.advance(MINUTE);
      await upsert({ email: "victim@example.com", consent: { ...consent, consented_at } });

      expect([(await statusOf(id))[0].status, (await asked()).map(({ to }) => to)]).toEqual([
        "pending",
        ["victim@example.com"],
      ]);
    },
  );

  it("an address that is changed while its owner confirms has confirmed nothing for the next one (AMB-129)", async () => {
    const confirming = requests({ of: "api-mail", operation: "TransactWriteItems" });
    const { world, upsert, consent, asked, news } = await setting({ hooks: confirming.hooks });
    const id = (await upsert({ email: "own@example.com", consent })).body.id;
    const { link } = (await asked())[0]!;
    confirming.next(() => upsert({ email: "victim@example.com" }));
    await follow(world, "POST", link);
    await world.advance(MINUTE);

    expect(await news(id)).toMatchObject({ state: "skipped", reason: "no_consent" });
  });

  it("restating the opt-in for another address asks that one, by one statement (AMB-129)", async () => {
    const { world, call, upsert, consent, asked, statusOf } = await setting();
    const id = (await upsert({ email: "own@example.com", consent })).body.id;
    await follow(world, "POST", (await asked())[0]!.link);
    await world.advance(MINUTE);
    await upsert({ email: "victim@example.com", consent });

    expect([(await statusOf(id))[0].status, (await asked()).map(({ to }) => to)]).toEqual([
      "pending",
      ["own@example.com", "victim@example.com"],
    ]);
    const { items } = (await call(`GET /api/v1/subscribers/${id}/consents`)).body;
    expect(items.map(({ status }: { status: string }) => status)).toEqual(["pending", "opted_in", "pending"]);
  });

  it("an address that opted out by a link is not opted in again by who has confirmed another (AMB-129)", async () => {
    const { world, tenant, upsert, consent, asked, news } = await setting();
    const id = (await upsert({ email: "own@example.com", consent })).body.id;
    await follow(world, "POST", (await asked()).at(-1)!.link);
    const body = { external_id: "v", email: "victim@example.com" };
    const victim = await tenant.upsert(body);
    await news(victim);
    const unsubscribe = (await mailsOf(world)).findLast((mail) => mail.unsubscribe)!.unsubscribe!;
    expect((await follow(world, "POST", unsubscribe)).status).toBe(200);
    await world.advance(MINUTE);
    await upsert({ email: "victim@example.com" });
    const before = (await news(id)).state;
    await upsert({ consent });
    expect([before, (await news(id)).state, (await asked()).at(-1)!.to]).toEqual([
      "skipped",
      "skipped",
      "victim@example.com",
    ]);
  });
});

describe("mail bombing", () => {
  it("many people with one address who opt in at once get three questions (AMB-129)", async () => {
    const { upsert, consent, asked } = await setting();
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => upsert({ external_id: `p${n}`, email: "victim@example.com", consent })),
    );

    expect((await asked()).length).toBe(3);
  });

  it("an address gets three questions to confirm, also in other cases and after an erasure (AMB-129)", async () => {
    const { world, upsert, consent, asked, call } = await setting();
    for (const email of ["victim@example.com", "VICTIM@example.com", "victim@EXAMPLE.com"]) {
      await world.advance(MINUTE);
      await upsert({ email, consent });
      await asked();
    }
    const id = (await upsert({ email: "victim@example.com" })).body.id;
    await call(`DELETE /api/v1/subscribers/${id}`);
    await world.settle();
    await upsert({ external_id: "x", email: "victim@example.com", consent });
    await call("POST /api/v1/suppressions", { address: "victim@example.com", note: "n" });
    const [row] = (await call("GET /api/v1/suppressions")).body.items;
    await call(`DELETE /api/v1/suppressions/${row.id}?reason=x`);
    await upsert({ external_id: "y", email: "victim@example.com", consent });

    expect((await asked()).length).toBe(3);
  });

  it("a question that is tried again goes to no address that the person has since (AMB-129)", async () => {
    const { world, upsert, consent, asked } = await setting();
    await spoil(world, { channel: "email", outcome: "transient", times: 1 });
    await upsert({ email: "own@example.com", consent });
    await asked();
    await upsert({ email: "victim@example.com" });

    await world.advance(5 * MINUTE);

    expect((await asked()).map(({ to }) => to)).toEqual([]);
  });

  it("sub-addresses of one mailbox get three questions to confirm (AMB-129)", async () => {
    const { upsert, consent, asked } = await setting();
    for (let n = 0; n < 8; n++) await upsert({ external_id: `p${n}`, email: `victim+${n}@gmail.com`, consent });

    expect((await asked()).length).toBe(3);
  });
});

describe("secrets", () => {
  const jobOf = async ({ call }: Pick<Awaited<ReturnType<typeof setting>>, "call">) => {
    const { items, notifications } = (await call("GET /api/v1/notifications")).body;
    return (items ?? notifications)[0].id as string;
  };

  it("a member who reads the send does not read the link that confirms (AMB-129)", async () => {
    const all = await setting();
    await all.upsert({ email: "own@example.com", consent: all.consent });
    const { link } = (await all.asked())[0]!;
    const { status, body } = await all.call(`GET /api/v1/notifications/${await jobOf(all)}`);

    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(link);
  });

  it("an agent that may only read does not read the link that confirms (AMB-129)", async () => {
    const all = await setting();
    await all.upsert({ email: "own@example.com", consent: all.consent });
    const { link } = (await all.asked())[0]!;
    const mcp = createMcp(all.world, all.tenant);
    const answer = await mcp.tool(await mcp.key("read"), "notifications_get", { id: await jobOf(all) });

    expect(answer.isError ?? false).toBe(false);
    expect(JSON.stringify(answer)).not.toContain(link);
  });

  it("a link confirms no statement that was made after an opt-out (AMB-129)", async () => {
    const { world, upsert, consent, asked, statusOf, call } = await setting();
    const id = (await upsert({ email: "own@example.com", consent })).body.id;
    const { link } = (await asked())[0]!;
    await follow(world, "POST", link);
    await world.advance(MINUTE);
    await call(`POST /api/v1/subscribers/${id}/consents`, { channel: "email", status: "opted_out" });
    await world.advance(MINUTE);
    await upsert({ consent });
    await follow(world, "POST", link);

    expect((await statusOf(id))[0].status).toBe("pending");
  });

  it.each([
    ["before the opt-in", AGREED, "pending"],
    ["after it", undefined, "opted_out"],
  ])(
    "an opt-out that is heard of after the mail ends its link, though it was said %s (AMB-129)",
    async (_, consented_at, status) => {
      const { world, upsert, consent, asked, statusOf } = await setting();
      const id = (await upsert({ email: "own@example.com", consent })).body.id;
      const { link } = (await asked())[0]!;
      await world.advance(MINUTE);
      await upsert({ consent: { channel: "email", status: "opted_out", consented_at } });
      await world.advance(MINUTE);

      await follow(world, "POST", link);

      expect((await statusOf(id))[0].status).toBe(status);
    },
  );
});

it.each([0, 1])("no opt-in under a cap of %i sends is a dead letter (AMB-129)", async (monthly_send_cap) => {
  const { world, tenant, upsert, consent, asked } = await setting();
  await operate(world, tenant, { monthly_send_cap });
  for (let n = 0; n < 3; n++) await upsert({ external_id: `p${n}`, email: `p${n}@example.com`, consent });
  await world.advance(60 * MINUTE);

  expect(await asked()).toHaveLength(monthly_send_cap);
  expect(world.sqs.depth("ask-confirmation-dead").visible).toBe(0);
});

it("a confirmation during which the table failed ends the bounce of its address when it is repeated (AMB-129)", async () => {
  const lifting = requests({ of: "api-mail", naming: "lifted_because" });
  const { world, tenant } = await withTenant({ hooks: lifting.hooks });
  const { ada, mail } = await mailing(world, tenant, "bounce@simulator.amazonses.com");
  await mail();
  await world.advance(MINUTE);
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  await tenant.upsert({ external_id: "ada", consent: { channel: "email", status: "opted_in" } });
  await world.settle();
  const link = (await mailsOf(world)).flatMap(({ text }) => /\/i\/[\w-]+/.exec(text) ?? [])[0]!;
  await world.advance(MINUTE);
  lifting.next(() => {
    throw awsFailure("ServiceUnavailable", "busy");
  });

  expect((await follow(world, "POST", link)).status).toBe(503);
  expect((await follow(world, "POST", link)).status).toBe(200);

  expect((await tenant.call("GET /api/v1/suppressions")).body.items).toEqual([]);
  expect((await tenant.call(`GET /api/v1/subscribers/${ada}`)).body.consents).toMatchObject([{ status: "opted_in" }]);
});

it("a button that is pressed twice at once says both times that the opt-in is confirmed (AMB-129)", async () => {
  const { world, upsert, consent, asked } = await setting();
  await upsert({ email: "own@example.com", consent });
  const [{ link = "" } = {}] = await asked();
  const pages = await Promise.all([follow(world, "POST", link), follow(world, "POST", link)]);

  expect(pages[1]!.body).toBe(pages[0]!.body);
});
