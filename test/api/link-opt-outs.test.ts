// Opt-outs by the link of a mail: they hold for the owner of the address, and for no former owner (AMB-130).
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { consentsOf, follow, mailing } from "../support/mails.ts";
import { client } from "../support/opt-outs.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("the opt-out by a link", () => {
  it("the opt-out by a link opts out every subscriber that has the address, and who gets it later (AMB-130)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant);
    const { upsert, statusesOf } = client(tenant);
    const twin = await upsert("twin", { email: "ADA@example.com", consent: { status: "opted_in" } });
    await world.advance(SECOND);
    await follow(world, "POST", (await mail()).mail.unsubscribe!);
    const later = await upsert("later", { email: "ada@example.com" });
    for (const subscriber of [ada, twin, later]) {
      expect((await statusesOf(subscriber))[0]).toBe("opted_out");
      const { job } = await send(world, tenant, { subscriberIds: [subscriber], channel_ids: [channel] });
      expect(job.skip_reasons).toEqual({ no_consent: 1 });
    }
  });

  it.each([
    ["opted_in", false],
    ["pending", true],
  ])(
    "the opt-out by a link is one of a person whose consent is %s (AMB-129, AMB-130)",
    async (before, double_opt_in) => {
      const { world, tenant } = await withTenant();
      const { ada, mail } = await mailing(world, tenant);
      const { unsubscribe } = (await mail()).mail;
      const { call, upsert } = client(tenant);
      await call("PATCH /api/v1/workspace", { double_opt_in });
      await upsert("ada", { consent: { status: "opted_in" } });
      await world.advance(SECOND);
      await follow(world, "POST", unsubscribe!);

      const { items } = await consentsOf(tenant, ada);
      expect(items).toMatchObject([{ status: "opted_out", source: "unsubscribe" }, { status: before }]);
    },
  );

  it("the opt-out by a link does not stop transactional mail (AMB-130)", async () => {
    const { world, tenant } = await withTenant();
    const { channel, mail } = await mailing(world, tenant);
    const twin = await client(tenant).upsert("twin", { email: "ada@example.com" });
    await follow(world, "POST", (await mail()).mail.unsubscribe!);
    const body = { subscriberIds: [twin], channel_ids: [channel], category: "transactional" };

    expect((await send(world, tenant, body)).job.counts.delivered).toBe(1);
  });

  it("a second opt-out by a link, after the person opted in again, holds as the first did (AMB-130)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant);
    const { upsert } = client(tenant);
    const optOut = async (unsubscribe: string) => {
      await world.advance(SECOND);
      await follow(world, "POST", unsubscribe);
    };
    const { unsubscribe } = (await mail()).mail;
    await optOut(unsubscribe!);
    await world.advance(SECOND);
    await upsert("ada", { consent: { status: "opted_in" } });
    const twin = await upsert("twin", { email: "ada@example.com", consent: { status: "opted_in" } });

    await optOut(unsubscribe!);

    for (const subscriber of [ada, twin]) {
      const { job } = await send(world, tenant, { subscriberIds: [subscriber], channel_ids: [channel] });
      expect(job.skip_reasons).toEqual({ no_consent: 1 });
    }
  });

  it("the opt-out by a link ends for a person who opts in after it, and for nobody else (AMB-130)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant);
    const { upsert } = client(tenant);
    const twin = await upsert("twin", { email: "ada@example.com" });
    await follow(world, "POST", (await mail()).mail.unsubscribe!);
    await world.advance(SECOND);
    await upsert("twin", { consent: { status: "opted_in" } });
    const reasonsOf = async (subscriber: string) =>
      (await send(world, tenant, { subscriberIds: [subscriber], channel_ids: [channel] })).job.skip_reasons;

    expect(await reasonsOf(twin)).toEqual({});
    expect(await reasonsOf(ada)).toEqual({ no_consent: 1 });
  });

  it("the opt-out by a link holds for who gets the address after the erasure of whom the mail went to (AMB-130)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant);
    const { unsubscribe } = (await mail()).mail;
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.settle();

    await follow(world, "POST", unsubscribe!);

    const bob = await client(tenant).upsert("bob", { email: "ada@example.com" });
    const { job } = await send(world, tenant, { subscriberIds: [bob], channel_ids: [channel] });
    expect(job.skip_reasons).toEqual({ no_consent: 1 });
  });

  it("the opt-out by a link is of the address that the mail went to (AMB-130)", async () => {
    const { world, tenant } = await withTenant();
    const { channel, mail } = await mailing(world, tenant);
    const { upsert } = client(tenant);
    const { unsubscribe } = (await mail()).mail;
    await upsert("ada", { email: "new@example.com" });
    await follow(world, "POST", unsubscribe!);
    const bob = await upsert("bob", { email: "new@example.com" });

    expect((await send(world, tenant, { subscriberIds: [bob], channel_ids: [channel] })).job.counts.delivered).toBe(1);
  });
});
