// Events of SES about sent mails: bounces, complaints, late events; and one newsletter from the send to the next one.
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { consentsOf, follow, mailing, SES, tellOfMail as tell } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import { ledgerOf, spoil } from "../support/reached.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A mail that was sent to Ada, the row of it, and events of SES about it. */
async function mailed(email?: string) {
  const { world, tenant } = await withTenant();
  const { ada, mail } = await mailing(world, tenant, email);
  const { job } = await mail();
  await world.advance(MINUTE);
  const tags = await tagsOf(tenant, ada, job.id);
  const bounce = (emailAddress: string, bounceType = "Permanent") => ({
    eventType: "Bounce",
    mail: { tags },
    bounce: { bounceType, bounceSubType: "General", bouncedRecipients: [{ emailAddress }] },
  });
  const consents = async () => (await consentsOf(tenant, ada)).items;
  return { world, tenant, ada, mail, job, tags, bounce, consents };
}

/** What SES is given with a mail, and gives back with its events. */
async function tagsOf(tenant: Tenant, subscriber: string, job: string) {
  const [row] = await ledgerOf(tenant, subscriber);
  const at = String(Date.parse(String(row!.sk).split("#")[1]!));
  return { tenant: [tenant.id], job: [job], subscriber: [subscriber], at: [at] };
}

it("a report of what happened before an operator lifted the address changes nothing, a later one does (AMB-129)", async () => {
  const { world, tenant, bounce } = await mailed();
  const reported = (happened: string) => {
    const event = bounce("ada@example.com");
    return tell(world, { ...event, bounce: { ...event.bounce, timestamp: happened } });
  };
  const suppressions = async () => (await tenant.call("GET /api/v1/suppressions")).body.items;
  const first = timestamp(world.clock.now());
  await world.advance(MINUTE);
  await reported(first);
  const [{ id, suppressed_at }] = await suppressions();
  expect(suppressed_at).toBe(first);

  await tenant.call(`DELETE /api/v1/suppressions/${id}?reason=Works`);
  await reported(first);
  expect(await suppressions()).toEqual([]);

  await world.advance(MINUTE);
  await reported(timestamp(world.clock.now()));
  expect(await suppressions()).toHaveLength(1);
});

describe("bounces and complaints", () => {
  const cases = [
    ["bounce", "bounced", "bounced", "Permanent: General"],
    ["complaint", "sent", "delivered", null],
  ] as const;

  it.each(cases)("a %s suppresses the address for every category (D-EMAIL)", async (fate) => {
    const { mail, consents } = await mailed(`${fate}@simulator.amazonses.com`);

    expect(await consents()).toMatchObject([{ channel: "email", status: "suppressed", source: fate }]);
    for (const category of ["marketing", "transactional"])
      expect((await mail({ category })).job.skip_reasons).toEqual({ suppressed: 1 });
  });

  it.each(cases)(
    "a %s leaves the row of its mail %s, and the recipient is explained as %s: %s (D-EMAIL)",
    async (fate, state, explained, reason) => {
      const { tenant, ada, job } = await mailed(`${fate}@simulator.amazonses.com`);

      expect(await ledgerOf(tenant, ada)).toMatchObject([{ state, job: job.id }]);
      const { body } = await tenant.call(`GET /api/v1/notifications/${job.id}/recipients/${ada}`);
      expect(body).toMatchObject({ state: explained, reason });
    },
  );

  it("a bounce that may pass is noted, and suppresses nothing (D-EMAIL)", async () => {
    const { world, tenant, ada, bounce, consents } = await mailed();

    await tell(world, bounce("ada@example.com", "Transient"));

    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: "sent", bounce: "Transient: General" }]);
    expect(await consents()).toEqual([]);
  });

  it("a bounce of an address that was changed since suppresses nothing (D-EMAIL)", async () => {
    const { world, bounce, consents } = await mailed();

    await tell(world, bounce("old@example.com"));

    expect(await consents()).toEqual([]);
  });

  it("a bounce suppresses the address whatever the case of its letters (D-EMAIL)", async () => {
    const { world, bounce, consents } = await mailed();

    await tell(world, bounce("ADA@example.com"));

    expect(await consents()).toMatchObject([{ status: "suppressed" }]);
  });

  it.each<[what: string, event: (at: Awaited<ReturnType<typeof mailed>>) => object]>([
    ["a repeated bounce", ({ bounce }) => bounce("ada@example.com")],
    ["a delivery", ({ tags }) => ({ eventType: "Delivery", mail: { tags } })],
    ["a send", ({ tags }) => ({ eventType: "Send", mail: { tags } })],
    ["a bounce of no mail", () => ({ eventType: "Bounce", mail: {} })],
  ])("%s that comes after a bounce changes nothing (D-EMAIL)", async (_, event) => {
    const found = await mailed();
    await tell(found.world, found.bounce("ada@example.com"));
    const before = JSON.stringify(await wholeTable(found.world));

    await tell(found.world, event(found));

    expect(JSON.stringify(await wholeTable(found.world))).toBe(before);
  });

  it("an event of an erased subscriber writes nothing (SUB-9, D-EMAIL)", async () => {
    const { world, tenant, ada, bounce } = await mailed();
    await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
    await world.advance(5 * MINUTE);
    const before = JSON.stringify(await wholeTable(world));

    await tell(world, bounce("ada@example.com"));

    expect(JSON.stringify(await wholeTable(world))).toBe(before);
  });
});

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
});

describe("an event that comes early", () => {
  it.each([
    ["before its row", false],
    ["at the moment at which its row is written", true],
  ])("an event about a mail that comes %s is recorded in it (D-EMAIL)", async (_, isWrittenMeanwhile) => {
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
    const { world, tenant } = await withTenant({ hooks: (name) => (name === "mail-event" ? { before } : {}) });
    const { ada, mail } = await mailing(world, tenant);
    const { job } = await mail();
    await world.advance(MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    const tags = await tagsOf(tenant, ada, job.id);
    await tenant.rows.remove({ pk: row!.pk, sk: row!.sk });
    place = String(row!.sk);
    const bounce = { bounceType: "Permanent", bouncedRecipients: [] };
    const write = () => tenant.rows.put(row!);
    if (isWrittenMeanwhile) afterRefusal = write;

    await tell(world, { eventType: "Bounce", mail: { tags }, bounce });

    expect(afterRefusal).toBeUndefined();
    expect(await ledgerOf(tenant, ada)).toMatchObject(isWrittenMeanwhile ? [{ state: "sent" }] : []);
    if (!isWrittenMeanwhile) await write();
    await world.advance(MINUTE);
    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: "bounced" }]);
  });
});

describe("a newsletter", () => {
  it("a newsletter is opened, clicked and unsubscribed from with one click, and the next one skips its reader (D-EMAIL, F19)", async () => {
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
