// Lists whose members confirm first: who is added is pending, and a member once the owner of the address agrees.
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { importing } from "../support/imports.ts";
import { follow, mailing, mailsOf } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const importer = importing({ withTenant });

/** A workspace with a list that asks, and one person who has an address. */
async function setting() {
  const { world, tenant } = await withTenant();
  const { channel } = await mailing(world, tenant, "ada@example.com");
  const { call } = tenant;
  const { body: list } = await call("POST /api/v1/lists", { name: "Letter", double_opt_in: true });
  const upsert = async (email: string) => (await tenant.upsert({ external_id: "ada", email })) as string;
  const ada = await upsert("ada@example.com");
  const add = async () => {
    const { body } = await call(`POST /api/v1/lists/${list.id}/subscribers`, { subscriber_ids: [ada] });
    await world.settle();
    return body;
  };
  const links = async () => (await mailsOf(world)).flatMap(({ text }) => /\/i\/[\w-]+/.exec(text) ?? []).map(String);
  const count = async () => (await call(`GET /api/v1/lists/${list.id}`)).body.subscriber_count;
  const news = async () => {
    const target = { type: "list", list_id: list.id };
    const { job } = await send(world, tenant, { target, channel_ids: [channel], category: "marketing" });
    await world.advance(MINUTE);
    const { items } = (await call(`GET /api/v1/notifications/${job.id}/recipients`)).body;
    return items.map(({ state }: { state: string }) => state);
  };
  return { world, call, list, channel, ada, upsert, add, links, count, news };
}

