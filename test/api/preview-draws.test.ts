// A send that names its preview holds out the same people and splits the same way.
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { addPeople, inboxOf } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async () => {
  const { world, tenant } = await withTenant();
  const ids = await addPeople(world, tenant, 60);
  const post = async (path: string, body: object) => tenant.call(`POST /api/v1/notifications${path}`, body);
  const body = {
    ...{ target: { type: "all" }, title: "A", body: "a", variant_b: { title: "B", body: "b" } },
    ...{ holdout_percentage: 30, split_percentage: 40 },
  };
  const fates = async (job: string) =>
    Promise.all(
      ids.map(async (id) => {
        const route = `GET /api/v1/notifications/${job}/recipients/${id}`;
        const { held_out, variant_id } = (await tenant.call(route)).body;
        return held_out ? "held out" : variant_id;
      }),
    );
  const sent = async (more: object) => {
    const answer = await post("", { ...body, ...more });
    await world.settle();
    return answer;
  };
  return { world, tenant, post, body, fates, sent };
};

describe("preview_id", () => {
  it("a preview_id gives two sends the same control group and the same arms, and the numbers of the preview (AMB-140)", async () => {
    const { post, body, fates, sent } = await setting();
    const { preview_id, counts } = (await post("/preview", body)).body;
    const [first, second] = [await sent({ preview_id }), await sent({ preview_id })];

    expect(first.body.sent).toBe(counts.sent);
    expect(await fates(first.body.id)).toEqual(await fates(second.body.id));
  });

  it("while a send with a preview_id waits, its explanations say what it will do (AMB-140, F2)", async () => {
    const { world, post, body, fates, sent } = await setting();
    const scheduled_at = timestamp(world.clock.now() + HOUR);
    const { preview_id } = (await post("/preview", { ...body, scheduled_at })).body;
    const { id } = (await sent({ preview_id, scheduled_at })).body;
    const before = await fates(id);
    await world.advance(HOUR);

    expect(before).toEqual(await fates(id));
  });

  it("a preview_id is another draw for each preview, and none for a send without it (AMB-140)", async () => {
    const { post, body, fates, sent } = await setting();
    const all = new Set<string>();
    for (let n = 0; n < 2; n++) {
      const { preview_id } = (await post("/preview", body)).body;
      all.add(JSON.stringify(await fates((await sent({ preview_id })).body.id)));
    }
    all.add(JSON.stringify(await fates((await sent({})).body.id)));

    expect(all.size).toBe(3);
  });

  it("a preview_id keeps its draw in another preview, as for another person's message (AMB-140)", async () => {
    const { post, body } = await setting();
    const first = (await post("/preview", body)).body;
    const again = (await post("/preview", { ...body, preview_id: first.preview_id })).body;

    expect(again.preview_id).toEqual(first.preview_id);
    expect(again.samples).toEqual(first.samples);
  });

  it.each([
    ["of another body", { holdout_percentage: 31 }, 0],
    ["of another text", { title: "C" }, 0],
    ["of other subscribers", { subscriber_filters: { plan: { $eq: "pro" } } }, 0],
    ["of other devices", { device_filters: { timezone: { $eq: "Europe/London" } } }, 0],
    ["of another split", { split_percentage: 41 }, 0],
    ["of another category", { category: "transactional" }, 0],
    ["of a send at another time", { scheduled_at: "2026-12-01T00:00:00Z" }, 0],
    ["that is ten minutes old", {}, 10 * MINUTE],
  ])("%s is refused (AMB-140)", async (_, change, wait) => {
    const { world, post, body } = await setting();
    const { preview_id } = (await post("/preview", body)).body;
    await world.advance(wait);
    const answer = await post("", { ...body, ...change, preview_id });

    expect(answer.status).toBe(422);
    expect(answer.body.fields?.preview_id).toEqual(expect.any(String));
  });

  it("a preview_id of external ids holds while one of their owners is erased (AMB-140)", async () => {
    const { world, tenant, post } = await setting();
    await tenant.upsert({ external_id: "gone" });
    await tenant.upsert({ external_id: "stays" });
    const asked = { external_ids: ["gone", "stays"], title: "A", body: "a", holdout_percentage: 10 };
    const { preview_id } = (await post("/preview", asked)).body;
    const { items } = (await tenant.call("GET /api/v1/subscribers?external_id=gone")).body;
    await tenant.call(`DELETE /api/v1/subscribers/${items[0].id}`);
    await world.settle();

    expect((await post("", { ...asked, preview_id })).status).toBe(201);
  });

  it.each(["nonsense", ""])("a preview_id that nobody made is refused as none: %j (AMB-140)", async (preview_id) => {
    const { post, body } = await setting();
    const refused = await post("", { ...body, preview_id });

    expect(refused.status).toBe(422);
    expect(refused.body.fields).toEqual({ preview_id: "is not the id of a preview" });
  });
});

