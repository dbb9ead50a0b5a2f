// Images for in-app content (AST-1 to AST-3): uploads, public URLs, quotas and the list.
import { describe, expect, it } from "vitest";
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

const QUOTA = 1_024 * MB;
/** A workspace of the smallest quota, of which so many bytes are left. */
async function nearlyFull(bytesLeft: number) {
  const { world, tenant } = await withTenant({ plan: "starter" });
  await quickStore(world, tenant).put(AssetTotals, {}, { bytes: QUOTA - bytesLeft, assets: 1, changes: 1 });
  return { world, tenant };
}

describe("upload", () => {
  it.each([
    ["png", "image/png", "png"],
    ["gif", "image/gif", "gif"],
    ["webp", "image/webp", "webp"],
    ["jpeg", "image/jpeg", "jpg"],
  ] as const)("a picture that is %s is an asset of %s (AST-1, AST-2)", async (kind, content_type, extension) => {
    const { world, tenant } = await withTenant();
    const file = { bytes: pictures[kind], filename: "Sale banner.bin", type: "text/html" };

    const { status, body } = await upload(world, tenant, { file });

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      filename: "Sale banner.bin",
      content_type,
      size_bytes: pictures[kind].length,
      url: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1/assets/[\\w-]{22}\\.${extension}$`)),
      created_at: new Date(START).toISOString(),
    });
    const served = await ask(world, body.url);
    expect(served.status).toBe(200);
    expect(served.headers["content-type"]).toBe(content_type);
    expect(served.body.equals(pictures[kind])).toBe(true);
  });

  const hostile = hostileFiles.map(({ about, bytes }) => [about, bytes] as const);
  it.each(hostile)("an asset is refused with 400 for %s, whatever its name (AST-2, AMB-102)", async (_, bytes) => {
    const { world, tenant } = await withTenant();

    const { status, body } = await upload(world, tenant, { file: { bytes, filename: "a.png", type: "image/png" } });

    expect(status).toBe(400);
    expect(body.code).toBe("BAD_REQUEST");
    expect(Object.keys(body.fields)).toEqual(["file"]);
    expect(await objects(world)).toEqual([]);
  });

  it("an asset may have 4,194,304 bytes (ARC-2, AST-2, AMB-83)", async () => {
    const { world, tenant } = await withTenant();

    expect((await upload(world, tenant, { file: pictureOf(4 * MB) })).status).toBe(201);

    expect(await storedBytes(tenant)).toBe(4 * MB);
  });

  it.each([4 * MB + 1, 12 * MB])("an asset is refused with 400 for %i bytes (ARC-2, AST-2, AMB-83)", async (size) => {
    const { world, tenant } = await withTenant();

    const { status, body } = await upload(world, tenant, { file: pictureOf(size) });

    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "BAD_REQUEST", fields: { file: "is too large" } });
    expect(await storedBytes(tenant)).toBe(0);
  });

  it.each<[wrong: string, parts: AssetForm, fields: string[]]>([
    ["no file", {}, ["file"]],
    ["a file of another name", { picture: pictures.png }, ["file"]],
    ["a surprise before the file", { surprise: { bytes: "x" }, file: pictures.png }, ["surprise"]],
    ["a second file", { file: pictures.png, other: pictures.gif }, []],
  ])("an asset is refused with 400 for %s (AST-2)", async (_, parts, fields) => {
    const { world, tenant } = await withTenant();

    const { status, body } = await upload(world, tenant, parts);

    expect(status).toBe(400);
    expect(body.code).toBe("BAD_REQUEST");
    expect(Object.keys(body.fields ?? {})).toEqual(fields);
    expect((await list(tenant)).body.total).toBe(0);
  });

  it.each([
    ["C:\\pictures\\a.png", "a.png"],
    ["../../etc/passwd", "passwd"],
    ["a\u202egnp.exe", "agnp.exe"],
    ["größe 😀.png", "größe 😀.png"],
    ["", "image.png"],
    [`${"x".repeat(300)}.png`, `${"x".repeat(251)}.png`],
  ])("an asset keeps the displayable part of the name %j: %j (AST-1)", async (filename, kept) => {
    const { world, tenant } = await withTenant();

    const { body } = await upload(world, tenant, { file: { bytes: pictures.png, filename } });

    expect(body.filename).toBe(kept);
  });
});

describe("public URLs", () => {
  const uploaded = async () => {
    const { world, tenant } = await withTenant();
    const { url } = (await upload(world, tenant, { file: pictures.png })).body;
    return { world, tenant, url };
  };

  it("the same image has another URL with each upload (AST-1)", async () => {
    const { world, tenant, url } = await uploaded();

    expect((await upload(world, tenant, { file: pictures.png })).body.url).not.toBe(url);
  });

  it("an asset is served as an image that never changes and is never executed (AST-1)", async () => {
    const { world, url } = await uploaded();

    expect((await ask(world, url)).headers).toMatchObject({
      "cache-control": "public, max-age=60, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "cross-origin",
    });
  });

  it("an asset that a browser has is answered 304 without its bytes (AST-1)", async () => {
    const { world, url } = await uploaded();
    const { headers } = await ask(world, url);

    const again = await ask(world, url, "GET", { "if-none-match": String(headers.etag) });

    expect(again.status).toBe(304);
    expect(again.body).toHaveLength(0);
  });

  it("an asset is served in parts (AST-1)", async () => {
    const { world, url } = await uploaded();

    const part = await ask(world, url, "GET", { range: "bytes=1-3" });

    expect(part.status).toBe(206);
    expect(part.body.toString()).toBe("PNG");
  });

  it("HEAD of an asset is answered with its type (AST-1)", async () => {
    const { world, url } = await uploaded();

    const head = await ask(world, url, "HEAD");

    expect(head.status).toBe(200);
    expect(head.headers["content-type"]).toBe("image/png");
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("%s of an asset is refused with 403 (E20)", async (method) => {
    const { world, url } = await uploaded();

    expect((await ask(world, url, method)).status).toBe(403);

    expect((await ask(world, url)).status).toBe(200);
  });

  it.each([
    [404, "/assets/"],
    [404, "/assets/none.png"],
    [404, "/assets/%2e%2e/x"],
    [404, "/assets/?list-type=2"],
    [400, "/assets/%zz"],
  ])("%i is the answer to %s, which is no asset (E20)", async (status, path) => {
    const { world } = await uploaded();

    expect((await ask(world, path)).status).toBe(status);
  });
});

describe("quota", () => {
  it("an asset is refused with 429 beyond the quota, and nothing is stored (AMB-40, D-PLAN)", async () => {
    const { world, tenant } = await nearlyFull(1_000);
    expect((await upload(world, tenant, { file: pictureOf(1_000) })).status).toBe(201);

    const { status, body } = await upload(world, tenant, { file: pictures.png });

    expect(status).toBe(429);
    expect(body).toMatchObject({ code: "QUOTA_EXCEEDED", message: expect.stringContaining(`${QUOTA} of ${QUOTA}`) });
    expect(await objects(world)).toHaveLength(1);
  });

  it("a removed asset gives its bytes back to the quota (AMB-40)", async () => {
    const { world, tenant } = await nearlyFull(1_000);
    const { id } = (await upload(world, tenant, { file: pictureOf(1_000) })).body;

    expect((await remove(tenant, id)).status).toBe(204);

    expect(await storedBytes(tenant)).toBe(QUOTA - 1_000);
    expect((await upload(world, tenant, { file: pictures.png })).status).toBe(201);
  });

  it("concurrent uploads cannot exceed the quota together (AMB-40)", async () => {
    const { world, tenant } = await nearlyFull(3_500);

    const race = await Promise.all(Array.from({ length: 6 }, () => upload(world, tenant, { file: pictureOf(1_000) })));

    expect(race.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429]);
  });

  it("the asset after the 10,000th is refused (docs/decisions/0021#page-lists)", async () => {
    const { world, tenant } = await withTenant();
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: 1, assets: 9_999, changes: 1 });
    const { id } = (await upload(world, tenant, { file: pictures.png })).body;

    const { status, body } = await upload(world, tenant, { file: pictures.png });

    expect(status).toBe(429);
    expect(body).toMatchObject({ code: "QUOTA_EXCEEDED", message: expect.stringContaining("10000 assets") });
    await remove(tenant, id);
    expect((await upload(world, tenant, { file: pictures.png })).status).toBe(201);
  });
});