describe("a list that asks", () => {
  it("a list says that it asks, and one that is made without a word does not (AMB-129)", async () => {
    const { call, list } = await setting();

    expect(list).toMatchObject({ double_opt_in: true, subscriber_count: 0 });
    expect((await call("POST /api/v1/lists", { name: "Plain" })).body.double_opt_in).toBe(false);
  });

  it("a list that asks may be changed to one that does not (AMB-129)", async () => {
    const { call, list } = await setting();

    const { body } = await call(`PATCH /api/v1/lists/${list.id}`, { double_opt_in: false });

    expect(body).toMatchObject({ name: "Letter", double_opt_in: false });
  });

  it("who is added to a list that asks is asked by a mail that names the list, and gets nothing else (AMB-129)", async () => {
    const { world, add, links, count, news } = await setting();
    expect(await add()).toEqual({ added: 0, already_member: 0, pending: 1, not_found: [] });
    const [mail] = await mailsOf(world);
    expect(mail!.text).toContain("Letter");
    expect(await links()).toHaveLength(1);
    expect(await count()).toBe(0);
    expect(await news()).toEqual([]);
  });

  it("the page behind the mail of a list makes no member before its button is pressed (AMB-129)", async () => {
    const { world, add, links, count } = await setting();
    await add();

    await follow(world, "GET", (await links())[0]!);

    expect(await count()).toBe(0);
  });

  it("the button behind the mail of a list makes a member, once, who gets its news (AMB-129)", async () => {
    const { world, add, links, count, news } = await setting();
    await add();
    const [link] = await links();

    for (let n = 0; n < 2; n++) await follow(world, "POST", link!);

    expect(await count()).toBe(1);
    expect(await news()).toEqual(["delivered"]);
  });

  it("who is removed before the answer joins by no link of before (AMB-129, D-LIST)", async () => {
    const { world, call, list, ada, add, links, count } = await setting();
    await add();
    const [link] = await links();

    const { body } = await call(`POST /api/v1/lists/${list.id}/subscribers/remove`, { subscriber_ids: [ada] });
    await follow(world, "POST", link!);

    expect(body).toEqual({ removed: 1, not_found: [] });
    expect(await count()).toBe(0);
    expect(await add()).toMatchObject({ pending: 1 });
  });

  it("a member who confirmed a list has a proof of it (AMB-129)", async () => {
    const { world, call, ada, list, add, links } = await setting();
    await add();

    await follow(world, "POST", (await links())[0]!);

    const { items } = (await call(`GET /api/v1/subscribers/${ada}/consents`)).body;
    const proof = { channel: `list:${list.id}`, status: "opted_in", source: "confirmed_opt_in" };
    expect(items).toContainEqual(expect.objectContaining(proof));
  });

  it("who confirmed a list before is a member at once (AMB-129)", async () => {
    const { world, call, ada, list, add, links } = await setting();
    await add();
    await follow(world, "POST", (await links())[0]!);
    await call(`POST /api/v1/lists/${list.id}/subscribers/remove`, { subscriber_ids: [ada] });

    expect(await add()).toMatchObject({ added: 1, pending: 0 });
    expect(await links()).toHaveLength(1);
  });

  it("who opts out of SMS meanwhile joins by the link all the same (AMB-129)", async () => {
    const { world, call, ada, add, links, count } = await setting();
    await add();
    await call(`POST /api/v1/subscribers/${ada}/consents`, { channel: "sms", status: "opted_out" });

    await follow(world, "POST", (await links())[0]!);

    expect(await count()).toBe(1);
  });

  it("a member who gets another address is none until its owner confirms (AMB-129)", async () => {
    const { world, upsert, add, links, count } = await setting();
    await add();
    await follow(world, "POST", (await links())[0]!);
    await world.advance(MINUTE);
    await upsert("other@example.com");
    await world.settle();
    expect(await count()).toBe(0);
    expect(await links()).toHaveLength(2);
    await follow(world, "POST", (await links())[1]!);
    expect(await count()).toBe(1);
  });

  it("a message that waits does not go to a member who is to confirm another address meanwhile (AMB-129)", async () => {
    const { world, call, upsert, add, links, news } = await setting();
    await add();
    await follow(world, "POST", (await links())[0]!);
    const quiet_hours = { start: "10:00", end: "23:00", timezone_mode: "workspace" };
    await call("PATCH /api/v1/workspace", { quiet_hours });
    expect(await news()).toEqual(["deferred"]);

    await upsert("other@example.com");
    await world.advance(DAY);

    const toOther = (await mailsOf(world)).filter(({ to }) => to === "other@example.com");
    expect(toOther.map(({ text }) => /\/i\/[\w-]+/.test(text))).toEqual([true]);
  });

  it("the link of a list that is deleted says so, and makes no member (AMB-129)", async () => {
    const { world, call, list, ada, add, links } = await setting();
    await add();
    await call(`DELETE /api/v1/lists/${list.id}`);
    const [link] = await links();
    for (const method of ["GET", "POST"] as const) {
      const { status, body } = await follow(world, method, link!);
      expect([status, body]).toEqual([200, expect.stringContaining("no longer applies")]);
    }

    expect((await call(`GET /api/v1/subscribers/${ada}`)).body.lists).toEqual([]);
  });

  it("an import into a list that asks has a proof or asks, and asks once (AMB-129)", async () => {
    const { world, tenant, run, members, list } = await importer();
    await mailing(world, tenant, "x@example.com");
    await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });
    const file =
      "external_id,email,consent_status,consent_at\np,p@example.com,subscribed,2025-01-01\nq,q@example.com,subscribed,\n";
    await run(file);
    await run(file);
    await world.settle();

    expect((await members()).map(({ external_id }) => external_id)).toEqual(["p"]);
    expect((await mailsOf(world)).filter(({ text }) => text.includes("/i/"))).toHaveLength(1);
  });

  it("what an import says of a list that asks names the import (AMB-129, D-CONSENT)", async () => {
    const { world, tenant, run, list } = await importer();
    await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });
    const { import_job_id } = await run(
      "external_id,email,consent_status,consent_at\np,p@example.com,subscribed,2025-01-01\nq,q@example.com,subscribed,\n",
    );
    await world.settle();

    for (const [name, status] of [
      ["p", "opted_in"],
      ["q", "pending"],
    ]) {
      const [subscriber] = (await tenant.call(`GET /api/v1/subscribers?external_id=${name}`)).body.items;
      const { items } = (await tenant.call(`GET /api/v1/subscribers/${subscriber.id}/consents`)).body;
      const [said] = items.filter(({ channel }: { channel: string }) => channel === `list:${list}`);
      expect(said).toMatchObject({ status, evidence: { import_job_id } });
    }
  });

  it("who has to confirm a list again is explained as out of the reach of its sends now (F2, AMB-129)", async () => {
    const { world, call, ada, add, links, upsert, list, channel } = await setting();
    await add();
    await follow(world, "POST", (await links())[0]!);
    await upsert("victim@example.com");
    const target = { type: "list", list_id: list.id };
    const { id } = (await call("POST /api/v1/notifications", { title: "A", body: "b", target, channel_ids: [channel] }))
      .body;

    const { now } = (await call(`GET /api/v1/notifications/${id}/recipients/${ada}`)).body;

    expect(now.channels).toMatchObject([{ channel: "email", reachable: false, reason: "no_consent" }]);
  });

  it("a send between the change of an address and the end of the membership reaches nobody by it (AMB-129)", async () => {
    const { world, call, ada, add, links, upsert, list, channel } = await setting();
    await add();
    await follow(world, "POST", (await links())[0]!);
    // The change of the address is written, and no worker has looked yet.
    await upsert("victim@example.com");
    const target = { type: "list", list_id: list.id };
    const sent = await call("POST /api/v1/notifications", { title: "A", body: "b", target, channel_ids: [channel] });
    const { items } = (await call(`GET /api/v1/notifications/${sent.body.id}/recipients`)).body;
    expect(items).toMatchObject([{ subscriber_id: ada, state: "skipped", reason: "no_consent" }]);
    await world.settle();
    expect(
      (await mailsOf(world)).filter(({ to, text }) => to === "victim@example.com" && !text.includes("/i/")),
    ).toEqual([]);
  });

  it.each([
    ["who opted out before", "e,e@example.com,no,\n"],
    ["who opts out in another row of it", ""],
    ["whose address is suppressed", "f,e@example.com,bounced,\n"],
  ])("an import proves nothing of %s (AMB-129, AMB-132)", async (kind, before) => {
    const { world, tenant, run, members, list } = await importer();
    await mailing(world, tenant, "x@example.com");
    const header = "external_id,email,consent_status,consent_at\n";
    if (before)
      await run(header + before, { listId: (await tenant.call("POST /api/v1/lists", { name: kind })).body.id });
    await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });
    const more = before ? "" : "e,e@example.com,no,\n";
    await run(`${header}e,e@example.com,subscribed,2025-01-01\n${more}`);

    expect(await members()).toEqual([]);
  });
});
