// Images for in-app content (AST-1 to AST-4): uploads, public URLs, quotas and removal.
import { describe, expect, it } from "vitest";
import { awsFailure } from "../../local/aws/stand-in.ts";
import { MINUTE, SECOND } from "../../shared/clock.ts";
import { AssetTotals } from "../../shared/store/experiences/asset-items.ts";
import { hostileFiles } from "../support/hostile-files.ts";
import { outsideAudit, quickStore, wholeTable } from "../support/people.ts";
import { formOf, pictures } from "../support/pictures.ts";
import { type Answer, START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const MB = 1_048_576;

type Parts = Parameters<typeof formOf>[0];

async function upload(world: TestWorld, tenant: Tenant, parts: Parts): Promise<Answer> {
  const { body: raw, headers } = formOf(parts);
  return world.call("POST /api/v1/in-app/assets", { as: await tenant.dashboard(), raw, headers });
}
const list = async (world: TestWorld, tenant: Tenant, query = "") =>
  world.call(`GET /api/v1/in-app/assets${query}`, { as: await tenant.dashboard() });
const remove = async (world: TestWorld, tenant: Tenant, id: string) =>
  world.call(`DELETE /api/v1/in-app/assets/${id}`, { as: await tenant.dashboard() });
const storedBytes = async (world: TestWorld, tenant: Tenant): Promise<number> =>
  (await world.call("GET /api/v1/billing", { as: await tenant.dashboard() })).body.usage.asset_bytes;
const objects = async (world: TestWorld): Promise<string[]> => {
  const { Contents } = await world.s3.operate("ListObjectsV2", { Bucket: world.env.ASSETS_BUCKET });
  return (Contents as { key: string }[]).map(({ key }) => key);
};
/** An image of exactly this size: bytes after its end are ignored. */
const pictureOf = (bytes: number) => Buffer.concat([pictures.png, Buffer.alloc(bytes - pictures.png.length)]);

function ask(world: TestWorld, url: string, method = "GET", headers: Record<string, string> = {}) {
  const path = url.replace(String(world.env.BASE_URL), "");
  return world.gateway.handle({ method, path, headers, body: Buffer.alloc(0), sourceIp: "203.0.113.7" });
}

describe("upload", () => {
  it.each([
    ["png", "image/png", "png"],
    ["gif", "image/gif", "gif"],
    ["webp", "image/webp", "webp"],
    ["jpeg", "image/jpeg", "jpg"],
  ] as const)("AST-1 AST-2 takes a %s: 201 with exactly the asset's fields", async (kind, content_type, extension) => {
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
  });

  it("AST-1 the URL is immutable and random, served as an image and never executed", async () => {
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
    "AST-2 AMB-102 refuses %s with 400, whatever it is called",
    async (_, bytes) => {
      const { world, tenant } = await withTenant();
      const { status, body } = await upload(world, tenant, { file: { bytes, filename: "a.png", type: "image/png" } });
      expect([status, body.code, Object.keys(body.fields)]).toEqual([400, "BAD_REQUEST", ["file"]]);
      expect(await objects(world)).toEqual([]);
    },
  );

  it("AST-2 AMB-83 accepts 4,194,304 bytes; one more, or many more, is 400", async () => {
    const { world, tenant } = await withTenant();
    expect((await upload(world, tenant, { file: pictureOf(4 * MB) })).status).toBe(201);
    for (const size of [4 * MB + 1, 12 * MB]) {
      const { status, body } = await upload(world, tenant, { file: pictureOf(size) });
      expect([size, status, body.code, body.fields]).toEqual([size, 400, "BAD_REQUEST", { file: "is too large" }]);
    }
    expect(await storedBytes(world, tenant)).toBe(4 * MB);
  });

  it("AST-2 a body without its one file part is 400", async () => {
    const { world, tenant } = await withTenant();
    const named: [string, Parts][] = [
      ["file", {}],
      ["file", { picture: pictures.png }],
      ["surprise", { surprise: { bytes: "x" }, file: pictures.png }],
    ];
    for (const [field, parts] of named) {
      const { status, body } = await upload(world, tenant, parts);
      expect([status, body.code, Object.keys(body.fields ?? {})]).toEqual([400, "BAD_REQUEST", [field]]);
    }
    expect(await upload(world, tenant, { file: pictures.png, other: pictures.gif })).toMatchObject({ status: 400 });
    const as = await tenant.dashboard();
    expect((await world.call("POST /api/v1/in-app/assets", { as, body: { file: "x" } })).status).toBe(400);
    expect((await list(world, tenant)).body.total).toBe(0);
  });

  it.each([
    ["C:\\pictures\\a.png", "a.png"],
    ["../../etc/passwd", "passwd"],
    ["a\u202egnp.exe", "agnp.exe"],
    ["größe 😀.png", "größe 😀.png"],
    ["", "image.png"],
    [`${"x".repeat(300)}.png`, `${"x".repeat(251)}.png`],
  ])("AST-1 keeps the displayable part of the name %j: %j", async (filename, kept) => {
    const { world, tenant } = await withTenant();
    const { status, body } = await upload(world, tenant, { file: { bytes: pictures.png, filename } });
    expect([status, body.filename]).toEqual([201, kept]);
  });
});

describe("quota", () => {
  it("AMB-40 D-PLAN stored bytes are counted exactly: an upload beyond the quota is 429 and stores nothing", async () => {
    const { world, tenant } = await withTenant({ plan: "starter" });
    const quota = 1_024 * MB;
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: quota - 1_000, assets: 1 });
    const fits = await upload(world, tenant, { file: pictureOf(1_000) });
    expect(fits.status).toBe(201);
    const { status, body } = await upload(world, tenant, { file: pictures.png });
    expect([status, body.code]).toEqual([429, "QUOTA_EXCEEDED"]);
    expect(body.message).toContain(`${quota} of ${quota}`);
    expect(await objects(world)).toHaveLength(1);
    expect((await remove(world, tenant, fits.body.id)).status).toBe(204);
    expect(await storedBytes(world, tenant)).toBe(quota - 1_000);
    expect((await upload(world, tenant, { file: pictures.png })).status).toBe(201);
  });

  it("AMB-40 concurrent uploads cannot exceed the quota together", async () => {
    const { world, tenant } = await withTenant({ plan: "starter" });
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: 1_024 * MB - 3_500, assets: 1 });
    const race = await Promise.all(Array.from({ length: 6 }, () => upload(world, tenant, { file: pictureOf(1_000) })));
    expect(race.map(({ status }) => status).sort()).toEqual([201, 201, 201, 429, 429, 429]);
  });

  it("docs/decisions/0021#page-lists the asset after the 10,000th is refused", async () => {
    const { world, tenant } = await withTenant();
    await quickStore(world, tenant).put(AssetTotals, {}, { bytes: 1, assets: 9_999 });
    expect((await upload(world, tenant, { file: pictures.png })).status).toBe(201);
    expect(await upload(world, tenant, { file: pictures.png })).toMatchObject({
      status: 429,
      body: { code: "QUOTA_EXCEEDED" },
    });
  });
});

