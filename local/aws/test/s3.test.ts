// The embedded S3: objects, conditions, ranges, checksums, multipart uploads, listings (signatures: s3-signatures.test.ts).
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checksumOf } from "../s3/checksums.ts";
import { readXml, xmlOf } from "../s3/xml.ts";
import { type Answer, chunked, s3World } from "./support/s3.ts";

const MB = 1_048_576;

async function withBucket(file?: string) {
  const world = s3World(file);
  expect((await world.call("PUT /box")).status).toBe(200);
  return world;
}

const code = ({ text }: Answer) => /<Code>(.*)<\/Code>/.exec(text)?.[1];
const etagOf = (text: string) => `"${createHash("md5").update(text).digest("hex")}"`;
const all = (name: string, { text }: Answer) =>
  [...text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, value]) => value);

test("an object comes back as it was put, with its headers and metadata, also after a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "s3-"));
  const file = join(folder, "s3.sqlite");
  const first = await withBucket(file);
  const body = Buffer.alloc(3 * MB + 17, "abcdefg");
  const headers = { "content-type": "text/plain", "cache-control": "max-age=60", "x-amz-meta-owner": "ada" };
  const put = await first.call("PUT /box/a%20folder/file%2B1.txt", { body, headers });
  expect([put.status, put.headers.etag]).toEqual([200, `"${createHash("md5").update(body).digest("hex")}"`]);
  first.database.close();

  const { call, database } = s3World(file);
  const got = await call("GET /box/a%20folder/file%2B1.txt");
  expect(got.bytes.equals(body)).toBe(true);
  expect(got.headers).toMatchObject({ ...headers, "content-length": String(body.length), etag: put.headers.etag });
  expect(got.headers["last-modified"]).toBe("Thu, 01 Jan 2026 12:00:00 GMT");
  const head = await call("HEAD /box/a%20folder/file%2B1.txt");
  expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", String(body.length)]);
  database.close();
  rmSync(folder, { recursive: true });
});

test("ranges, also across the pieces a large object is kept in", async () => {
  const { call } = await withBucket();
  const body = Buffer.from(Array.from({ length: 2 * MB + 10 }, (_, i) => i % 251));
  await call("PUT /box/k", { body });
  const get = (range: string) => call("GET /box/k", { headers: { range } });
  for (const [range, from, to] of [
    ["bytes=0-0", 0, 1],
    [`bytes=${MB - 2}-${MB + 2}`, MB - 2, MB + 3],
    [`bytes=${2 * MB}-`, 2 * MB, body.length],
    ["bytes=-5", body.length - 5, body.length],
    ["bytes=0-99999999", 0, body.length],
  ] as const) {
    const part = await get(range);
    expect([part.status, part.headers["content-range"]]).toEqual([206, `bytes ${from}-${to - 1}/${body.length}`]);
    expect(part.bytes.equals(body.subarray(from, to))).toBe(true);
  }
  expect(code(await get(`bytes=${body.length}-`))).toBe("InvalidRange");
  expect((await get("lines=1-2")).status).toBe(200);
});

test("S3 writes and reads under conditions", async () => {
  const { call, clock } = await withBucket();
  const put = (body: string, headers = {}) => call("PUT /box/k", { body, headers });
  expect(code(await put("x", { "if-match": etagOf("x") }))).toBe("NoSuchKey");
  expect((await put("one", { "if-none-match": "*" })).status).toBe(200);
  expect((await put("two", { "if-none-match": "*" })).status).toBe(412);
  expect((await put("two", { "if-match": etagOf("zero") })).status).toBe(412);
  expect((await put("two", { "if-match": etagOf("one") })).status).toBe(200);
  const get = async (headers: Record<string, string>) => (await call("GET /box/k", { headers })).status;
  expect(await get({ "if-match": etagOf("two") })).toBe(200);
  expect(await get({ "if-match": etagOf("one") })).toBe(412);
  expect(await get({ "if-none-match": etagOf("two") })).toBe(304);
  const at = new Date(clock.now()).toUTCString();
  const before = new Date(clock.now() - 1_000).toUTCString();
  expect(await get({ "if-modified-since": at })).toBe(304);
  expect(await get({ "if-modified-since": before })).toBe(200);
  expect(await get({ "if-unmodified-since": before })).toBe(412);
});

