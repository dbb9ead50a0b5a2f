// The embedded S3 through the real SDK: in process, over its port, by presigned URL and by presigned form.
import { Readable } from "node:stream";
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { createPresignedPost } from "@aws-sdk/s3-presigned-post";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AwsPort, startAwsPort } from "../port.ts";
import { requestHandler } from "../protocol.ts";
import { servicesWithS3 } from "./support/s3.ts";

const MB = 1_048_576;
const Bucket = "box";
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const settings = { region: "us-east-1", credentials, requestChecksumCalculation: "WHEN_SUPPORTED" } as const;

const { services, s3: standIn, clock } = servicesWithS3();
let port: AwsPort;
beforeAll(async () => {
  port = await startAwsPort(services, 0, () => undefined);
  await standIn.operate("CreateBucket", { Bucket });
});
afterAll(() => port.close());

const overPort = () => new S3Client({ ...settings, endpoint: port.url, forcePathStyle: true });

test("a large object comes in pieces, and its reader is awaited between them", async () => {
  let pauses = 0;
  const pause = async () => void pauses++;
  const s3 = new S3Client({ ...settings, requestHandler: requestHandler(services, {}, pause) });
  const bytes = Buffer.alloc(MB, "abc");
  await s3.send(new PutObjectCommand({ Bucket, Key: "pieces", Body: bytes }));
  pauses = 0;
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: "pieces" }));
  expect(Buffer.from(await Body!.transformToByteArray()).equals(bytes)).toBe(true);
  expect(pauses).toBe(16);
});

describe.each(["in process", "over the port"])("a client %s", (place) => {
  const client = () =>
    place === "in process" ? new S3Client({ ...settings, requestHandler: requestHandler(services) }) : overPort();

  const tag = (s3: S3Client, Tagging: string) =>
    s3.send(new PutObjectCommand({ Bucket, Key: "tagged", Body: "x", Tagging }));

  test("a client of S3 tags an object as it puts it", async () => {
    const s3 = client();
    await tag(s3, "team=crm&note=a%20b");
    expect((await s3.send(new GetObjectTaggingCommand({ Bucket, Key: "tagged" }))).TagSet).toEqual([
      { Key: "team", Value: "crm" },
      { Key: "note", Value: "a b" },
    ]);
    expect((await s3.send(new HeadObjectCommand({ Bucket, Key: "tagged" }))).TagCount).toBe(2);
  });

  test.each([
    ["a key of other signs", "%3C=", "InvalidTag"],
    ["a key twice", "a=1&a=2", "InvalidArgument"],
    ["more than ten", Array.from({ length: 11 }, (_, n) => `k${n}=`).join("&"), "BadRequest"],
  ])("a client of S3 does not tag an object with %s", async (_, tags, name) => {
    await expect(tag(client(), tags)).rejects.toMatchObject({ name });
  });

  test("a client of S3 puts text, bytes and streams with checksums, and gets them back", async () => {
    const s3 = client();
    await s3.send(new CreateBucketCommand({ Bucket: "another" }));
    const bytes = Buffer.alloc(300_000, "abc");
    const bodies = {
      text: "hello ü",
      bytes,
      stream: Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)]),
    };
    for (const [Key, Body] of Object.entries(bodies)) {
      const more = Key === "stream" ? { ContentLength: bytes.length } : {};
      await s3.send(
        new PutObjectCommand({ Bucket, Key, Body, ContentType: "text/plain", Metadata: { n: "1" }, ...more }),
      );
      const { Body: got, ...about } = await s3.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
      const sent = Key === "text" ? Buffer.from("hello ü") : bytes;
      expect(Buffer.from(await got!.transformToByteArray()).equals(sent)).toBe(true);
      expect(about).toMatchObject({ ContentType: "text/plain", Metadata: { n: "1" }, ContentLength: sent.length });
    }
    const range = await s3.send(new GetObjectCommand({ Bucket, Key: "bytes", Range: "bytes=1-4" }));
    expect(await range.Body!.transformToString()).toBe("bcab");
    await expect(s3.send(new GetObjectCommand({ Bucket, Key: "none" }))).rejects.toMatchObject({ name: "NoSuchKey" });
    await expect(s3.send(new HeadObjectCommand({ Bucket, Key: "none" }))).rejects.toMatchObject({ name: "NotFound" });
    const again = new PutObjectCommand({ Bucket, Key: "text", Body: "x", IfNoneMatch: "*" });
    await expect(s3.send(again)).rejects.toMatchObject({ name: "PreconditionFailed" });
  });

  test.each(["CRC32", "SHA256"] as const)("multipart with %s", async (ChecksumAlgorithm) => {
    const s3 = client();
    const Key = `big ${ChecksumAlgorithm}`;
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm }));
    const bodies = [Buffer.alloc(5 * MB, "1"), Buffer.from("end")];
    const Parts = [];
    for (const [i, Body] of bodies.entries()) {
      const part = await s3.send(
        new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: i + 1, Body, ChecksumAlgorithm }),
      );
      const { $metadata: _, ...said } = part;
      Parts.push({ PartNumber: i + 1, ...said });
    }
    await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
    expect((await Body!.transformToByteArray()).length).toBe(5 * MB + 3);
  });

  test("a client of S3 lists and deletes", async () => {
    const s3 = client();
    for (const Key of ["l/a b", "l/ü", "l/x/1"]) await s3.send(new PutObjectCommand({ Bucket, Key, Body: "1" }));
    const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: "l/", Delimiter: "/" }));
    expect(page.Contents?.map(({ Key }) => Key)).toEqual(["l/a b", "l/ü"]);
    expect(page.CommonPrefixes).toEqual([{ Prefix: "l/x/" }]);
    const Objects = page.Contents!.map(({ Key }) => ({ Key }));
    const gone = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(gone.Deleted).toHaveLength(2);
  });
});

