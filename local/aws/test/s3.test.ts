// The embedded S3: objects, conditions, ranges, checksums, listings, buckets (uploads in parts: s3-multipart.test.ts,
// signatures: s3-signatures.test.ts).
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { checksumOf } from "../s3/checksums.ts";
import { xmlOf } from "../s3/xml.ts";
import { chunked, codeOf, etagOf, MB, s3World, textsOf, withBucket } from "./support/s3.ts";

describe("an object", () => {
  const PATH = "/box/a%20folder/file%2B1.txt";
  const body = Buffer.alloc(3 * MB + 17, "abcdefg");
  const headers = { "content-type": "text/plain", "cache-control": "max-age=60", "x-amz-meta-owner": "ada" };
  const shown = { ...headers, "content-length": String(body.length), etag: etagOf(body) };

  test("comes back as it was put, with its headers and metadata", async () => {
    const { call } = await withBucket();
    const put = await call(`PUT ${PATH}`, { body, headers });
    const got = await call(`GET ${PATH}`);

    expect(put).toMatchObject({ status: 200, headers: { etag: shown.etag } });
    expect(got.bytes.equals(body)).toBe(true);
    expect(got.headers).toMatchObject({ ...shown, "last-modified": "Thu, 01 Jan 2026 12:00:00 GMT" });
  });

  test("is described without its bytes", async () => {
    const { call } = await withBucket();
    await call(`PUT ${PATH}`, { body, headers });

    expect(await call(`HEAD ${PATH}`)).toMatchObject({ status: 200, text: "", headers: shown });
  });

  test("is still there after a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "s3-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "s3.sqlite");
    const first = await withBucket(file);
    await first.call(`PUT ${PATH}`, { body, headers });
    first.database.close();
    const { call, database } = s3World(file);
    const got = await call(`GET ${PATH}`);
    database.close();

    expect(got.bytes.equals(body)).toBe(true);
    expect(got.headers).toMatchObject(shown);
  });
});

describe("a range", () => {
  const body = Buffer.from(Array.from({ length: 2 * MB + 10 }, (_, i) => i % 251));
  const read = async (range: string) => {
    const { call } = await withBucket();
    await call("PUT /box/k", { body });
    return call("GET /box/k", { headers: { range } });
  };

  test.each([
    ["of one byte", "bytes=0-0", 0, 1],
    ["across the pieces that a large object is kept in", `bytes=${MB - 2}-${MB + 2}`, MB - 2, MB + 3],
    ["without an end", `bytes=${2 * MB}-`, 2 * MB, body.length],
    ["of the last bytes", "bytes=-5", body.length - 5, body.length],
    ["beyond the end", "bytes=0-99999999", 0, body.length],
  ])("%s is a part of the object", async (_, range, from, to) => {
    const part = await read(range);

    expect(part.status).toBe(206);
    expect(part.headers["content-range"]).toBe(`bytes ${from}-${to - 1}/${body.length}`);
    expect(part.bytes.equals(body.subarray(from, to))).toBe(true);
  });

  test("behind the end is refused", async () => {
    expect(codeOf(await read(`bytes=${body.length}-`))).toBe("InvalidRange");
  });

  test("of another unit is ignored", async () => {
    expect((await read("lines=1-2")).status).toBe(200);
  });
});

describe("conditions", () => {
  const withObject = async () => {
    const world = await withBucket();
    await world.call("PUT /box/k", { body: "one" });
    return world;
  };
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12) + seconds * 1_000).toUTCString();

  test.each([
    ["of an object that is as it was read", { "if-match": etagOf("one") }, 200],
    ["of an object that is another", { "if-match": etagOf("zero") }, 412],
    ["of no object", { "if-none-match": "*" }, 412],
  ])("a write on the condition %s is answered by %j: %i", async (_, headers, status) => {
    const { call } = await withObject();

    expect((await call("PUT /box/k", { body: "two", headers })).status).toBe(status);
  });

  test("a write on the condition of an object needs one", async () => {
    const { call } = await withBucket();

    expect(codeOf(await call("PUT /box/k", { body: "x", headers: { "if-match": etagOf("x") } }))).toBe("NoSuchKey");
  });

  test("a write on the condition that there is no object makes one", async () => {
    const { call } = await withBucket();

    expect((await call("PUT /box/k", { body: "x", headers: { "if-none-match": "*" } })).status).toBe(200);
  });

  test.each([
    ["its tag", { "if-match": etagOf("one") }, 200],
    ["another tag", { "if-match": etagOf("two") }, 412],
    ["none of its tags", { "if-none-match": etagOf("one") }, 304],
    ["a change since it was written", { "if-modified-since": at(0) }, 304],
    ["a change since before", { "if-modified-since": at(-1) }, 200],
    ["no change since before", { "if-unmodified-since": at(-1) }, 412],
  ])("a read on the condition of %s is answered by %j: %i", async (_, headers, status) => {
    const { call } = await withObject();

    expect((await call("GET /box/k", { headers: headers as Record<string, string> })).status).toBe(status);
  });
});

