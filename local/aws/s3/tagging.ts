// Operations on the tags of objects, and GetObjectAttributes.
import type { Wire } from "../stand-in.ts";
import { memberOf } from "./checksums.ts";
import * as errors from "./errors.ts";
import { placeOf } from "./objects.ts";
import type { S3Storage, Stored } from "./storage.ts";
import { type Tags, tagsOf } from "./tags.ts";

const attributes = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"] as const;

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
    GetObjectAttributes: (input) => {
      const wanted = String(input.ObjectAttributes ?? "")
        .split(",")
        .map((name) => name.trim());
      if (wanted.some((name) => !attributes.some((one) => one === name)))
        throw errors.invalidArgument("Invalid attribute name specified.");
      const { etag, size, modified, about } = find(input);
      const { checksum } = about;
      const [, parts] = /-(\d+)"$/.exec(etag) ?? [];
      const all = {
        // Without quotes, here alone.
        ETag: etag.replaceAll('"', ""),
        Checksum: checksum && {
          [memberOf(checksum.algorithm)]: checksum.value,
          ChecksumType: checksum.value.includes("-") ? "COMPOSITE" : "FULL_OBJECT",
        },
        ObjectParts: parts === undefined ? undefined : { PartsCount: Number(parts) },
        StorageClass: "STANDARD",
        ObjectSize: size,
      };
      const shown = Object.fromEntries(Object.entries(all).filter(([name]) => wanted.includes(name)));
      return { ...shown, LastModified: new Date(modified).toUTCString() };
    },
  };
}