test("presigned URLs work over the port until they expire", async () => {
  const s3 = new S3Client({
    ...settings,
    requestChecksumCalculation: "WHEN_REQUIRED",
    endpoint: port.url,
    forcePathStyle: true,
  });
  const signingDate = new Date(clock.now());
  const Key = "signed/ü & more.txt";
  const put = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key, ContentType: "text/plain" }), {
    expiresIn: 60,
    signingDate,
    signableHeaders: new Set(["content-type"]),
  });
  const get = await getSignedUrl(
    s3,
    new GetObjectCommand({ Bucket, Key, ResponseContentDisposition: 'attachment; filename="a b"' }),
    {
      expiresIn: 60,
      signingDate,
    },
  );
  const sent = { method: "PUT", body: "by URL", headers: { "content-type": "text/plain" } };
  expect((await fetch(put, sent)).status).toBe(200);
  expect((await fetch(put, { ...sent, headers: { "content-type": "text/html" } })).status).toBe(403);
  const got = await fetch(get);
  expect([await got.text(), got.headers.get("content-disposition")]).toEqual(["by URL", 'attachment; filename="a b"']);
  clock.jumpTo(clock.now() + 61_000);
  expect((await fetch(get)).status).toBe(403);
});

test("the checksum that the SDK puts into a presigned URL is that of no body, and is ignored", async () => {
  const signingDate = new Date(clock.now());
  const unknown = await getSignedUrl(overPort(), new PutObjectCommand({ Bucket, Key: "sums" }), {
    expiresIn: 60,
    signingDate,
  });
  expect(unknown).toContain("x-amz-checksum-crc32=");
  expect((await fetch(unknown, { method: "PUT", body: "any body" })).status).toBe(200);
});

test("a presigned form takes what its conditions allow", async () => {
  // The form's own date is the wall clock's: its life is measured from there.
  const { url, fields } = await createPresignedPost(overPort(), {
    Bucket,
    Key: "form/x",
    Conditions: [
      ["content-length-range", 1, 10],
      ["starts-with", "$Content-Type", "image/"],
    ],
    Fields: { "Content-Type": "image/png" },
    Expires: 3_600,
  });
  const post = (text: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", new Blob([text]), "x.png");
    return fetch(url, { method: "POST", body: form });
  };
  expect((await post("image")).status).toBe(204);
  expect((await post("far too long")).status).toBe(400);
});