describe("preview_id of a campaign's release", () => {
  const campaign = async () => {
    const all = await setting();
    const { call } = all.tenant;
    const [channel] = (await call("GET /api/v1/channels")).body.channels;
    const content = { title: "A", body: "a" };
    const audience = { target: { type: "all" }, holdout_percentage: 30 };
    const { id } = (
      await call("POST /api/v1/campaigns", {
        name: "spring",
        ...audience,
        messages: [{ content, channel_ids: [channel.id] }],
      })
    ).body;
    const asked = { ...audience, ...content, channel_ids: [channel.id] };
    const release = (preview_id: string) => call(`POST /api/v1/campaigns/${id}/release?preview_id=${preview_id}`);
    return { ...all, asked, id: String(id), release };
  };

  it("a preview_id of a campaign's release holds out the people of the preview (AMB-140)", async () => {
    const { world, post, asked, release, fates } = await campaign();
    const { preview_id } = (await post("/preview", asked)).body;
    const { status, body } = await release(preview_id);
    await world.settle();
    expect(status).toBe(200);
    const sent = (await post("", { ...asked, preview_id })).body.id;
    await world.settle();
    expect(await fates(body.messages[0].job_id)).toEqual(await fates(sent));
  });

  it("a preview_id of a campaign's release may stand in the body, where nothing unknown may (AMB-140, AMB-116)", async () => {
    const { world, tenant, post, asked, id, fates } = await campaign();
    const { preview_id } = (await post("/preview", asked)).body;
    const release = (body: object) => tenant.call(`POST /api/v1/campaigns/${id}/release`, body);
    expect((await release({ preview: preview_id })).status).toBe(422);
    expect((await release({ preview_id: "none" })).body.fields?.preview_id).toEqual(expect.any(String));
    const { status, body } = await release({ preview_id });
    await world.settle();
    expect(status).toBe(200);
    const sent = (await post("", { ...asked, preview_id })).body.id;
    await world.settle();
    expect(await fates(body.messages[0].job_id)).toEqual(await fates(sent));
  });

  it("a preview_id that is empty releases nothing (AMB-140)", async () => {
    const { tenant, id, release } = await campaign();

    expect((await release("")).body.fields).toEqual({ preview_id: "is not the id of a preview" });
    expect((await tenant.call(`GET /api/v1/campaigns/${id}`)).body.status).toBe("draft");
  });

  it("a preview_id of another body is refused, and the campaign stays a draft (AMB-140)", async () => {
    const { post, asked, release } = await campaign();
    const { preview_id } = (await post("/preview", { ...asked, holdout_percentage: 31 })).body;
    const refused = await release(preview_id);
    expect(refused.status).toBe(422);
    expect(refused.body.fields?.preview_id).toEqual(expect.any(String));
    const own = (await post("/preview", asked)).body.preview_id;
    expect((await release(own)).status).toBe(200);
  });
});

describe("preview_id of a test", () => {
  it("a preview_id of a test gives test subscribers the arm of the send, and nothing to who is held out (AMB-140)", async () => {
    const { world, tenant, post, body, sent } = await setting();
    const ids = (await tenant.call("GET /api/v1/subscribers?limit=60")).body.items.map(({ id }: { id: string }) => id);
    const tested: string[] = ids.slice(0, 20);
    await tenant.call("PATCH /api/v1/workspace", { test_subscriber_ids: tested });
    const { target, holdout_percentage, split_percentage, ...message } = body;
    const { preview_id } = (await post("/preview", body)).body;
    const { id } = (await sent({ preview_id })).body;
    const { deliveries } = (await post("/test", { ...message, preview_id, to: tested })).body;
    const heldOut = deliveries.flatMap((delivery: { subscriber_id: string; reason: string }) =>
      delivery.reason === "held_out" ? [delivery.subscriber_id] : [],
    );
    const fates = await Promise.all(
      tested.map(async (who) => (await tenant.call(`GET /api/v1/notifications/${id}/recipients/${who}`)).body),
    );
    expect(heldOut).toEqual(tested.filter((_, i) => fates[i].held_out));
    expect(heldOut).not.toEqual([]);
    const treated = tested.findIndex((_, i) => fates[i].variant_id === "b");
    const titles = (await inboxOf(world, tenant, tested[treated]!)).map(({ content }) => content.title);
    expect(titles.toSorted()).toEqual(["B", "[Test] B"]);

    const other = await post("/test", { ...message, title: "C", preview_id, to: tested });
    expect(other.status).toBe(422);
    expect(other.body.fields?.preview_id).toEqual(expect.any(String));
    const chosen = await post("/test", { ...message, preview_id, variant: "b", to: tested });
    expect(chosen.status).toBe(422);
    expect(chosen.body.fields?.variant).toEqual(expect.any(String));
  });
});
