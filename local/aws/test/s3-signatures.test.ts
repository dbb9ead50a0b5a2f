// The embedded S3: presigned URLs, forms and signatures.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { authenticate, sign, stringToSign } from "../s3/signatures.ts";
import { readXml } from "../s3/xml.ts";
import { type Answer, form, presigned, SCOPE, SIGNED_AT, s3World } from "./support/s3.ts";

async function withBucket(file?: string) {
  const world = s3World(file);
  expect((await world.call("PUT /box")).status).toBe(200);
  return world;
}

const code = ({ text }: Answer) => /<Code>(.*)<\/Code>/.exec(text)?.[1];

test("presigned URLs hold for their time, their method, their key and their headers", async () => {
  const { call, clock } = await withBucket();
  const url = (method: string, path: string, query: Record<string, string>, more = {}) =>
    call(`${method} ${path}`, { query, unsigned: true, ...more });
  const put = presigned("PUT", "/box/k", 60, { "content-type": "image/png" });
  const image = { headers: { "content-type": "image/png" }, body: "png" };
  expect((await url("PUT", "/box/k", put, image)).status).toBe(200);
  expect(code(await url("PUT", "/box/k", put, { headers: { "content-type": "text/html" }, body: "x" }))).toBe(
    "SignatureDoesNotMatch",
  );
  expect(code(await url("PUT", "/box/other", put, image))).toBe("SignatureDoesNotMatch");
  const get = presigned("GET", "/box/k", 60);
  expect((await url("GET", "/box/k", get)).text).toBe("png");
  expect(code(await url("DELETE", "/box/k", get))).toBe("SignatureDoesNotMatch");
  expect(code(await url("GET", "/box/k", { ...get, "X-Amz-Expires": "999" }))).toBe("SignatureDoesNotMatch");
  expect(code(await url("GET", "/box/k", { ...get, "X-Amz-Credential": `other/${SCOPE}` }))).toBe("InvalidAccessKeyId");
  const summed = presigned("PUT", "/box/k", 60, {}, { "x-amz-checksum-crc32": "AAAAAA==", "x-amz-meta-n": "1" });
  // S3 ignores a checksum in the query.
  expect((await url("PUT", "/box/k", summed, { body: "png" })).status).toBe(200);
  clock.jumpTo(clock.now() + 60_000);
  expect((await url("GET", "/box/k", get)).status).toBe(200);
  clock.jumpTo(clock.now() + 1);
  expect((await url("GET", "/box/k", get)).text).toContain("Request has expired");
  expect(code(await call("GET /box/k", { unsigned: true }))).toBe("AccessDenied");
  const older = { AWSAccessKeyId: "local", Signature: "x", Expires: "1" };
  expect((await url("GET", "/box/k", older)).text).toContain("Please use AWS4-HMAC-SHA256.");
});

test("a form is held against its policy", async () => {
  const { call, clock } = await withBucket();
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
  const post = (more: Record<string, string> = {}, file = "data", policy: object = {}) =>
    call("POST /box", form({ ...fields, ...more }, file, { conditions, ...policy }));
  expect((await post()).status).toBe(204);
  const got = await call("GET /box/up/photo.png");
  expect([got.text, got.headers["content-type"]]).toEqual(["data", "image/png"]);
  expect(code(await post({}, "d"))).toBe("EntityTooSmall");
  expect(code(await post({}, "too long"))).toBe("EntityTooLarge");
  expect((await post({ key: "elsewhere" })).text).toContain("Policy Condition failed");
  expect((await post({ "x-amz-meta-a": "1" })).text).toContain("Extra input fields: x-amz-meta-a");
  expect((await post({}, "data", { expiration: "2026-01-01T11:59:59Z" })).text).toContain("Policy expired");
  const status = { success_action_status: "201" };
  const created = await post(status, "data", { conditions: [...conditions, status] });
  expect([created.status, readXml(created.text).name]).toEqual([201, "PostResponse"]);
  const forged = form(fields, "data", { conditions });
  const body = forged.body.replace(/(name="x-amz-signature"\r\n\r\n).{4}/, "$10000");
  expect(code(await call("POST /box", { ...forged, body }))).toBe("SignatureDoesNotMatch");
  expect(clock.now()).toBe(Date.parse("2026-01-01T12:00:00Z"));
});

test("signatures are those of the examples that AWS publishes", () => {
  const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const keys = new Map([["AKIAIOSFODNN7EXAMPLE", secret]]);
  const scope = "20130524/us-east-1/s3/aws4_request";
  const query = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `AKIAIOSFODNN7EXAMPLE/${scope}`,
    "X-Amz-Date": "20130524T000000Z",
    "X-Amz-Expires": "86400",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Signature": "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
  };
  const headers = { host: "examplebucket.s3.amazonaws.com" };
  const request = { method: "GET", path: "/test.txt", query: Object.entries(query), headers };
  authenticate(request, keys, Date.UTC(2013, 4, 24, 1));

  const empty = createHash("sha256").update("").digest("hex");
  const ranged = { ...headers, range: "bytes=0-9", "x-amz-content-sha256": empty, "x-amz-date": "20130524T000000Z" };
  const names = "host;range;x-amz-content-sha256;x-amz-date";
  const text = stringToSign({ ...request, query: [], headers: ranged }, names, empty, "20130524T000000Z", scope);
  expect(sign(secret, scope, text)).toBe("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
});
