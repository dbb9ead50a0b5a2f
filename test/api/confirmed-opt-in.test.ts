// The confirmed opt-in: pending until the owner of the address presses a button on a page that only a mail leads to.
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { follow, mailing, mailsOf } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A workspace whose opt-ins to mail are confirmed. */
async function setting(settings: object = { double_opt_in: true }, email = "ada@example.com") {
  const { world, tenant } = await withTenant();
  const { channel } = await mailing(world, tenant, email);
  const { call } = tenant;
  expect((await call("PATCH /api/v1/workspace", settings)).status).toBe(200);
  const upsert = async (more: object = {}) => (await tenant.upsert({ external_id: "ada", email, ...more })) as string;
  const optIn = (more: object = {}) => upsert({ consent: { channel: "email", status: "opted_in" }, ...more });
  const statusOf = async (id: string, of = "email") =>
    (await call(`GET /api/v1/subscribers/${id}`)).body.consents.find(
      ({ channel: one }: { channel: string }) => one === of,
    )?.status;
  const links = async () => {
    await world.settle();
    return (await mailsOf(world)).flatMap(({ text }) => /\/i\/[\w-]+/.exec(text) ?? []).map(String);
  };
  const news = async (id: string) => {
    const { job } = await send(world, tenant, { subscriberIds: [id], channel_ids: [channel], category: "marketing" });
    await world.advance(MINUTE);
    const { items } = (await call(`GET /api/v1/notifications/${job.id}/recipients`)).body;
    return items[0];
  };
  return { world, tenant, call, channel, upsert, optIn, statusOf, links, news };
}

describe("asking", () => {
  it("an opt-in that must be confirmed is pending, and a mail in the language of the person asks for it (AMB-129)", async () => {
    const { world, optIn, statusOf, links } = await setting();
    const id = await optIn({ locale: "de-AT" });
    expect(await statusOf(id)).toBe("pending");
    expect(await links()).toHaveLength(1);
    const [mail] = await mailsOf(world);
    expect(mail!.text).toContain("Bitte bestätigen Sie");
    expect(mail!.unsubscribe).toBeUndefined();
  });

  it("the mail that asks is not watched: its link is direct, and no picture tells of its opening (AMB-129)", async () => {
    const { world, optIn, links } = await setting();
    await optIn();
    const [link] = await links();
    const [mail] = await mailsOf(world);

    expect(mail!.html).toContain(`${link}"`);
    expect(mail!.html).not.toMatch(/\/[oc]\/[\w-]+/);
  });

  it("an opt-in that need not be confirmed counts at once, and nobody is asked (AMB-129)", async () => {
    const { optIn, statusOf, links } = await setting({ double_opt_in: false });

    expect(await statusOf(await optIn())).toBe("opted_in");
    expect(await links()).toEqual([]);
  });

  it("who has not confirmed gets no marketing mail, whatever the consent mode (AMB-129)", async () => {
    const { optIn, news } = await setting();
    expect(await news(await optIn())).toMatchObject({ state: "skipped", reason: "no_consent" });
  });

  it("an address is asked at most three times in seven days, by however many people (AMB-129)", async () => {
    const { world, optIn, links } = await setting();
    for (const external_id of ["a", "b", "c", "d", "e"]) await optIn({ external_id });
    expect(await links()).toHaveLength(3);
    await world.advance(7 * DAY - MINUTE);
    await optIn({ external_id: "f" });
    expect(await links()).toHaveLength(3);
    await world.advance(2 * MINUTE);
    await optIn({ external_id: "g" });
    expect(await links()).toHaveLength(4);
  });

  it("an opt-in that is stated again asks again, and another change of the person does not (AMB-129)", async () => {
    const { world, optIn, links } = await setting();
    await optIn();
    await world.advance(MINUTE);
    await optIn();
    expect(await links()).toHaveLength(2);
    await optIn({ consent: undefined, attributes: { plan: "pro" } });
    expect(await links()).toHaveLength(2);
  });

  it("who has opted in before is not asked (AMB-129)", async () => {
    const { world, optIn, links, statusOf } = await setting();
    const id = await optIn();
    const [link] = await links();
    await follow(world, "POST", link!);
    await world.advance(MINUTE);
    await optIn();

    expect(await statusOf(id)).toBe("opted_in");
    expect(await links()).toHaveLength(1);
  });

  it("a dashboard's opt-in is pending as well (AMB-129)", async () => {
    const { call, upsert, links } = await setting();
    const id = await upsert();
    const said = await call(`POST /api/v1/subscribers/${id}/consents`, { channel: "email", status: "opted_in" });

    expect(said.status).toBe(201);
    expect(said.body).toMatchObject({ status: "pending", express: true });
    expect(await links()).toHaveLength(1);
  });
});

