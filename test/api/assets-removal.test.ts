// Images for in-app content (AST-4): removal, and uploads that are interrupted.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { ask, list, objects, remove, storedBytes, upload } from "../support/assets.ts";
import { outsideAudit, wholeTable } from "../support/people.ts";
import { pictures } from "../support/pictures.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const notNow = awsFailure("AccessDenied", "Not now.", { status: 403 });

describe("delete", () => {
  const withRemoved = async () => {
    const { world, tenant } = await withTenant();
    const removed = (await upload(world, tenant, { file: pictures.png })).body;
    const kept = (await upload(world, tenant, { file: pictures.gif })).body;
    expect((await remove(tenant, removed.id)).status).toBe(204);
    await world.settle();
    return { world, tenant, removed, kept };
  };

  it("a removed asset is not listed, and its bytes do not count (AST-4)", async () => {
    const { tenant, kept } = await withRemoved();

    expect((await list(tenant)).body.items.map((asset: { id: string }) => asset.id)).toEqual([kept.id]);
    expect(await storedBytes(tenant)).toBe(pictures.gif.length);
  });

  it("the URL of a removed asset is gone with its object (AST-4)", async () => {
    const { world, removed, kept } = await withRemoved();

    expect((await ask(world, removed.url)).status).toBe(404);
    expect((await ask(world, kept.url)).status).toBe(200);
    expect(await objects(world)).toHaveLength(1);
  });

  it("nothing names a removed asset any more, but for the audit trail (AST-4)", async () => {
    const { world, removed } = await withRemoved();
    await world.advance(16 * MINUTE);

    expect(JSON.stringify(outsideAudit(await wholeTable(world)))).not.toContain(removed.id);
  });

  it("the object of a removed asset is gone before the answer, although no worker has run (AST-4, AMB-118)", async () => {
    const { world, tenant } = await withTenant();
    const { id, url } = (await upload(world, tenant, { file: pictures.png })).body;
    await world.settle();

    expect((await remove(tenant, id)).status).toBe(204);
    expect((await ask(world, url)).status).toBe(404);
    expect(await objects(world)).toEqual([]);
  });

  it("of two concurrent removals of an asset one is 204 and one 404, and its bytes are returned once (AST-4)", async () => {
    const { world, tenant } = await withTenant();
    const { id } = (await upload(world, tenant, { file: pictures.png })).body;
    const both = await Promise.all([remove(tenant, id), remove(tenant, id)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
    await world.settle();
    expect(await storedBytes(tenant)).toBe(0);
  });

  it("the removal of an asset is not confirmed while S3 fails, and the worker removes the object (AST-4, AMB-118)", async () => {
    const removal = requests({ service: "s3", operation: "DeleteObject" });
    removal.each(() => {
      if (removal.seen() <= 2) throw notNow;
    });
    const { world, tenant } = await withTenant({ hooks: removal.hooks });
    const { id } = (await upload(world, tenant, { file: pictures.png })).body;
    expect((await remove(tenant, id)).status).toBe(500);
    expect((await list(tenant)).body.total).toBe(0);
    await world.advance(30 * MINUTE);
    expect(await objects(world)).toEqual([]);
  });

  it("a repeated removal of an asset removes the object that the first could not (AST-4, AMB-118)", async () => {
    const removal = requests({ service: "s3", operation: "DeleteObject" });
    removal.fail(notNow);
    const { world, tenant } = await withTenant({ hooks: removal.hooks });
    const { id, url } = (await upload(world, tenant, { file: pictures.png })).body;
    expect((await remove(tenant, id)).status).toBe(500);
    removal.pass();
    expect((await remove(tenant, id)).status).toBe(404);
    expect((await ask(world, url)).status).toBe(404);
  });
});

describe("an interrupted upload", () => {
  it.each(["before", "after"] as const)(
    "an upload that fails %s its object is written is not listed, and is removed (AST-2)",
    async (when) => {
      const writing = requests({ service: "s3", operation: "PutObject", moment: when });
      writing.fail(Object.assign(new Error("socket hang up"), { code: "ECONNREFUSED", name: "Broken" }));
      const { world, tenant } = await withTenant({ hooks: writing.hooks });
      expect((await upload(world, tenant, { file: pictures.png })).status).toBe(503);
      expect((await list(tenant)).body).toMatchObject({ items: [], total: 0 });
      expect(await storedBytes(tenant)).toBe(pictures.png.length);
      await world.advance(20 * MINUTE);
      expect(await objects(world)).toEqual([]);
      expect(await storedBytes(tenant)).toBe(0);
      const rows = await wholeTable(world);
      expect(rows.filter(({ pk }) => String(pk.S).endsWith("#asset"))).toEqual([]);
    },
  );
});
