// What S3 is asked for images, imports and exports, and what becomes of its answers.
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { mockClient } from "aws-sdk-client-mock";
import { expect, it } from "vitest";
import { NO_TENANT } from "../../shared/kernel/deps.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { assetWriting } from "../../shared/store/files/assets.ts";
import { exportWriting } from "../../shared/store/files/exports.ts";
import { importErasing, importReading, importRemoval, importUploads } from "../../shared/store/files/imports.ts";
import { mailRemoval } from "../../shared/store/files/mails.ts";
import { awsDeps, failure } from "./clients.ts";

const env = { ASSETS_BUCKET: "assets", IMPORTS_BUCKET: "imports", BASE_URL: "https://example.com" };
const shop = "shop" as TenantId;
const Bucket = "imports";

function mockedFiles() {
  const deps = awsDeps(env);
  const s3 = mockClient(deps.aws(S3Client));
  s3.onAnyCommand().resolves({});
  return { deps, s3, sent: () => s3.calls().map(({ args: [{ input }] }) => input) };
}

it("an image is put with its type, and may be cached for a minute", async () => {
  const { deps, sent } = mockedFiles();
  const bytes = Buffer.from("png");
  await assetWriting.open(deps)(NO_TENANT).put("a.png", bytes, "image/png");
  expect(sent()).toEqual([
    {
      Bucket: "assets",
      Key: "assets/a.png",
      Body: bytes,
      ContentType: "image/png",
      CacheControl: "public, max-age=60, immutable",
    },
  ]);
});

it("an import is read from a byte on, and from the first without a range", async () => {
  const { deps, sent } = mockedFiles();
  const files = importReading.open(deps)(shop);
  await files.read("i", 0);
  await files.read("i", 10);
  const Key = "imports/shop/i.csv";
  expect(sent()).toEqual([
    { Bucket, Key, Range: undefined },
    { Bucket, Key, Range: "bytes=10-" },
  ]);
});

it("a range behind the last byte is the end of the file", async () => {
  const { deps, s3 } = mockedFiles();
  s3.on(GetObjectCommand).rejects(failure("InvalidRange"));
  const file = await importReading.open(deps)(shop).read("i", 10);
  expect(await Array.fromAsync(file ?? [])).toEqual([]);
});

it.each(["NoSuchKey", "NotFound", "NoSuchBucket"])("%s is a file that is not there", async (name) => {
  const { deps, s3 } = mockedFiles();
  s3.on(HeadObjectCommand).rejects(failure(name));
  expect(await importUploads.open(deps)(shop).sizeOf("i")).toBeUndefined();
});

it.each(["SlowDown", "ExpiredToken", "AccessDenied", "TimeoutError"])(
  "%s is not a file that is not there",
  async (name) => {
    const { deps, s3 } = mockedFiles();
    s3.on(GetObjectCommand).rejects(failure(name));
    await expect(importReading.open(deps)(shop).read("i", 0)).rejects.toMatchObject({ name });
  },
);

it("the files of a workspace are listed page by page, and only its own", async () => {
  const { deps, s3, sent } = mockedFiles();
  s3.on(ListObjectsV2Command)
    .resolvesOnce({ Contents: [{ Key: "imports/shop/a.csv" }], NextContinuationToken: "next" })
    .resolvesOnce({ Contents: [{ Key: "imports/shop/b.csv" }] });
  expect(await importErasing.open(deps)(shop).uploads()).toEqual(["a", "b"]);
  expect(sent()).toMatchObject([{ Prefix: "imports/shop/" }, { Prefix: "imports/shop/", ContinuationToken: "next" }]);
});

it("a part names its upload and its number, and returns its tag with its checksum", async () => {
  const { deps, s3, sent } = mockedFiles();
  s3.on(UploadPartCommand).resolves({ ETag: "tag", ChecksumCRC32: "sum" });
  expect(await exportWriting.open(deps)(shop).putPart("e", "upload", 2, "a,b")).toBe("tag sum");
  expect(sent()).toEqual([{ Bucket, Key: "exports/shop/e.csv", UploadId: "upload", PartNumber: 2, Body: "a,b" }]);
});

it("parts are joined in their order, by their tags and checksums", async () => {
  const { deps, sent } = mockedFiles();
  await exportWriting.open(deps)(shop).complete("e", "upload", ["one a", "two b"]);
  const Parts = [
    { ETag: "one", ChecksumCRC32: "a", PartNumber: 1 },
    { ETag: "two", ChecksumCRC32: "b", PartNumber: 2 },
  ];
  expect(sent()).toEqual([{ Bucket, Key: "exports/shop/e.csv", UploadId: "upload", MultipartUpload: { Parts } }]);
});

it("an upload announces the checksums of its parts", async () => {
  const { deps, s3, sent } = mockedFiles();
  s3.on(CreateMultipartUploadCommand).resolves({ UploadId: "upload" });
  expect(await exportWriting.open(deps)(shop).begin("e")).toBe("upload");
  expect(sent()).toMatchObject([{ Key: "exports/shop/e.csv", ChecksumAlgorithm: "CRC32" }]);
});

it("an upload that S3 does not name is an error", async () => {
  const { deps, s3 } = mockedFiles();
  s3.on(CreateMultipartUploadCommand).resolves({});
  await expect(exportWriting.open(deps)(shop).begin("e")).rejects.toThrow("S3 named no upload.");
});

it("a part without a tag is an error", async () => {
  const { deps } = mockedFiles();
  await expect(exportWriting.open(deps)(shop).putPart("e", "upload", 1, "")).rejects.toThrow("no tag of a part");
});

it("an upload that is gone already is aborted", async () => {
  const { deps, s3 } = mockedFiles();
  s3.on(AbortMultipartUploadCommand).rejects(failure("NoSuchUpload"));
  await expect(exportWriting.open(deps)(shop).abort("e", "upload")).resolves.toBeUndefined();
});

it("the removal of an export takes its file and the rest of its making", async () => {
  const { deps, sent } = mockedFiles();
  await exportWriting.open(deps)(shop).removeExport("e");
  const Objects = [{ Key: "exports/shop/e.csv" }, { Key: "exports/shop/e.rest" }];
  expect(sent()).toEqual([{ Bucket, Delete: { Objects, Quiet: true } }]);
});

it("the removal of an export fails where S3 removed only a part of it", async () => {
  const { deps, s3 } = mockedFiles();
  s3.on(DeleteObjectsCommand).resolves({ Errors: [{ Key: "exports/shop/e.csv", Code: "InternalError" }] });
  const removal = exportWriting.open(deps)(shop).removeExport("e");
  await expect(removal).rejects.toMatchObject({ name: "ServiceUnavailable" });
});

it.each([
  ["mails", mailRemoval, "mails/shop/a.json"],
  ["files", importRemoval, "imports/shop/i.csv"],
])(
  "the purge of the %s of a workspace fails where S3 keeps one, and says which (D-TENANT)",
  async (_, removal, Key) => {
    const { deps, s3 } = mockedFiles();
    s3.on(ListObjectsV2Command, { Prefix: Key.replace(/[^/]*$/, "") }).resolves({ Contents: [{ Key }] });
    s3.on(DeleteObjectsCommand).resolves({ Errors: [{ Key, Code: "AccessDenied" }] });

    const removing = removal.open(deps)(shop).removeSome();

    await expect(removing).rejects.toMatchObject({
      name: "ServiceUnavailable",
      message: `S3 did not remove ${Key}: AccessDenied`,
    });
  },
);