describe("list", () => {
  it("AST-3 pages newest first with a total; page_size is clamped to 100, and 0 is 400", async () => {
    const { world, tenant } = await withTenant();
    const made: string[] = [];
    for (let n = 0; n < 23; n++) {
      made.unshift((await upload(world, tenant, { file: pictures.gif })).body.id);
      await world.advance(SECOND);
    }
    const pages = [await list(world, tenant), await list(world, tenant, "?page=2")];
    expect(pages.map(({ body: { total, page, page_size, items } }) => [total, page, page_size, items.length])).toEqual([
      [23, 1, 20, 20],
      [23, 2, 20, 3],
    ]);
    expect(pages.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id))).toEqual(made);
    expect(Object.keys(pages[0]!.body).sort()).toEqual(["items", "page", "page_size", "total"]);
    expect((await list(world, tenant, "?page_size=500")).body.page_size).toBe(100);
    for (const query of ["?page_size=0", "?page=0", "?page=x"]) {
      const { status, body } = await list(world, tenant, query);
      expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    }
  });

  it("GEN-8 lists nothing of another workspace", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    await upload(world, other, { file: pictures.png });
    expect((await list(world, tenant)).body).toEqual({ items: [], total: 0, page: 1, page_size: 20 });
  });
});

describe("delete", () => {
  it("AST-4 removes the row, the object and the URL", async () => {
    const { world, tenant } = await withTenant();
    const { id, url } = (await upload(world, tenant, { file: pictures.png })).body;
    const kept = (await upload(world, tenant, { file: pictures.gif })).body;
    expect((await remove(world, tenant, id)).status).toBe(204);
    expect((await list(world, tenant)).body.items.map((asset: { id: string }) => asset.id)).toEqual([kept.id]);
    expect((await remove(world, tenant, id)).status).toBe(404);
    await world.settle();
    expect((await ask(world, url)).status).toBe(404);
    expect((await ask(world, kept.url)).status).toBe(200);
    expect(await objects(world)).toHaveLength(1);
    await world.advance(16 * MINUTE);
    expect(JSON.stringify(outsideAudit(await wholeTable(world)))).not.toContain(id);
    expect(await storedBytes(world, tenant)).toBe(pictures.gif.length);
  });

  it("AST-4 AMB-118 the object is gone before the answer, although no worker has run", async () => {
    const { world, tenant } = await withTenant();
    const { id, url } = (await upload(world, tenant, { file: pictures.png })).body;
    await world.settle();
    expect((await remove(world, tenant, id)).status).toBe(204);
    expect((await ask(world, url)).status).toBe(404);
    expect(await objects(world)).toEqual([]);
  });

  it("AST-4 two concurrent deletions: one 204, one 404, and the bytes are returned once", async () => {
    const { world, tenant } = await withTenant();
    const { id } = (await upload(world, tenant, { file: pictures.png })).body;
    const both = await Promise.all([remove(world, tenant, id), remove(world, tenant, id)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
    await world.settle();
    expect(await storedBytes(world, tenant)).toBe(0);
  });

  it("AST-4 GEN-8 an unknown and another workspace's asset are 404", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const { id, url } = (await upload(world, other, { file: pictures.png })).body;
    for (const one of [id, UNKNOWN, "nonsense"]) expect((await remove(world, tenant, one)).status).toBe(404);
    await world.settle();
    expect((await ask(world, url)).status).toBe(200);
  });

  it("AST-4 AMB-118 rule 20 while S3 fails it is not confirmed; the worker removes the object", async () => {
    let failures = 2;
    const hooks = () => ({
      before: (service: string, operation: string) => {
        if (service === "s3" && operation === "DeleteObject" && failures-- > 0)
          throw awsFailure("AccessDenied", "Not now.", { status: 403 });
      },
    });
    const { world, tenant } = await withTenant({ hooks });
    const { id } = (await upload(world, tenant, { file: pictures.png })).body;
    expect((await remove(world, tenant, id)).status).toBe(500);
    expect((await list(world, tenant)).body.total).toBe(0);
    await world.advance(30 * MINUTE);
    expect(await objects(world)).toEqual([]);
  });

  it("AST-4 AMB-118 a repeated request removes the object that the first could not", async () => {
    let failing = true;
    const hooks = () => ({
      before: (service: string, operation: string) => {
        if (failing && service === "s3" && operation === "DeleteObject")
          throw awsFailure("AccessDenied", "Not now.", { status: 403 });
      },
    });
    const { world, tenant } = await withTenant({ hooks });
    const { id, url } = (await upload(world, tenant, { file: pictures.png })).body;
    expect((await remove(world, tenant, id)).status).toBe(500);
    failing = false;
    expect((await remove(world, tenant, id)).status).toBe(404);
    expect((await ask(world, url)).status).toBe(404);
  });
});

describe("an interrupted upload", () => {
  const failing = (when: "before" | "after") => () => ({
    [when]: (service: string, operation: string) => {
      if (service === "s3" && operation === "PutObject")
        throw Object.assign(new Error("socket hang up"), { code: "ECONNREFUSED", name: "Broken" });
    },
  });

  it.each(["before", "after"] as const)(
    "AST-2 %s its object is written, is not listed and is removed",
    async (when) => {
      const { world, tenant } = await withTenant({ hooks: failing(when) });
      expect((await upload(world, tenant, { file: pictures.png })).status).toBe(500);
      expect((await list(world, tenant)).body).toMatchObject({ items: [], total: 0 });
      expect(await storedBytes(world, tenant)).toBe(pictures.png.length);
      await world.advance(20 * MINUTE);
      expect(await objects(world)).toEqual([]);
      expect(await storedBytes(world, tenant)).toBe(0);
      const rows = await wholeTable(world);
      expect(rows.filter(({ pk }) => String(pk.S).endsWith("#asset"))).toEqual([]);
    },
  );
});

it("INX-1 a plan without in-app messaging refuses all three with its own body", async () => {
  const { world, tenant } = await withTenant({ plan: "free" });
  for (const { status, body } of [
    await upload(world, tenant, { file: pictures.png }),
    await list(world, tenant),
    await remove(world, tenant, UNKNOWN),
  ])
    expect([status, body]).toEqual([
      403,
      { error: "in_app_not_permitted", message: expect.any(String), upgrade_required: true },
    ]);
});
