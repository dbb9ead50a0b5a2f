// Events of SES about sent mails: bounces, complaints, late events; and one newsletter from the send to the next one.
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { consentsOf, follow, mailing, SES, tellOfMail as tell } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import { ledgerOf, spoil } from "../support/reached.ts";
import { testWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("events of SES", () => {
  it.each([
    ["bounce", "bounced", "bounce"],
    ["complaint", "sent", "complaint"],
  ])("a %s suppresses the address, and its row says %s (D-EMAIL)", async (fate, state, source) => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant, `${fate}@simulator.amazonses.com`);
    const { job } = await mail();
    await world.advance(MINUTE);
    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state, job: job.id }]);
    expect((await consentsOf(tenant, ada)).items).toMatchObject([{ channel: "email", status: "suppressed", source }]);
    for (const category of ["marketing", "transactional"])
      expect((await mail({ category })).job.skip_reasons).toEqual({ suppressed: 1 });
    const route = `GET /api/v1/notifications/${job.id}/recipients/${ada}`;
    const { body: explained } = await tenant.call(route);
    const expected = fate === "bounce" ? ["bounced", "Permanent: General"] : ["delivered", null];
    expect([explained.state, explained.reason]).toEqual(expected);
  });

  it("a repeated bounce, or one of an address that was changed since, changes nothing (D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { job } = await mail();
    await world.advance(MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    const at = String(Date.parse(String(row!.sk).split("#")[1]!));
    const tags = { tenant: [tenant.id], job: [job.id], subscriber: [ada], at: [at] };
    const bounce = (emailAddress: string, bounceType = "Permanent") => ({
      eventType: "Bounce",
      mail: { tags },
      bounce: { bounceType, bounceSubType: "General", bouncedRecipients: [{ emailAddress }] },
    });
    await tell(world, bounce("old@example.com", "Transient"));
    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: "sent", bounce: "Transient: General" }]);
    await tell(world, bounce("old@example.com"));
    expect((await consentsOf(tenant, ada)).items).toEqual([]);
    await tell(world, bounce("ADA@example.com"));
    expect((await consentsOf(tenant, ada)).items).toHaveLength(1);
    const before = JSON.stringify(await wholeTable(world));
    await tell(world, bounce("ada@example.com"));
    await tell(world, { eventType: "Delivery", mail: { tags } });
    await tell(world, { eventType: "Send", mail: { tags } });
    await tell(world, bounceless);
    expect(JSON.stringify(await wholeTable(world))).toBe(before);
  });

  it.each([
    [
      "delivery",
      { eventType: "Delivery" },
      "sent",
      { state: "delivered", reason: null },
      { delivered: 1, failed: 1, bounced: 0, uncertain: 1 },
    ],
    [
      "bounce",
      { eventType: "Bounce", bounce: { bounceType: "Permanent", bounceSubType: "General", bouncedRecipients: [] } },
      "bounced",
      { state: "bounced", reason: "Permanent: General" },
      { delivered: 0, failed: 1, bounced: 1, uncertain: 1 },
    ],
  ])(
    "a mail without an answer is resolved by a late %s, filters find it, and the numbers follow (AMB-95, AMB-139)",
    async (_, event, state, listed, counts) => {
      const { world, tenant } = await withTenant();
      const { ada, mail } = await mailing(world, tenant);
      const bob = { external_id: "bob", email: "bob@example.com" };
      await tenant.upsert(bob);
      await spoil(world, { channel: "email", outcome: "timeout", times: 2 });
      const { job } = await mail();
      await world.advance(60 * MINUTE);
      const [row] = await ledgerOf(tenant, ada);
      expect(row).toMatchObject({ state: "unknown", reason: "delivery_unconfirmed" });
      const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
      const tags = { tenant: [tenant.id], job: [job.id], subscriber: [ada], at };
      await tell(world, { ...event, mail: { tags } });
      expect(await ledgerOf(tenant, ada)).toMatchObject([{ state }]);
      for (const filter of [`?state=${listed.state}`, `?state=${listed.state}&channel=email`]) {
        const { body } = await tenant.call(`GET /api/v1/notifications/${job.id}/recipients${filter}`);
        expect(body.items).toMatchObject([listed]);
      }
      const { body: record } = await tenant.call(`GET /api/v1/notifications/${job.id}`);
      expect(record).toMatchObject({
        counts,
        uncertain: counts.uncertain,
        fail_reasons: { delivery_unconfirmed: 1 },
        delivered_by_channel: counts.delivered > 0 ? { email: 1 } : {},
      });
      await tell(world, { ...event, mail: { tags } });
      expect((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body.counts).toEqual(record.counts);
    },
  );

  it("an event of an erased subscriber writes nothing (SUB-9, D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { job } = await mail();
    await world.advance(MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(5 * MINUTE);
    const before = JSON.stringify(await wholeTable(world));
    const bounce = { bounceType: "Permanent", bouncedRecipients: [{ emailAddress: "ada@example.com" }] };
    const tags = { tenant: [tenant.id], job: [job.id], subscriber: [ada], at };
    await tell(world, { eventType: "Bounce", mail: { tags }, bounce });
    expect(JSON.stringify(await wholeTable(world))).toBe(before);
  });

  it.each([
    ["before its row", false],
    ["at the moment at which its row is written", true],
  ])("an event that comes %s is recorded in it (D-EMAIL)", async (_, isWrittenMeanwhile) => {
    let afterRefusal: (() => Promise<void>) | undefined;
    let place: string | undefined;
    let isRefused = false;
    const before = async (_service: string, operation: string, input: unknown) => {
      if (!/GetItem$/.test(operation)) return;
      const act = isRefused ? afterRefusal : undefined;
      isRefused ||= place !== undefined && JSON.stringify(input).includes(place);
      if (!act) return;
      afterRefusal = undefined;
      await act();
    };
    const world = await testWorld({ hooks: (name) => (name === "mail-event" ? { before } : {}) });
    const tenant = await world.tenant();
    const { ada, mail } = await mailing(world, tenant);
    const { job } = await mail();
    await world.advance(MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    await tenant.rows.remove({ pk: row!.pk, sk: row!.sk });
    place = String(row!.sk);
    const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
    const bounce = { bounceType: "Permanent", bouncedRecipients: [] };
    const write = () => tenant.rows.put(row!);
    if (isWrittenMeanwhile) afterRefusal = write;
    await tell(world, {
      eventType: "Bounce",
      mail: { tags: { tenant: [tenant.id], job: [job.id], subscriber: [ada], at } },
      bounce,
    });
    expect(afterRefusal).toBeUndefined();
    expect(await ledgerOf(tenant, ada)).toMatchObject(isWrittenMeanwhile ? [{ state: "sent" }] : []);
    if (!isWrittenMeanwhile) await write();
    await world.advance(MINUTE);
    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: "bounced" }]);
  });
});

