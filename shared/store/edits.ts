// Versions of edited resources: two people who began with the same version do not overwrite each other (RDA-25).
import * as v from "valibot";
import { absent, type Condition, is } from "./conditions.ts";

/** How often it was edited; absent before the first edit. */
export const editFields = { edits: v.optional(v.number()) };

/** The change of a row by an edit. */
export const anotherEdit = { edits: 1 } as const;

/** The version in the API, from 1. */
export const versionOf = ({ edits = 0 }: { edits?: number | undefined }): number => edits + 1;

/** The result of an edit; `outdated`: the resource has another version, and nothing was written. */
export type EditResult<T> = { kind: "edited"; entity: T } | { kind: "outdated" };

export const edited = <T>(entity: T): EditResult<T> => ({ kind: "edited", entity });

export const outdated = { kind: "outdated" } as const;

export const isStill = (version: number): Condition<"edits"> =>
  version === 1 ? absent("edits") : is("edits", version - 1);