describe("confirming", () => {
  it("the page behind the mail of an opt-in changes nothing, and its button confirms with a proof (AMB-129)", async () => {
    const { world, call, optIn, statusOf, links, news } = await setting();
    const id = await optIn();
    const [link] = await links();
    const page = await follow(world, "GET", link!);
    expect(page.status).toBe(200);
    expect(await statusOf(id)).toBe("pending");
    const done = await follow(world, "POST", link!);
    expect(done.status).toBe(200);
    expect(await statusOf(id)).toBe("opted_in");
    const [proof] = (await call(`GET /api/v1/subscribers/${id}/consents`)).body.items;
    expect(proof).toMatchObject({
      status: "opted_in",
      express: true,
      source: "confirmed_opt_in",
      evidence: { ip: expect.any(String), text: expect.stringContaining("Press the button") },
    });
    expect(await news(id)).toMatchObject({ state: "delivered" });
  });

  it("who opts out ends what was confirmed: a later opt-in that need not be stays with another address (AMB-129)", async () => {
    const { world, call, upsert, optIn, statusOf, links } = await setting();
    const id = await optIn();
    await follow(world, "POST", (await links())[0]!);
    await call("PATCH /api/v1/workspace", { double_opt_in: false });
    for (const status of ["opted_out", "opted_in"]) {
      await world.advance(MINUTE);
      await call(`POST /api/v1/subscribers/${id}/consents`, { status });
    }
    await world.advance(MINUTE);
    await upsert({ email: "other@example.com" });

    expect(await statusOf(id)).toBe("opted_in");
  });

  it("who unsubscribes by a mail while an opt-in waits to be confirmed has opted out in the history too (AMB-129, AMB-130)", async () => {
    const { world, call, optIn, statusOf, news, upsert } = await setting({});
    const id = await upsert();
    await news(id);
    const [mail] = await mailsOf(world);
    await call("PATCH /api/v1/workspace", { double_opt_in: true });
    await optIn();
    expect(await statusOf(id)).toBe("pending");

    await follow(world, "POST", mail!.unsubscribe!);

    const { items } = (await call(`GET /api/v1/subscribers/${id}/consents`)).body;
    expect(items[0]).toMatchObject({ status: "opted_out", source: "unsubscribe" });
  });

  it("a second confirmation of an opt-in changes nothing (AMB-129)", async () => {
    const { world, call, optIn, links } = await setting();
    const id = await optIn();
    const [link] = await links();
    for (let n = 0; n < 2; n++) expect((await follow(world, "POST", link!)).status).toBe(200);

    expect((await call(`GET /api/v1/subscribers/${id}/consents`)).body.items).toHaveLength(2);
  });

  it.each([
    ["has another address now", async ({ upsert }: Setting) => upsert({ email: "new@example.com" })],
    [
      "has opted out since",
      async ({ call, upsert }: Setting) =>
        call(`POST /api/v1/subscribers/${await upsert()}/consents`, { channel: "email", status: "opted_out" }),
    ],
    ["waited for more than 30 days", async ({ world }: Setting) => world.advance(30 * DAY)],
  ])("a person who %s confirms nothing by an old link (AMB-129)", async (_, change) => {
    const all = await setting();
    const id = await all.optIn();
    const [link] = await all.links();
    await all.world.advance(MINUTE);
    await change(all);
    const before = await all.statusOf(id);
    const page = await follow(all.world, "POST", link!);

    expect(page.status).toBe(200);
    expect(await all.statusOf(id)).toBe(before);
    expect(String(page.body)).toContain("no longer applies");
  });

  it("an erased person confirms nothing (AMB-129)", async () => {
    const { world, call, optIn, links } = await setting();
    const id = await optIn();
    const [link] = await links();
    await call(`DELETE /api/v1/subscribers/${id}`);
    const page = await follow(world, "POST", link!);

    expect(String(page.body)).toContain("no longer applies");
  });

  it("a link to confirm with a changed token, or one of another kind, is 404 (AMB-129)", async () => {
    const { world, optIn, links } = await setting();
    await optIn();
    const [link] = await links();
    const changed = `${link!.slice(0, -4)}AAAA`;
    const { mail } = await mailing(world, await world.tenant());
    await mail();
    await world.advance(MINUTE);
    const unsubscribe = (await mailsOf(world)).find((one) => one.unsubscribe)!.unsubscribe!;
    for (const path of [changed, unsubscribe.replace("/u/", "/i/"), link!.replace("/i/", "/u/")])
      expect((await follow(world, "POST", path)).status).toBe(404);
  });
});

