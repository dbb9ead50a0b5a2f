// Multipart uploads: parts in any order, joined when the upload is completed.
import { awsFailure, type Deps, type Wire } from "../stand-in.ts";
import {
  type Algorithm,
  algorithmIn,
  algorithms,
  compositeOf,
  md5,
  memberOf,
  verify,
  wrongChecksum,
} from "./checksums.ts";
import * as errors from "./errors.ts";
import { aboutOf, checkWrite, placeOf } from "./objects.ts";
import type { Part, S3Storage, Upload } from "./storage.ts";

const MIN_PART = 5 * 1_048_576;
const MAX_PARTS = 10_000;
const MAX_PART_BYTES = 5 * 1_073_741_824;

interface GivenPart {
  PartNumber: number;
  ETag: string;
  [checksum: string]: unknown;
}

export function multipartOperations(storage: S3Storage, { clock, ids }: Deps): Record<string, (input: Wire) => Wire> {
  const find = (input: Wire): Upload => {
    const { bucket, key } = placeOf(storage, input);
    const upload = storage.uploads(bucket).find(({ id }) => id === input.UploadId);
    if (upload?.key !== key) throw errors.noSuchUpload({ UploadId: String(input.UploadId) });
    return upload;
  };

  const create = (input: Wire): Wire => {
    const { bucket, key } = placeOf(storage, input);
    const algorithm = algorithmIn(input.ChecksumAlgorithm);
    const about = { ...aboutOf(input), ...(algorithm && { checksum: { algorithm, value: "" } }) };
    const id = ids.uuid().replaceAll("-", "");
    storage.addUpload({ id, bucket, key, created: clock.now(), about });
    return { Bucket: bucket, Key: key, UploadId: id, ChecksumAlgorithm: algorithm };
  };

  const uploadPart = (input: Wire): Wire => {
    const upload = find(input);
    const number = Number(input.PartNumber);
    if (!Number.isInteger(number) || number < 1 || number > MAX_PARTS)
      throw errors.invalidArgument(`Part number must be an integer between 1 and ${MAX_PARTS}, inclusive`);
    const body = input.Body as Uint8Array;
    if (body.length > MAX_PART_BYTES) throw errors.tooLarge();
    const algorithm = upload.about.checksum?.algorithm;
    const given = algorithms.find((one) => input[memberOf(one)] !== undefined);
    if (given && given !== algorithm) throw otherChecksum(algorithm, given);
    const checksum = verify(algorithm ? { ChecksumAlgorithm: algorithm, ...input } : input, body);
    const etag = `"${md5(body).toString("hex")}"`;
    const blob = ids.uuid();
    const old = storage.parts(upload.id).find((part) => part.number === number);
    if (old) storage.dropBlob(old.blob);
    storage.putBlob(blob, body);
    storage.putPart(upload.id, { number, blob, etag, size: body.length, modified: clock.now(), checksum });
    return { ETag: etag, ...(checksum && { [memberOf(checksum.algorithm)]: checksum.value }) };
  };

  /** The named parts, each as uploaded. */
  const chosen = (upload: Upload, given: readonly GivenPart[]): Part[] => {
    if (given.length === 0) throw errors.malformed();
    if (given.some(({ PartNumber }, i) => i > 0 && PartNumber <= given[i - 1]!.PartNumber))
      throw errors.invalidPartOrder();
    const found = new Map(storage.parts(upload.id).map((part) => [part.number, part]));
    const announced = upload.about.checksum?.algorithm;
    return given.map(({ PartNumber, ETag, ...sums }, i) => {
      const part = found.get(PartNumber);
      if (!part || unquoted(part.etag) !== unquoted(ETag)) throw errors.invalidPart({ PartNumber: String(PartNumber) });
      if (announced && sums[memberOf(announced)] === undefined) throw missingChecksum(announced, PartNumber);
      for (const algorithm of algorithms) {
        const sum = sums[memberOf(algorithm)];
        if (sum !== undefined && (part.checksum?.algorithm !== algorithm || part.checksum.value !== sum))
          throw errors.invalidPart({ PartNumber: String(PartNumber) });
      }
      if (i < given.length - 1 && part.size < MIN_PART)
        throw errors.tooSmall({ ProposedSize: String(part.size), MinSizeAllowed: String(MIN_PART) });
      return part;
    });
  };

  const complete = (input: Wire): Wire => {
    const upload = find(input);
    const { bucket, key, about } = upload;
    const parts = chosen(upload, (input.MultipartUpload as { Parts: GivenPart[] }).Parts);
    checkWrite(input, storage.object(bucket, key));
    const digest = md5(Buffer.concat(parts.map(({ etag }) => Buffer.from(unquoted(etag), "hex")))).toString("hex");
    const etag = `"${digest}-${parts.length}"`;
    const blob = ids.uuid();
    let size = 0;
    for (const part of parts) {
      storage.moveBlob(part.blob, blob, size);
      size += part.size;
    }
    const checksum = about.checksum && joined(about.checksum.algorithm, parts, input);
    storage.putObject(bucket, { key, blob, etag, size, modified: clock.now(), about: { ...about, checksum } });
    storage.removeUpload(upload.id);
    return {
      Bucket: bucket,
      Key: key,
      ETag: etag,
      Location: `http://s3.amazonaws.com/${bucket}/${encodeURIComponent(key)}`,
      ...(checksum && { [memberOf(checksum.algorithm)]: checksum.value }),
    };
  };

  return {
    CreateMultipartUpload: create,
    UploadPart: uploadPart,
    CompleteMultipartUpload: complete,
    AbortMultipartUpload: (input) => {
      storage.removeUpload(find(input).id);
      return {};
    },
  };
}

const otherChecksum = (expected: Algorithm | undefined, actual: Algorithm) =>
  awsFailure(
    "InvalidRequest",
    `Checksum Type mismatch occurred, expected checksum Type: ${expected?.toLowerCase() ?? null}, actual checksum Type: ${actual.toLowerCase()}`,
  );

const missingChecksum = (algorithm: Algorithm, part: number) =>
  awsFailure(
    "InvalidRequest",
    `The upload was created using a ${algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${part} in the request.`,
  );

const unquoted = (etag: string) => etag.replace(/^"|"$/g, "");

/** The checksum of the whole is that of the parts' checksums. */
function joined(algorithm: Algorithm, parts: readonly Part[], input: Wire) {
  if (parts.some(({ checksum }) => checksum?.algorithm !== algorithm))
    throw awsFailure("InvalidRequest", "The upload was created using a checksum; every part needs one.");
  const given = input[memberOf(algorithm)];
  const value = compositeOf(
    algorithm,
    parts.map(({ checksum }) => checksum!.value),
  );
  if (given !== undefined && given !== value) throw wrongChecksum(algorithm);
  return { algorithm, value };
}