test("checksums are verified and kept, in headers and behind a chunked body", async () => {
  const { call } = await withBucket();
  // The check value of the catalogue of CRCs.
  expect(Buffer.from(checksumOf("CRC32", Buffer.from("123456789")), "base64").toString("hex")).toBe("cbf43926");
  for (const algorithm of ["CRC32", "SHA256"] as const) {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    const right = checksumOf(algorithm, Buffer.from("hello chunks"));
    const wrong = checksumOf(algorithm, Buffer.from("other"));
    expect((await call("PUT /box/plain", { body: "hello chunks", headers: { [name]: right } })).status).toBe(200);
    expect(code(await call("PUT /box/plain", { body: "hello chunks", headers: { [name]: wrong } }))).toBe("BadDigest");
    expect((await call("PUT /box/chunks", chunked("hello chunks", { [name]: right }))).status).toBe(200);
    expect(code(await call("PUT /box/chunks", chunked("hello chunks", { [name]: wrong })))).toBe("BadDigest");
    const got = await call("GET /box/chunks", { headers: { "x-amz-checksum-mode": "ENABLED" } });
    expect([got.text, got.headers[name], got.headers["content-encoding"]]).toEqual(["hello chunks", right, undefined]);
  }
  const cut = chunked("hello chunks", {});
  expect(code(await call("PUT /box/k", { ...cut, body: String(cut.body).slice(0, 9) }))).toBe("IncompleteBody");
  const other = { "content-md5": Buffer.alloc(16).toString("base64") };
  expect(code(await call("PUT /box/k", { body: "x", headers: other }))).toBe("BadDigest");
  const lie = { "x-amz-content-sha256": createHash("sha256").update("y").digest("hex") };
  expect(code(await call("PUT /box/k", { body: "x", headers: lie }))).toBe("XAmzContentSHA256Mismatch");
});

test("a multipart upload joins its parts in order, each as it was uploaded last", async () => {
  const { call } = await withBucket();
  const started = await call("POST /box/big", { query: { uploads: "" }, headers: { "content-type": "video/mp4" } });
  const uploadId = all("UploadId", started)[0]!;
  const part = (partNumber: string, body: Buffer | string) =>
    call("PUT /box/big", { query: { uploadId, partNumber }, body });
  const [one, two] = [Buffer.alloc(5 * MB, "1"), Buffer.from("the end")];
  await part("1", "too early");
  const second = await part("2", two);
  const first = await part("1", one);
  const complete = (...parts: [number, string | undefined][]) => {
    const Part = parts.map(([PartNumber, ETag]) => ({ PartNumber, ETag }));
    return call("POST /box/big", { query: { uploadId }, body: xmlOf("CompleteMultipartUpload", { Part }) });
  };
  expect(code(await complete([2, second.headers.etag], [1, first.headers.etag]))).toBe("InvalidPartOrder");
  expect(code(await complete([1, etagOf("too early")], [2, second.headers.etag]))).toBe("InvalidPart");
  const done = await complete([1, first.headers.etag], [2, second.headers.etag]);
  expect([done.status, readXml(done.text).name]).toEqual([200, "CompleteMultipartUploadResult"]);
  const got = await call("GET /box/big");
  expect(got.bytes.equals(Buffer.concat([one, two]))).toBe(true);
  expect(got.headers["content-type"]).toBe("video/mp4");
  expect(got.headers.etag).toMatch(/^"[0-9a-f]{32}-2"$/);
  expect((await call("GET /box/big", { headers: { range: `bytes=${5 * MB - 1}-${5 * MB + 2}` } })).text).toBe("1the");
  expect(code(await part("3", "late"))).toBe("NoSuchUpload");
});

