// Removal of several objects of S3 in one request.
import { DeleteObjectsCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { namedError } from "../../kernel/errors.ts";

interface ClientOfBucket {
  client: S3Client;
  Bucket: string;
}

/**
 * Removes at most a thousand objects; one that does not exist counts as removed. S3 answers a request of which it did
 * only a part as one that succeeded. @throws ServiceUnavailable with the first key that it kept
 */
export async function removeObjects({ client, Bucket }: ClientOfBucket, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const Objects = keys.map((Key) => ({ Key }));
  const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  const [kept] = Errors;
  if (kept) throw namedError("ServiceUnavailable", `S3 did not remove ${kept.Key}: ${kept.Code}`);
}

/** Removes up to a thousand objects of a folder. @returns how many there were */
export async function removeSomeOf(bucket: ClientOfBucket, folder: string): Promise<number> {
  const input = { Bucket: bucket.Bucket, Prefix: folder };
  const { Contents = [] } = await bucket.client.send(new ListObjectsV2Command(input));
  const keys = Contents.flatMap(({ Key }) => Key ?? []);
  await removeObjects(bucket, keys);
  return keys.length;
}
