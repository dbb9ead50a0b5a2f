// Conditional edits: the header `If-Match` names the version that the caller read, and `ETag` returns the new one
// (RDA-25).
import * as v from "valibot";
import { ApiError, beingChanged } from "../kernel/errors.ts";
import type { EditResult } from "../store/edits.ts";
import { type Reply, replyWith } from "./endpoint.ts";

interface VersionedEntity {
  version: number;
}

export const IF_MATCH =
  "With the header `If-Match` only if it still has that version or entity tag, else 412 with what is there now as `current`. " +
  "The header `ETag` is its new version.";

const tagOf = ({ version }: VersionedEntity): string => `"${version}"`;

/** Adds the version as the entity tag. */
export const tagged = <T extends VersionedEntity>(found: T): Reply => replyWith(200, found, { etag: tagOf(found) });

/** A proxy that compresses answers makes their tags weak; the version is the same. */
const names = (header: string, { version }: VersionedEntity): boolean =>
  header.split(",").some((tag) => tag.trim().replace(/^W\//, "").replaceAll('"', "") === String(version));

const isAny = (header: string): boolean => header.trim() === "*";

interface Edit<T extends VersionedEntity> {
  read(): Promise<T>;
  /** Edits the version that was read, or whatever is stored. */
  edit(seen: T | undefined): Promise<EditResult<T>>;
  /** The API's form of the resource, if it differs from the stored one. */
  show?(found: T): VersionedEntity | Promise<VersionedEntity>;
}

/**
 * Makes an edit if the stored version is the one that the caller read, or if the caller names none. @param returns the
 * schema of the answer @throws 412 with the stored version, 409 if another edit came first, and the errors of `read`
 * and `edit`
 */
export async function editAsSeen<T extends VersionedEntity>(
  { "if-match": header = "*" }: Readonly<Record<string, string | undefined>>,
  returns: v.GenericSchema,
  { read, edit, show = (found) => found }: Edit<T>,
): Promise<Reply> {
  const seen = isAny(header) ? undefined : await read();
  if (seen && !names(header, seen)) throw changedMeanwhile(await show(seen), returns);
  const outcome = await edit(seen);
  if (outcome.kind === "edited") return tagged(await show(outcome.entity));
  if (seen) throw changedMeanwhile(await show(await read()), returns);
  throw beingChanged();
}

const changedMeanwhile = (current: VersionedEntity, returns: v.GenericSchema): ApiError =>
  new ApiError("PRECONDITION_FAILED", `It was changed meanwhile: it has version ${current.version}.`, {
    current: v.parse(returns, current),
    headers: { etag: tagOf(current) },
  });