describe("checksums", () => {
  const TEXT = "hello chunks";

  test("CRC32 has the check value of the catalogue of CRCs", () => {
    expect(Buffer.from(checksumOf("CRC32", Buffer.from("123456789")), "base64").toString("hex")).toBe("cbf43926");
  });

  describe.each(["CRC32", "SHA256"] as const)("%s", (algorithm) => {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    const right = { [name]: checksumOf(algorithm, Buffer.from(TEXT)) };
    const wrong = { [name]: checksumOf(algorithm, Buffer.from("other")) };

    test.each([
      ["in a header", { body: TEXT, headers: right }],
      ["behind a chunked body", chunked(TEXT, right)],
    ])("%s is kept with the object", async (_, request) => {
      const { call } = await withBucket();
      await call("PUT /box/k", request);
      const got = await call("GET /box/k", { headers: { "x-amz-checksum-mode": "ENABLED" } });

      expect([got.text, got.headers["content-encoding"]]).toEqual([TEXT, undefined]);
      expect(got.headers).toMatchObject(right);
    });

    test.each([
      ["in a header", { body: TEXT, headers: wrong }],
      ["behind a chunked body", chunked(TEXT, wrong)],
    ])("%s that is wrong is refused", async (_, request) => {
      const { call } = await withBucket();

      expect(codeOf(await call("PUT /box/k", request))).toBe("BadDigest");
    });
  });

  const cut = chunked(TEXT, {});
  test.each([
    ["a chunked body that is cut", { ...cut, body: String(cut.body).slice(0, 9) }, "IncompleteBody"],
    ["another MD5", { body: "x", headers: { "content-md5": Buffer.alloc(16).toString("base64") } }, "BadDigest"],
    [
      "another hash than was signed",
      { body: "x", headers: { "x-amz-content-sha256": createHash("sha256").update("y").digest("hex") } },
      "XAmzContentSHA256Mismatch",
    ],
  ])("%s is refused", async (_, request, code) => {
    const { call } = await withBucket();

    expect(codeOf(await call("PUT /box/k", request))).toBe(code);
  });
});

describe("a listing", () => {
  const KEYS = ["a/1", "a/2", "b", "c/x/1", "c/x/2", "c/y", "é"];

  async function withKeys() {
    const { call } = await withBucket();
    for (const key of KEYS) await call(`PUT /box/${encodeURIComponent(key).replaceAll("%2F", "/")}`, { body: "x" });
    return async (query: Record<string, string>) => {
      const answer = await call("GET /box", { query: { "list-type": "2", ...query } });
      const [next] = textsOf("NextContinuationToken", answer);
      return { keys: textsOf("Key", answer), prefixes: textsOf("Prefix", answer).slice(1), next };
    };
  }

  test.each([
    ["all keys in the order of their bytes", {}, KEYS, []],
    ["what begins with a text, encoded if asked", { "encoding-type": "url", prefix: "é" }, ["%C3%A9"], []],
    ["folders beside keys", { delimiter: "/" }, ["b", "é"], ["a/", "c/"]],
    ["the folders of a folder", { delimiter: "/", prefix: "c/" }, ["c/y"], ["c/x/"]],
    ["what comes behind a key", { "start-after": "b" }, ["c/x/1", "c/x/2", "c/y", "é"], []],
  ])("shows %s", async (_, query, keys, prefixes) => {
    const list = await withKeys();

    expect(await list(query as Record<string, string>)).toMatchObject({ keys, prefixes });
  });

  test("goes on page by page, each key and folder once", async () => {
    const list = await withKeys();
    const pages: (string | undefined)[][] = [];
    let token: string | undefined;
    do {
      const more = token && { "continuation-token": token };
      const { keys, prefixes, next } = await list({ "max-keys": "1", delimiter: "/", ...more });
      pages.push([...keys, ...prefixes]);
      token = next;
    } while (token);

    expect(pages).toEqual([["a/"], ["b"], ["c/"], ["é"]]);
  });
});

describe("a deletion", () => {
  test("of many says of each that it is gone, also where nothing was", async () => {
    const { call } = await withBucket();
    for (const key of ["a", "b"]) await call(`PUT /box/${key}`, { body: "text" });
    const body = xmlOf("Delete", { Object: [{ Key: "a" }, { Key: "b" }, { Key: "none & nothing" }] });
    const gone = await call("POST /box", { query: { delete: "" }, body });

    expect(textsOf("Key", gone)).toEqual(["a", "b", "none &amp; nothing"]);
    expect(codeOf(await call("GET /box/a"))).toBe("NoSuchKey");
  });

  test("of nothing succeeds", async () => {
    const { call } = await withBucket();

    expect((await call("DELETE /box/a")).status).toBe(204);
  });
});

describe("a bucket", () => {
  test.each([["box.s3.us-east-1.amazonaws.com"], ["box.localhost:8000"]])("is named by the host %s", async (host) => {
    const { call } = await withBucket();
    await call("PUT /k", { body: "x", headers: { host } });

    expect((await call("GET /box/k")).text).toBe("x");
    expect((await call("GET /k", { headers: { host } })).text).toBe("x");
  });

  test("is listed", async () => {
    const { call } = await withBucket();

    expect(textsOf("Name", await call("GET /"))).toEqual(["box"]);
  });

  test.each([
    ["with a name that S3 refuses", "PUT /No_Bucket", "InvalidBucketName"],
    ["that does not exist", "GET /none/k", "NoSuchBucket"],
  ])("%s is an error", async (_, route, code) => {
    const { call } = await withBucket();

    expect(codeOf(await call(route))).toBe(code);
  });

  test.each([
    ["versions", "GET /box/k", { query: { versionId: "1" } }],
    ["access lists", "GET /box", { query: { acl: "" } }],
    ["access lists of an object", "PUT /box/k", { body: "x", headers: { "x-amz-acl": "public-read" } }],
    ["deletion of buckets", "DELETE /box", {}],
    ["copies", "PUT /box/k", { headers: { "x-amz-copy-source": "/box/a" } }],
  ])("does not imitate %s, and says so", async (_, route, request) => {
    const { call } = await withBucket();

    expect(codeOf(await call(route, request))).toBe("NotImplemented");
  });
});
