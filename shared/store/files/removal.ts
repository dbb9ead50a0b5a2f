// Removal of several objects of S3 in one request.
import { DeleteObjectsCommand, type S3Client } from "@aws-sdk/client-s3";
import { namedError } from "../../kernel/errors.ts";

/**
 * Removes at most a thousand objects; one that does not exist counts as removed. S3 answers a request of which it did
 * only a part as one that succeeded. @throws ServiceUnavailable with the first key that it kept
 */
export async function removeObjects(
  { client, Bucket }: { client: S3Client; Bucket: string },
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  const Objects = keys.map((Key) => ({ Key }));
  const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
  const [kept] = Errors;
  if (kept) throw namedError("ServiceUnavailable", `S3 did not remove ${kept.Key}: ${kept.Code}`);
}
