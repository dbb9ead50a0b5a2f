// Versions of what people edit: two of them who began with the same version do not overwrite each other (RDA-25).
import * as v from "valibot";
import { absent, type Condition, is } from "./conditions.ts";

/** How often it was edited; absent before the first edit. */
export const editFields = { edits: v.optional(v.number()) };

/** What an edit adds to a row. */
export const anotherEdit = { edits: 1 } as const;

/** From 1, as the API says it. */
export const versionOf = ({ edits = 0 }: { edits?: number | undefined }): number => edits + 1;

/** What became of an edit of what somebody saw; `outdated`: it had another version by then, and nothing was written. */
export type EditResult<T> = { kind: "edited"; entity: T } | { kind: "outdated" };

export const edited = <T>(entity: T): EditResult<T> => ({ kind: "edited", entity });

export const outdated = { kind: "outdated" } as const;

export const isStill = (version: number): Condition<"edits"> =>
  version === 1 ? absent("edits") : is("edits", version - 1);