test("small parts are refused, an aborted upload is gone, checksums of parts make that of the whole", async () => {
  const { call, database } = await withBucket();
  const headers = { "x-amz-checksum-algorithm": "CRC32" };
  const begin = async (more = {}) =>
    all("UploadId", await call("POST /box/k", { query: { uploads: "" }, headers: more }))[0]!;
  const put = async (uploadId: string, partNumber: string, body: string) =>
    (await call("PUT /box/k", { query: { uploadId, partNumber }, body })).headers.etag;
  const complete = (uploadId: string, etags: (string | undefined)[]) => {
    const Part = etags.map((ETag, i) => ({ PartNumber: i + 1, ETag }));
    return call("POST /box/k", { query: { uploadId }, body: xmlOf("CompleteMultipartUpload", { Part }) });
  };
  const small = await begin();
  expect(code(await complete(small, [await put(small, "1", "a"), await put(small, "2", "b")]))).toBe("EntityTooSmall");
  expect((await call("DELETE /box/k", { query: { uploadId: small } })).status).toBe(204);
  expect(database.all("SELECT * FROM s3_chunks")).toEqual([]);
  const summed = await begin(headers);
  const done = await complete(summed, [await put(summed, "1", "a")]);
  const ofPart = Buffer.from(checksumOf("CRC32", Buffer.from("a")), "base64");
  expect(all("ChecksumCRC32", done)).toEqual([`${checksumOf("CRC32", ofPart)}-1`]);
});

test("listings by prefix and delimiter, page by page, in the order of their bytes", async () => {
  const { call } = await withBucket();
  for (const key of ["a/1", "a/2", "b", "c/x/1", "c/x/2", "c/y", "é"])
    await call(`PUT /box/${encodeURIComponent(key).replaceAll("%2F", "/")}`, { body: "x" });
  const list = async (query: Record<string, string>) => {
    const answer = await call("GET /box", { query: { "list-type": "2", ...query } });
    return { keys: all("Key", answer), prefixes: all("Prefix", answer).slice(1), answer };
  };
  expect((await list({})).keys).toEqual(["a/1", "a/2", "b", "c/x/1", "c/x/2", "c/y", "é"]);
  expect((await list({ "encoding-type": "url", prefix: "é" })).keys).toEqual(["%C3%A9"]);
  expect(await list({ delimiter: "/" })).toMatchObject({ keys: ["b", "é"], prefixes: ["a/", "c/"] });
  expect(await list({ delimiter: "/", prefix: "c/" })).toMatchObject({ keys: ["c/y"], prefixes: ["c/x/"] });
  expect((await list({ "start-after": "b" })).keys).toEqual(["c/x/1", "c/x/2", "c/y", "é"]);
  const seen: string[] = [];
  let token: string | undefined;
  do {
    const { keys, prefixes, answer } = await list({
      "max-keys": "1",
      delimiter: "/",
      ...(token && { "continuation-token": token }),
    });
    expect(keys.length + prefixes.length).toBe(1);
    seen.push(...(keys as string[]), ...(prefixes as string[]));
    token = all("NextContinuationToken", answer)[0];
  } while (token);
  expect(seen).toEqual(["a/", "b", "c/", "é"]);
});

test("deletions of many say what went", async () => {
  const { call } = await withBucket();
  for (const key of ["a", "b"]) await call(`PUT /box/${key}`, { body: "text" });
  const body = xmlOf("Delete", { Object: [{ Key: "a" }, { Key: "b" }, { Key: "none & nothing" }] });
  const gone = await call("POST /box", { query: { delete: "" }, body });
  expect(all("Key", gone)).toEqual(["a", "b", "none &amp; nothing"]);
  expect(code(await call("GET /box/a"))).toBe("NoSuchKey");
  expect((await call("DELETE /box/a")).status).toBe(204);
});

test("buckets: by path or by host; what is not implemented is refused loudly", async () => {
  const { call } = await withBucket();
  await call("PUT /k", { body: "x", headers: { host: "box.s3.us-east-1.amazonaws.com" } });
  expect((await call("GET /box/k")).text).toBe("x");
  expect((await call("GET /k", { headers: { host: "box.localhost:8000" } })).text).toBe("x");
  expect(all("Name", await call("GET /"))).toEqual(["box"]);
  expect(code(await call("PUT /No_Bucket"))).toBe("InvalidBucketName");
  expect(code(await call("GET /none/k"))).toBe("NoSuchBucket");
  expect(code(await call("GET /box/k", { query: { versionId: "1" } }))).toBe("NotImplemented");
  expect(code(await call("GET /box", { query: { acl: "" } }))).toBe("NotImplemented");
  expect(code(await call("PUT /box/k", { body: "x", headers: { "x-amz-acl": "public-read" } }))).toBe("NotImplemented");
  expect(code(await call("DELETE /box"))).toBe("NotImplemented");
  expect(code(await call("PUT /box/k", { headers: { "x-amz-copy-source": "/box/a" } }))).toBe("NotImplemented");
});
