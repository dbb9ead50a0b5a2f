// Images for in-app content (AST-1 to AST-3): uploads, public URLs, quotas and the list.
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { AssetTotals } from "../../shared/store/experiences/asset-items.ts";
import { type AssetForm, ask, list, objects, remove, storedBytes, upload } from "../support/assets.ts";
import { hostileFiles } from "../support/hostile-files.ts";
import { quickStore } from "../support/people.ts";
import { pictures } from "../support/pictures.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const MB = 1_048_576;

/** An image of exactly this size: bytes after its end are ignored. */
const pictureOf = (bytes: number) => Buffer.concat([pictures.png, Buffer.alloc(bytes - pictures.png.length)]);

describe("upload", () => {
  it.each([
    ["png", "image/png", "png"],
    ["gif", "image/gif", "gif"],
    ["webp", "image/webp", "webp"],
    ["jpeg", "image/jpeg", "jpg"],
  ] as const)(
    "takes a %s: 201 with exactly the asset's fields (AST-1, AST-2)",
    async (kind, content_type, extension) => {
      const { world, tenant } = await withTenant();
      const bytes = pictures[kind];
      const { status, body } = await upload(world, tenant, {
        file: { bytes, filename: "Sale banner.bin", type: "text/html" },
      });
      expect([status, body]).toEqual([
        201,
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          filename: "Sale banner.bin",
          content_type,
          size_bytes: bytes.length,
          url: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1/assets/[\\w-]{22}\\.${extension}$`)),
          created_at: new Date(START).toISOString(),
        },
      ]);
      const seen = await ask(world, body.url);
      expect([seen.status, seen.headers["content-type"], seen.body.equals(bytes)]).toEqual([200, content_type, true]);
    },
  );

  it("the URL is immutable and random, served as an image and never executed (AST-1)", async () => {
    const { world, tenant } = await withTenant();
    const [first, second] = [
      (await upload(world, tenant, { file: pictures.png })).body,
      (await upload(world, tenant, { file: pictures.png })).body,
    ];
    expect(first.url).not.toBe(second.url);
    const { headers } = await ask(world, first.url);
    expect(headers).toMatchObject({
      "cache-control": "public, max-age=60, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "cross-origin",
    });
    const again = await ask(world, first.url, "GET", { "if-none-match": String(headers.etag) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const part = await ask(world, first.url, "GET", { range: "bytes=1-3" });
    expect([part.status, part.body.toString()]).toEqual([206, "PNG"]);
    const head = await ask(world, first.url, "HEAD");
    expect([head.status, head.headers["content-type"]]).toEqual([200, "image/png"]);
  });

  it("E20 the assets path is read-only and serves only assets", async () => {
    const { world, tenant } = await withTenant();
    const { url } = (await upload(world, tenant, { file: pictures.png })).body;
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) expect((await ask(world, url, method)).status).toBe(403);
    for (const path of ["/assets/", "/assets/none.png", "/assets/%2e%2e/x", "/assets/?list-type=2"])
      expect([path, (await ask(world, path)).status]).toEqual([path, 404]);
    expect((await ask(world, "/assets/%zz")).status).toBe(400);
    expect((await ask(world, url)).status).toBe(200);
  });

  it.each(hostileFiles.map(({ about, bytes }) => [about, bytes] as const))(
    "refuses %s with 400, whatever it is called (AST-2, AMB-102)",
    async (_, bytes) => {
      const { world, tenant } = await withTenant();
      const { status, body } = await upload(world, tenant, { file: { bytes, filename: "a.png", type: "image/png" } });
      expect([status, body.code, Object.keys(body.fields)]).toEqual([400, "BAD_REQUEST", ["file"]]);
      expect(await objects(world)).toEqual([]);
    },
  );

  it("accepts 4,194,304 bytes; one more, or many more, is 400 (ARC-2, AST-2, AMB-83)", async () => {
    const { world, tenant } = await withTenant();
    expect((await upload(world, tenant, { file: pictureOf(4 * MB) })).status).toBe(201);
    for (const size of [4 * MB + 1, 12 * MB]) {
      const { status, body } = await upload(world, tenant, { file: pictureOf(size) });
      expect([size, status, body.code, body.fields]).toEqual([size, 400, "BAD_REQUEST", { file: "is too large" }]);
    }
    expect(await storedBytes(tenant)).toBe(4 * MB);
  });

  it("a body without its one file part is 400 (AST-2)", async () => {
    const { world, tenant } = await withTenant();
    const named: [string, AssetForm][] = [
      ["file", {}],
      ["file", { picture: pictures.png }],
      ["surprise", { surprise: { bytes: "x" }, file: pictures.png }],
    ];
    for (const [field, parts] of named) {
      const { status, body } = await upload(world, tenant, parts);
      expect([status, body.code, Object.keys(body.fields ?? {})]).toEqual([400, "BAD_REQUEST", [field]]);
    }
    expect(await upload(world, tenant, { file: pictures.png, other: pictures.gif })).toMatchObject({ status: 400 });
    expect((await tenant.call("POST /api/v1/in-app/assets", { file: "x" })).status).toBe(400);
    expect((await list(tenant)).body.total).toBe(0);
  });

  it.each([
    ["C:\\pictures\\a.png", "a.png"],
    ["../../etc/passwd", "passwd"],
    ["a\u202egnp.exe", "agnp.exe"],
    ["größe 😀.png", "größe 😀.png"],
    ["", "image.png"],
    [`${"x".repeat(300)}.png`, `${"x".repeat(251)}.png`],
  ])("keeps the displayable part of the name %j: %j (AST-1)", async (filename, kept) => {
    const { world, tenant } = await withTenant();
    const { status, body } = await upload(world, tenant, { file: { bytes: pictures.png, filename } });
    expect([status, body.filename]).toEqual([201, kept]);
  });
});

describe("quota", () => {
  it("stored bytes are counted exactly: an upload beyond the quota is 429 and stores nothing (AMB-40, D-PLAN)", async () => {
    const { world, tenant } = await withTenant({ plan: "starter" });
    const quota = 1_024 * MB;
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: quota - 1_000, assets: 1, changes: 1 });
    const fits = await upload(world, tenant, { file: pictureOf(1_000) });
    expect(fits.status).toBe(201);
    const { status, body } = await upload(world, tenant, { file: pictures.png });
    expect([status, body.code]).toEqual([429, "QUOTA_EXCEEDED"]);
    expect(body.message).toContain(`${quota} of ${quota}`);
    expect(await objects(world)).toHaveLength(1);
    expect((await remove(tenant, fits.body.id)).status).toBe(204);
    expect(await storedBytes(tenant)).toBe(quota - 1_000);
    expect((await upload(world, tenant, { file: pictures.png })).status).toBe(201);
  });

  it("concurrent uploads cannot exceed the quota together (AMB-40)", async () => {
    const { world, tenant } = await withTenant({ plan: "starter" });
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: 1_024 * MB - 3_500, assets: 1, changes: 1 });
    const race = await Promise.all(Array.from({ length: 6 }, () => upload(world, tenant, { file: pictureOf(1_000) })));
    expect(race.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429]);
  });

  it("docs/decisions/0021#page-lists the asset after the 10,000th is refused", async () => {
    const { world, tenant } = await withTenant();
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: 1, assets: 9_999, changes: 1 });
    expect((await upload(world, tenant, { file: pictures.png })).status).toBe(201);
    expect(await upload(world, tenant, { file: pictures.png })).toMatchObject({
      status: 429,
      body: { code: "QUOTA_EXCEEDED" },
    });
  });
});

describe("list", () => {
  it("pages newest first with a total; page_size is clamped to 100, and 0 is 400 (AST-3)", async () => {
    const { world, tenant } = await withTenant();
    const made: string[] = [];
    for (let n = 0; n < 23; n++) {
      made.unshift((await upload(world, tenant, { file: pictures.gif })).body.id);
      await world.advance(SECOND);
    }
    const pages = [await list(tenant), await list(tenant, "?page=2")];
    expect(pages.map(({ body: { total, page, page_size, items } }) => [total, page, page_size, items.length])).toEqual([
      [23, 1, 20, 20],
      [23, 2, 20, 3],
    ]);
    expect(pages.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id))).toEqual(made);
    expect(Object.keys(pages[0]!.body).sort()).toEqual(["items", "page", "page_size", "total"]);
    expect((await list(tenant, "?page_size=500")).body.page_size).toBe(100);
    for (const query of ["?page_size=0", "?page=0", "?page=x"]) {
      const { status, body } = await list(tenant, query);
      expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    }
  });
});
