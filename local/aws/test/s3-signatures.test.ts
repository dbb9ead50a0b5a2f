// The embedded S3: presigned URLs, forms and signatures.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { authenticate, sign, stringToSign } from "../s3/signatures.ts";
import { readXml } from "../s3/xml.ts";
import { codeOf, form, type Options, presigned, SCOPE, SIGNED_AT, START, withBucket } from "./support/s3.ts";

const image = { headers: { "content-type": "image/png" }, body: "png" };

/** A bucket, and calls that are signed by their URL alone. */
async function withUrls() {
  const world = await withBucket();
  const byUrl = (route: string, query: Record<string, string>, more: Options = {}) =>
    world.call(route, { query, unsigned: true, ...more });
  return { ...world, byUrl };
}

describe("a presigned URL", () => {
  test("takes a request with the headers that it names", async () => {
    const { byUrl } = await withUrls();
    const put = presigned("PUT", "/box/k", 60, image.headers);

    expect((await byUrl("PUT /box/k", put, image)).status).toBe(200);
    expect((await byUrl("GET /box/k", presigned("GET", "/box/k", 60))).text).toBe("png");
  });

  test.each([
    ["of another header", "PUT /box/k", {}, { headers: { "content-type": "text/html" }, body: "x" }],
    ["of another key", "PUT /box/other", {}, image],
    ["of another method", "DELETE /box/k", {}, image],
    ["that lives longer", "PUT /box/k", { "X-Amz-Expires": "999" }, image],
  ])("does not sign a request %s", async (_, route, changed, request) => {
    const { byUrl } = await withUrls();
    const put = presigned("PUT", "/box/k", 60, image.headers);

    expect(codeOf(await byUrl(route, { ...put, ...changed }, request))).toBe("SignatureDoesNotMatch");
  });

  test("of a key that the account does not have is refused", async () => {
    const { byUrl } = await withUrls();
    const get = { ...presigned("GET", "/box/k", 60), "X-Amz-Credential": `other/${SCOPE}` };

    expect(codeOf(await byUrl("GET /box/k", get))).toBe("InvalidAccessKeyId");
  });

  test("may carry metadata, and a checksum that S3 ignores in the query", async () => {
    const { byUrl } = await withUrls();
    const hoisted = { "x-amz-checksum-crc32": "AAAAAA==", "x-amz-meta-n": "1" };

    expect((await byUrl("PUT /box/k", presigned("PUT", "/box/k", 60, {}, hoisted), { body: "png" })).status).toBe(200);
  });

  test("holds to the millisecond of its time", async () => {
    const { byUrl, call, clock } = await withUrls();
    await call("PUT /box/k", { body: "png" });
    const get = presigned("GET", "/box/k", 60);

    clock.jumpTo(START + 60_000);
    const last = await byUrl("GET /box/k", get);
    clock.jumpTo(START + 60_001);
    const late = await byUrl("GET /box/k", get);

    expect(last.status).toBe(200);
    expect(late.text).toContain("Request has expired");
  });

  test.each([
    ["no signature at all", {}, "Access Denied"],
    [
      "a signature of version 2",
      { AWSAccessKeyId: "local", Signature: "x", Expires: "1" },
      "Please use AWS4-HMAC-SHA256.",
    ],
  ])("%s is refused", async (_, query, words) => {
    const { byUrl } = await withUrls();

    expect((await byUrl("GET /box/k", query)).text).toContain(words);
  });
});

describe("a form", () => {
  const fields = {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: S3 puts the file's name here
    key: "up/${filename}",
    "Content-Type": "image/png",
    "x-amz-algorithm": "AWS4-HMAC-SHA256",
    "x-amz-credential": `local/${SCOPE}`,
    "x-amz-date": SIGNED_AT,
  };
  const conditions: unknown[] = [
    { bucket: "box" },
    ["starts-with", "$key", "up/"],
    ["eq", "$Content-Type", "image/png"],
    ["content-length-range", 2, 5],
    { "x-amz-algorithm": "AWS4-HMAC-SHA256" },
    { "x-amz-credential": `local/${SCOPE}` },
    { "x-amz-date": SIGNED_AT },
  ];
  const filled = (more: Record<string, string> = {}, file = "data", policy: object = {}) =>
    form({ ...fields, ...more }, file, { conditions, ...policy });

  test("puts its file under the key that it composes, with its type", async () => {
    const { call } = await withBucket();

    expect((await call("POST /box", filled())).status).toBe(204);
    expect(await call("GET /box/up/photo.png")).toMatchObject({
      text: "data",
      headers: { "content-type": "image/png" },
    });
  });

  test.each([
    ["too small a file", filled({}, "d"), "EntityTooSmall"],
    ["too large a file", filled({}, "too long"), "EntityTooLarge"],
    ["a key elsewhere", filled({ key: "elsewhere" }), "Policy Condition failed"],
    ["a field that its policy does not name", filled({ "x-amz-meta-a": "1" }), "Extra input fields: x-amz-meta-a"],
    ["a policy that is over", filled({}, "data", { expiration: "2026-01-01T11:59:59Z" }), "Policy expired"],
  ])("with %s is refused", async (_, sent, words) => {
    const { call } = await withBucket();

    expect((await call("POST /box", sent)).text).toContain(words);
  });

  test("is answered with the status that it asks for", async () => {
    const { call } = await withBucket();
    const status = { success_action_status: "201" };
    const created = await call("POST /box", filled(status, "data", { conditions: [...conditions, status] }));

    expect(created.status).toBe(201);
    expect(readXml(created.text).name).toBe("PostResponse");
  });

  test("with a forged signature is refused", async () => {
    const { call } = await withBucket();
    const sent = filled();
    const body = sent.body.replace(/(name="x-amz-signature"\r\n\r\n).{4}/, "$10000");

    expect(codeOf(await call("POST /box", { ...sent, body }))).toBe("SignatureDoesNotMatch");
  });
});

describe("signatures are those of the examples that AWS publishes", () => {
  const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const scope = "20130524/us-east-1/s3/aws4_request";
  const headers = { host: "examplebucket.s3.amazonaws.com" };
  const request = { method: "GET", path: "/test.txt", headers };

  test("of a URL", () => {
    const query = {
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": `AKIAIOSFODNN7EXAMPLE/${scope}`,
      "X-Amz-Date": "20130524T000000Z",
      "X-Amz-Expires": "86400",
      "X-Amz-SignedHeaders": "host",
      "X-Amz-Signature": "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
    };
    const keys = new Map([["AKIAIOSFODNN7EXAMPLE", secret]]);
    const signed = { ...request, query: Object.entries(query) };

    expect(() => authenticate(signed, keys, Date.UTC(2013, 4, 24, 1))).not.toThrow();
  });

  test("of headers", () => {
    const empty = createHash("sha256").update("").digest("hex");
    const ranged = { ...headers, range: "bytes=0-9", "x-amz-content-sha256": empty, "x-amz-date": "20130524T000000Z" };
    const names = "host;range;x-amz-content-sha256;x-amz-date";
    const text = stringToSign({ ...request, query: [], headers: ranged }, names, empty, "20130524T000000Z", scope);

    expect(sign(secret, scope, text)).toBe("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  });
});
