// Edits of what the caller has seen: the header `If-Match` names its version, and the header `ETag` says the new one (RDA-25).
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

/** With its version as its entity tag. */
export const tagged = <T extends VersionedEntity>(found: T): Reply => replyWith(200, found, { etag: tagOf(found) });

/** A proxy that packs answers makes their tags weak; the version is the same. */
const names = (header: string, { version }: VersionedEntity): boolean =>
  header.split(",").some((tag) => tag.trim().replace(/^W\//, "").replaceAll('"', "") === String(version));

const isAny = (header: string): boolean => header.trim() === "*";

interface Edit<T extends VersionedEntity> {
  read(): Promise<T>;
  /** Of what was seen, or of whatever is there. */
  edit(seen: T | undefined): Promise<EditResult<T>>;
  /** How the API shows it, where that is not as it is. */
  show?(found: T): VersionedEntity | Promise<VersionedEntity>;
}

/**
 * Makes an edit if what is there is what the caller saw, and any edit of a caller who does not say what that was.
 * @param returns the schema of the answer
 * @throws 412 with what is there now, 409 where somebody else came first, and what `read` and `edit` throw
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
