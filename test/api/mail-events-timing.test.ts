// Reports about mails whose answer was lost, and reports that come before their mail is recorded (D-EMAIL, AMB-95).
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { mailing, tagsOf, tellOfMail as tell } from "../support/mails.ts";
import { ledgerOf, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

describe("a mail whose answer was lost", () => {
  const bounced = { bounceType: "Permanent", bounceSubType: "General", bouncedRecipients: [] };
  const fates = {
    delivery: {
      event: { eventType: "Delivery" },
      row: "sent",
      listed: { state: "delivered", reason: null },
      counts: { delivered: 1, failed: 1, bounced: 0, uncertain: 1 },
      delivered_by_channel: { email: 1 },
    },
    bounce: {
      event: { eventType: "Bounce", bounce: bounced },
      row: "bounced",
      listed: { state: "bounced", reason: "Permanent: General" },
      counts: { delivered: 0, failed: 1, bounced: 1, uncertain: 1 },
      delivered_by_channel: {},
    },
  };

  /** Two mails without an answer, of which Ada's is resolved an hour later by an event. */
  const resolved = async (fate: keyof typeof fates) => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    await tenant.upsert({ external_id: "bob", email: "bob@example.com" });
    await spoil(world, { channel: "email", outcome: "timeout", times: 2 });
    const { job } = await mail();
    await world.advance(60 * MINUTE);
    const unresolved = await ledgerOf(tenant, ada);
    const event = { ...fates[fate].event, mail: { tags: await tagsOf(tenant, ada, job.id) } };
    await tell(world, event);
    const read = async (path = "") => (await tenant.call(`GET /api/v1/notifications/${job.id}${path}`)).body;
    return { world, tenant, ada, unresolved, event, read };
  };

  it.each(["delivery", "bounce"] as const)("a late %s resolves the row of the mail (AMB-95, AMB-139)", async (fate) => {
    const { tenant, ada, unresolved } = await resolved(fate);

    expect(unresolved).toMatchObject([{ state: "unknown", reason: "delivery_unconfirmed" }]);
    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: fates[fate].row }]);
  });

  it.each(["delivery", "bounce"] as const)(
    "the recipients of a send are found by the state that a late %s told (AMB-139)",
    async (fate) => {
      const { read } = await resolved(fate);
      const { listed } = fates[fate];

      for (const more of ["", "&channel=email"])
        expect((await read(`/recipients?state=${listed.state}${more}`)).items).toMatchObject([listed]);
    },
  );

  it.each(["delivery", "bounce"] as const)(
    "the numbers of a send follow a late %s, once however often it is told (AMB-95, AMB-139)",
    async (fate) => {
      const { world, event, read } = await resolved(fate);
      const { counts, delivered_by_channel } = fates[fate];
      const expected = { counts, uncertain: 1, fail_reasons: { delivery_unconfirmed: 1 }, delivered_by_channel };

      expect(await read()).toMatchObject(expected);
      await tell(world, event);
      expect(await read()).toMatchObject(expected);
    },
  );

  it("a late bounce takes nobody from those whom the channel reached: its mail was not among them (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const bob = await tenant.upsert({ external_id: "bob", email: "bob@example.com" });
    await spoil(world, { channel: "email", outcome: "timeout", times: 1 });
    const { job } = await mail();
    await world.advance(60 * MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    const lost = row?.state === "unknown" ? ada : bob;

    await tell(world, { ...fates.bounce.event, mail: { tags: await tagsOf(tenant, lost, job.id) } });

    expect((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body).toMatchObject({
      counts: { delivered: 1, failed: 0, bounced: 1 },
      delivered_by_channel: { email: 1 },
    });
  });
});

describe("an event that comes early", () => {
  /** A mail whose row in the ledger is not written yet, and its bounce. */
  const unwritten = async (options: Parameters<typeof withTenant>[0] = {}) => {
    const { world, tenant } = await withTenant(options);
    const { ada, mail } = await mailing(world, tenant);
    const { job } = await mail();
    await world.advance(MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    const tags = await tagsOf(tenant, ada, job.id);
    await tenant.rows.remove({ pk: row!.pk, sk: row!.sk });
    const bounce = { eventType: "Bounce", mail: { tags }, bounce: { bounceType: "Permanent", bouncedRecipients: [] } };
    return { world, sk: row!.sk, write: () => tenant.rows.put(row!), bounce, ledger: () => ledgerOf(tenant, ada) };
  };

  it.each([0, 7])(
    "an event about a mail that comes %d minutes before its row is recorded in it (D-EMAIL)",
    async (n) => {
      const { world, write, bounce, ledger } = await unwritten();
      await tell(world, bounce);
      await world.advance(n * MINUTE);
      await write();

      await world.advance(MINUTE);

      expect(await ledger()).toMatchObject([{ state: "bounced" }]);
    },
  );

  it("an event about a mail that comes while its row is written is recorded in it (D-EMAIL)", async () => {
    const reads = requests({ of: "mail-event", operation: "GetItem" });
    const { world, sk, write, bounce, ledger } = await unwritten({ hooks: reads.hooks });
    // After a read of the row, which does not find it.
    reads.each((input) => {
      if (JSON.stringify(input).includes(sk)) reads.next(write);
    });
    await tell(world, bounce);
    expect(reads.isAwaited()).toBe(false);
    expect(await ledger()).toMatchObject([{ state: "sent" }]);

    await world.advance(MINUTE);

    expect(await ledger()).toMatchObject([{ state: "bounced" }]);
  });
});
