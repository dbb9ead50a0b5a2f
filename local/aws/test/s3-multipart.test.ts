// The embedded S3: uploads in parts.
import { expect, test } from "vitest";
import { checksumOf } from "../s3/checksums.ts";
import { readXml, xmlOf } from "../s3/xml.ts";
import { codeOf, etagOf, MB, textsOf, withBucket } from "./support/s3.ts";

const LARGE = Buffer.alloc(5 * MB, "1");

/** An upload that has begun. */
async function withUpload(headers: Record<string, string> = {}) {
  const { call, database } = await withBucket();
  const started = await call("POST /box/big", { query: { uploads: "" }, headers });
  const uploadId = textsOf("UploadId", started)[0]!;
  const part = (partNumber: number, body: Buffer | string, more: Record<string, string> = {}) =>
    call("PUT /box/big", { query: { uploadId, partNumber: String(partNumber) }, body, headers: more });
  const etagOfPart = async (partNumber: number, body: Buffer | string) =>
    (await part(partNumber, body)).headers.etag ?? "";
  const complete = (...parts: [number, string, sum?: string][]) => {
    const Part = parts.map(([PartNumber, ETag, ChecksumCRC32]) => ({ PartNumber, ETag, ChecksumCRC32 }));
    return call("POST /box/big", { query: { uploadId }, body: xmlOf("CompleteMultipartUpload", { Part }) });
  };
  const abort = () => call("DELETE /box/big", { query: { uploadId } });
  return { call, database, part, etagOfPart, complete, abort };
}

test("an upload joins its parts in order, each as it was uploaded last", async () => {
  const { call, part, etagOfPart, complete } = await withUpload({ "content-type": "video/mp4" });
  await part(1, "too early");
  const second = await etagOfPart(2, "the end");
  const first = await etagOfPart(1, LARGE);
  const done = await complete([1, first], [2, second]);
  const got = await call("GET /box/big");

  expect([done.status, readXml(done.text).name]).toEqual([200, "CompleteMultipartUploadResult"]);
  expect(got.bytes.equals(Buffer.concat([LARGE, Buffer.from("the end")]))).toBe(true);
  expect(got.headers["content-type"]).toBe("video/mp4");
  expect(got.headers.etag).toMatch(/^"[0-9a-f]{32}-2"$/);
});

test("a range of a joined object goes across its parts", async () => {
  const { call, etagOfPart, complete } = await withUpload();
  await complete([1, await etagOfPart(1, LARGE)], [2, await etagOfPart(2, "the end")]);
  const headers = { range: `bytes=${LARGE.length - 1}-${LARGE.length + 2}` };

  expect((await call("GET /box/big", { headers })).text).toBe("1the");
});

test("parts that are named out of order are refused", async () => {
  const { etagOfPart, complete } = await withUpload();
  const [first, second] = [await etagOfPart(1, LARGE), await etagOfPart(2, "the end")];

  expect(codeOf(await complete([2, second], [1, first]))).toBe("InvalidPartOrder");
});

test("a part by the tag of an earlier upload of it is refused", async () => {
  const { part, etagOfPart, complete } = await withUpload();
  await part(1, "too early");
  await part(1, LARGE);

  expect(codeOf(await complete([1, etagOf("too early")], [2, await etagOfPart(2, "the end")]))).toBe("InvalidPart");
});

test("a part after the end of its upload is refused", async () => {
  const { part, etagOfPart, complete } = await withUpload();
  await complete([1, await etagOfPart(1, "all")]);

  expect(codeOf(await part(2, "late"))).toBe("NoSuchUpload");
});

test("small parts are refused, but for the last", async () => {
  const { etagOfPart, complete } = await withUpload();

  expect(codeOf(await complete([1, await etagOfPart(1, "a")], [2, await etagOfPart(2, "b")]))).toBe("EntityTooSmall");
});

test("an aborted upload leaves no bytes", async () => {
  const { part, abort, database } = await withUpload();
  await part(1, "a");

  expect((await abort()).status).toBe(204);
  expect(database.all("SELECT * FROM s3_chunks")).toEqual([]);
});

test("checksums of parts make that of the whole", async () => {
  const { etagOfPart, complete } = await withUpload({ "x-amz-checksum-algorithm": "CRC32" });
  const sum = checksumOf("CRC32", Buffer.from("a"));
  const done = await complete([1, await etagOfPart(1, "a"), sum]);

  expect(textsOf("ChecksumCRC32", done)).toEqual([`${checksumOf("CRC32", Buffer.from(sum, "base64"))}-1`]);
});

test("a part with a checksum that its upload did not announce is refused", async () => {
  const { part } = await withUpload();
  const sum = { "x-amz-checksum-crc32": checksumOf("CRC32", Buffer.from("a")) };

  expect(textsOf("Message", await part(1, "a", sum))).toEqual([
    "Checksum Type mismatch occurred, expected checksum Type: null, actual checksum Type: crc32",
  ]);
});

test("an upload that announced a checksum is completed with that of each part alone", async () => {
  const { etagOfPart, complete } = await withUpload({ "x-amz-checksum-algorithm": "CRC32" });

  expect(textsOf("Message", await complete([1, await etagOfPart(1, "a")]))).toEqual([
    "The upload was created using a crc32 checksum. The complete request must include the checksum for each part. It was missing for part 1 in the request.",
  ]);
});