type Setting = Awaited<ReturnType<typeof setting>>;

describe("suppressed addresses", () => {
  const listed = async ({ call }: Setting) => (await call("GET /api/v1/suppressions")).body.items.length;

  it("an address that an operator suppressed is not asked (AMB-129)", async () => {
    const all = await setting();
    await all.call("POST /api/v1/suppressions", { address: "ada@example.com", note: "asked us" });
    await all.optIn();

    expect(await all.links()).toEqual([]);
    expect(await listed(all)).toBe(1);
  });

  it("a confirmation leaves what an operator suppressed after the question (AMB-129)", async () => {
    const all = await setting();
    await all.optIn();
    const [link] = await all.links();
    await all.world.advance(MINUTE);
    await all.call("POST /api/v1/suppressions", { address: "ada@example.com", note: "asked us" });
    await follow(all.world, "POST", link!);

    expect(await listed(all)).toBe(1);
  });

  it.each(["bounce", "complaint"])(
    "an address with a %s is asked, and its confirmation lifts it (AMB-129)",
    async (name) => {
      const all = await setting({ double_opt_in: true }, `${name}@simulator.amazonses.com`);
      const id = await all.upsert();
      const input = { subscriberIds: [id], channel_ids: [all.channel], category: "transactional" };
      await send(all.world, all.tenant, input);
      await all.world.advance(MINUTE);
      expect(await listed(all)).toBe(1);
      await all.optIn();
      const [link] = await all.links();
      await all.world.advance(MINUTE);
      await follow(all.world, "POST", link!);
      expect(await listed(all)).toBe(0);
      expect(await all.statusOf(id)).toBe("opted_in");
    },
  );
});

describe("topics", () => {
  it("nobody is asked about a topic that is deleted when the address changes (AMB-129)", async () => {
    const { world, tenant, call, upsert, links } = await setting({ double_opt_in: false });
    await call("POST /api/v1/topics", { key: "news", name: "News", default: "out", double_opt_in: true });
    const id = await upsert();
    const body = { subscriber_id: id, topics: { news: "opted_in" } };
    await world.call("PUT /v1/preferences", { as: tenant.sdk, body });
    await follow(world, "POST", (await links())[0]!);
    await call("DELETE /api/v1/topics/news");
    await world.advance(MINUTE);
    await upsert({ email: "other@example.com" });

    expect(await links()).toHaveLength(1);
  });

  it("a choice of a topic that asks is pending until it is confirmed (AMB-129)", async () => {
    const { world, tenant, call, upsert, statusOf, links } = await setting({});
    await call("POST /api/v1/topics", { key: "news", name: "News", default: "out", double_opt_in: true });
    const id = await upsert();
    const body = { subscriber_id: id, topics: { news: "opted_in" } };
    const chosen = await world.call("PUT /v1/preferences", { as: tenant.sdk, body });
    expect(chosen.body.topics).toMatchObject([{ key: "news", status: "opted_out" }]);
    const [link] = await links();
    const read = async () =>
      (await world.call(`GET /v1/preferences?subscriber_id=${id}`, { as: tenant.sdk })).body.topics[0].status;
    expect(await read()).toBe("opted_out");
    await follow(world, "POST", link!);
    expect(await read()).toBe("opted_in");
    expect(await statusOf(id)).toBeUndefined();
  });
});
