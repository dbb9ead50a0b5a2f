// Events of SES about sent mails: bounces, complaints, late events; and one newsletter from the send to the next one.
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { interactionTotals } from "../../shared/store/sends/interactions/totals.ts";
import { consentsOf, follow, mailing, SES, tagsOf, tellOfMail as tell } from "../support/mails.ts";
import { send, wholeTable } from "../support/people.ts";
import { ledgerOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A mail that was sent to Ada, the row of it, and events of SES about it. */
async function mailed(email?: string) {
  const { world, tenant } = await withTenant();
  const { ada, mail } = await mailing(world, tenant, email);
  const { job } = await mail();
  await world.advance(MINUTE);
  const tags = await tagsOf(tenant, ada, job.id);
  const bounce = (emailAddress: string, bounceType = "Permanent", timestamp?: string) => ({
    eventType: "Bounce",
    mail: { tags },
    bounce: { bounceType, bounceSubType: "General", bouncedRecipients: [{ emailAddress }], timestamp },
  });
  const consents = async () => (await consentsOf(tenant, ada)).items;
  return { world, tenant, ada, mail, job, tags, bounce, consents };
}

/** A mail whose bounces are told with the time at which they happened: the first one a minute late. */
async function bouncedLate() {
  const { world, tenant, bounce } = await mailed();
  const report = (happened: string) => tell(world, bounce("ada@example.com", "Permanent", happened));
  const suppressions = async () => (await tenant.call("GET /api/v1/suppressions")).body.items;
  const first = timestamp(world.clock.now());
  await world.advance(MINUTE);
  await report(first);
  const lift = async () => {
    const [{ id }] = await suppressions();
    await tenant.call(`DELETE /api/v1/suppressions/${id}?reason=Works`);
  };
  return { world, first, report, suppressions, lift };
}

it("an address is suppressed since its bounce happened, not since it was reported (AMB-129)", async () => {
  const { first, suppressions } = await bouncedLate();

  expect(await suppressions()).toMatchObject([{ suppressed_at: first }]);
});

it("a report of what happened before an operator lifted the address changes nothing (AMB-129)", async () => {
  const { first, report, suppressions, lift } = await bouncedLate();
  await lift();

  await report(first);
  expect(await suppressions()).toEqual([]);
});

it("a bounce after an operator lifted the address suppresses it again (AMB-129)", async () => {
  const { world, report, suppressions, lift } = await bouncedLate();
  await lift();
  await world.advance(MINUTE);

  await report(timestamp(world.clock.now()));
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

  it.each<[what: string, event: object, reason: string]>([
    [
      "a mail whose delivery SES gave up",
      {
        eventType: "Bounce",
        bounce: {
          bounceType: "Transient",
          bounceSubType: "General",
          bouncedRecipients: [{ emailAddress: "ada@example.com", action: "failed", status: "4.4.7" }],
        },
      },
      "Transient: General",
    ],
    [
      "a mail to a full mailbox",
      {
        eventType: "Bounce",
        bounce: {
          bounceType: "Transient",
          bounceSubType: "MailboxFull",
          bouncedRecipients: [{ emailAddress: "ada@example.com" }],
        },
      },
      "Transient: MailboxFull",
    ],
    [
      "a mail in which SES found malware",
      { eventType: "Reject", reject: { reason: "Bad content" } },
      "Reject: Bad content",
    ],
  ])("%s has bounced, and its address is not suppressed (D-EMAIL, AMB-139)", async (_, event, reason) => {
    const { world, tenant, ada, job, tags, consents } = await mailed();

    await tell(world, { ...event, mail: { tags } });

    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: "bounced", reason }]);
    expect((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body.counts).toMatchObject({
      delivered: 0,
      bounced: 1,
    });
    expect(await consents()).toEqual([]);
  });

  it.each<[what: string, subType: string, recipients: object[]]>([
    ["an automatic reply", "General", [{ emailAddress: "ada@example.com" }]],
    ["a report without a recipient", "Undetermined", []],
    ["a report of a delay", "MailboxFull", [{ emailAddress: "ada@example.com", action: "delayed" }]],
  ])("%s says not that the mail is lost (D-EMAIL, AMB-139)", async (_, bounceSubType, bouncedRecipients) => {
    const { world, tenant, ada, tags } = await mailed();
    const bounce = { bounceType: "Transient", bounceSubType, bouncedRecipients };

    await tell(world, { eventType: "Bounce", mail: { tags }, bounce });

    expect(await ledgerOf(tenant, ada)).toMatchObject([{ state: "sent" }]);
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

describe("a newsletter", () => {
  const sent = async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel, mail } = await mailing(world, tenant);
    const body = '<p>Hi {{ subscriber.first_name }}, <a href="https://shop.example.com/sale">see the sale</a></p>';
    const { job, mail: letter } = await mail({ title: "Sale", body });
    await world.advance(MINUTE);
    return { world, tenant, ada, channel, job, letter };
  };

  it("a newsletter is delivered from the sender of its channel (D-EMAIL)", async () => {
    const { job, letter } = await sent();

    expect(job).toMatchObject({ status: "completed", delivered_by_channel: { email: 1 } });
    expect(letter.headers).toMatchObject({ From: `${SES.from_name} <${SES.from_email}>`, Subject: "Sale" });
  });

  it("the opening of a newsletter and a click in it are counted (D-EMAIL, F19)", async () => {
    const { world, tenant, job, letter } = await sent();

    expect((await follow(world, "GET", letter.pixel)).status).toBe(200);
    await world.advance(5 * SECOND);
    expect((await follow(world, "GET", letter.clicks[0]!)).headers.location).toBe("https://shop.example.com/sale");
    const { recipients } = await interactionTotals(tenant.store, job.id);
    expect(recipients).toMatchObject({ opened: 1, opened_human: 1, clicked: 1 });
  });

  it("who unsubscribes from a newsletter with one click is skipped by the next one (D-EMAIL)", async () => {
    const { world, tenant, ada, channel, letter } = await sent();

    expect((await follow(world, "GET", letter.unsubscribe!)).body).toContain("Unsubscribe");
    expect((await follow(world, "POST", letter.unsubscribe!)).status).toBe(200);
    expect((await consentsOf(tenant, ada)).items).toMatchObject([{ status: "opted_out", source: "unsubscribe" }]);

    const { job: next } = await send(world, tenant, { target: { type: "all" }, channel_ids: [channel] });
    expect(next).toMatchObject({ counts: { delivered: 0, skipped: 1 }, skip_reasons: { no_consent: 1 } });
  });
});