const bounceless = { eventType: "Bounce", mail: {} };

describe("a newsletter", () => {
  it("sent, opened, clicked, unsubscribed with one click; the next one skips with no_consent (D-EMAIL, F19)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant);
    const body = '<p>Hi {{ subscriber.first_name }}, <a href="https://shop.example.com/sale">see the sale</a></p>';
    const { job, mail: letter } = await mail({ title: "Sale", body });
    expect(job).toMatchObject({ status: "completed", delivered_by_channel: { email: 1 } });
    expect(letter.headers).toMatchObject({ From: `${SES.from_name} <${SES.from_email}>`, Subject: "Sale" });
    await world.advance(MINUTE);
    expect((await follow(world, "GET", letter.pixel)).status).toBe(200);
    await world.advance(5 * SECOND);
    expect((await follow(world, "GET", letter.clicks[0]!)).headers.location).toBe("https://shop.example.com/sale");
    const { recipients } = await interactionTotals(tenant.store, job.id);
    expect(recipients).toMatchObject({ opened: 1, opened_human: 1, clicked: 1 });
    expect((await follow(world, "GET", letter.unsubscribe!)).body).toContain("Unsubscribe");
    expect((await follow(world, "POST", letter.unsubscribe!)).status).toBe(200);
    expect((await consentsOf(tenant, ada)).items).toMatchObject([{ status: "opted_out", source: "unsubscribe" }]);
    const { job: next } = await send(world, tenant, { target: { type: "all" }, channel_ids: [channel] });
    expect(next).toMatchObject({ counts: { delivered: 0, skipped: 1 }, skip_reasons: { no_consent: 1 } });
  });
});
