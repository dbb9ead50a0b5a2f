// Operations on the tags of objects.
import type { Wire } from "../stand-in.ts";
import * as errors from "./errors.ts";
import { placeOf } from "./objects.ts";
import type { S3Storage, Stored } from "./storage.ts";
import { type Tags, tagsOf } from "./tags.ts";

export function tagOperations(storage: S3Storage): Record<string, (input: Wire) => Wire> {
  const find = (input: Wire): Stored & { bucket: string } => {
    const { bucket, key } = placeOf(storage, input);
    const object = storage.object(bucket, key);
    if (!object) throw errors.noSuchKey({ Key: key });
    return { bucket, ...object };
  };
  const tag = (input: Wire, tags: Tags): Wire => {
    const { bucket, key, about } = find(input);
    storage.changeAbout(bucket, key, { ...about, tags });
    return {};
  };

  return {
    PutObjectTagging: (input) => tag(input, tagsOf(input.Tagging as [string, string][])),
    DeleteObjectTagging: (input) => tag(input, {}),
    GetObjectTagging: (input) => ({
      TagSet: Object.entries(find(input).about.tags ?? {}).map(([Key, Value]) => ({ Key, Value })),
    }),
  };
}
