// Mails of more than 100 KB that S3 does not give: it fails, it hangs, or the object is gone (CHC-1, docs/decisions/0104).
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { ContentItem, JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { withChannels } from "../support/content.ts";
import { contentOf, htmlOf, large, mailsIn } from "../support/large-mails.ts";
import { outboxOf } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const LEFT_OUT = ["by_channel.email.html", "by_channel.email.design"];
const leftOut = { ...contentOf({ subject: "Spring" }), left_out: LEFT_OUT };
const other = contentOf({ subject: "May", html: htmlOf(150_000, "OTHER") });

/** A workspace whose functions read S3, or do not. */
async function setting(of?: string) {
  const reads = requests({ ...(of && { of }), service: "s3", operation: "GetObject" });
  const world = await fresh({ hooks: reads.hooks });
  const found = await withChannels(async () => ({ world, tenant: await world.tenant() }), "email");
  const { call, ids, ada } = found;
  const toAda = { subscriberIds: [ada], channel_ids: [ids.email] };
  /** One-off sends that are delivered together, with what they say. */
  const sendAll = async (...contents: object[]) => {
    const sent = contents.map(async (content) => call("POST /api/v1/notifications", { ...toAda, content }));
    return (await Promise.all(sent)).map(({ body }) => body.id as string);
  };
  const job = async (id = "") => (await call(`GET /api/v1/notifications/${id}`)).body;
  const subjects = async () => (await outboxOf(world, "?channel=email")).map(({ title }) => title).sort();
  return { ...found, reads, sendAll, job, subjects };
}

async function forget(world: TestWorld, isMeant = (_: string) => true): Promise<void> {
  for (const Key of await mailsIn(world))
    if (isMeant(Key)) await world.s3.operate("DeleteObject", { Bucket: world.env.ASSETS_BUCKET, Key });
}

describe("sends that are delivered together", () => {
  it("arrive but for the one whose mail is gone, which fails as one that cannot be rendered (CHC-1)", async () => {
    const { world, sendAll, job, subjects } = await setting();
    const [id] = await sendAll(other);
    await forget(world);

    await sendAll(large, contentOf({ subject: "Short", text: "S" }));
    await world.settle();

    expect(await subjects()).toEqual(["Short", "Spring"]);
    expect(await job(id)).toMatchObject({
      status: "failed",
      fail_reasons: { template_error: 1 },
    });
  });

  it("arrive but for the one whose content is not stored any more (D-NTF-STATE)", async () => {
    const { tenant, world, sendAll, subjects } = await setting();
    const [id = ""] = await sendAll(contentOf({ subject: "Gone", text: "G" }));
    const { content } = (await tenant.store.get(JobItem, { job: id })) ?? {};
    await tenant.store.remove(ContentItem, { hash: String(content) });

    await sendAll(contentOf({ subject: "Short", text: "S" }));
    await world.settle();

    expect(await subjects()).toEqual(["Short"]);
  });

  it("arrive at once but for the one whose mail S3 does not give now, which arrives once later (CHC-1)", async () => {
    const { world, reads, sendAll, subjects } = await setting("deliver");
    reads.fail();
    await sendAll(large, contentOf({ subject: "Short", text: "S" }));
    await world.settle();
    expect(await subjects()).toEqual(["Short"]);

    reads.pass();
    await world.advance(60 * 60 * SECOND);

    expect(await subjects()).toEqual(["Short", "Spring"]);
  });
});

describe("a template with a large mail", () => {
  /** Its function has read eight others since, and so has its text no more. */
  const stored = async () => {
    const found = await setting();
    const { call } = found;
    const { id } = (await call("POST /api/v1/templates", { name: "Spring", content: large })).body;
    for (let n = 0; n < 8; n++)
      await call("POST /api/v1/templates", { name: `${n}`, content: contentOf({ html: htmlOf(110_000, `${n}`) }) });
    return { ...found, id, path: `GET /api/v1/templates/${id}` };
  };

  it("is changed while S3 gives nothing, and the answer leaves out its mail and says so (TPL-6)", async () => {
    const { reads, call, id, path } = await stored();
    reads.fail();
    const changed = await call(`PATCH /api/v1/templates/${id}`, { content: { title: "May" } });
    reads.pass();

    expect([changed.status, changed.body.content]).toEqual([200, { ...leftOut, title: "May" }]);
    expect((await call(path)).body.content).toEqual({ ...large, title: "May" });
  });

  it("is shown without its mail where that is gone, and gets another (TPL-4)", async () => {
    const { world, call, id, path } = await stored();
    await forget(world);

    const shown = await call(path);
    await call(`PATCH /api/v1/templates/${id}`, { content: other });

    expect([shown.status, shown.body.content]).toEqual([200, leftOut]);
    expect((await call(path)).body.content).toEqual(other);
  });

  it("is not stored without its mail by who sends back what is shown where that is gone (TPL-6, AMB-115)", async () => {
    const { world, call, path, id } = await stored();
    await forget(world);
    const { body: shown } = await call(path);

    const { status, body } = await call(`PATCH /api/v1/templates/${id}`, { ...shown, name: "May" });

    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, ["content.left_out"]]);
    expect((await call(path)).body).toEqual(shown);
  });

  it("is a 503 where S3 does not answer in time (TPL-4)", async () => {
    const { world, reads, call, path } = await stored();
    reads.each(() => new Promise(() => undefined));

    const asked = call(path);
    await expect.poll(reads.seen).toBe(1);
    await world.advance(5 * SECOND);

    expect((await asked).status).toBe(503);
  });
});

it("a large mail that was given is in the answer without a read (CMP-3, TPL-6)", async () => {
  const { reads, call, ids } = await setting();

  const created = await call("POST /api/v1/campaigns", { name: "S", content: large, channel_ids: [ids.email] });
  const { id } = (await call("POST /api/v1/templates", { name: "Spring", content: other })).body;
  const changed = await call(`PATCH /api/v1/templates/${id}`, { content: large });

  expect([created.body.content, changed.body.content]).toEqual([large, large]);
  expect(reads.seen()).toBe(0);
});
