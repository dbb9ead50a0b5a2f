// Versions of what people edit: two of them who began with the same version do not overwrite each other (RDA-25).
import * as v from "valibot";
import { absent, type Condition, is } from "./conditions.ts";

/** How often it was edited; absent before the first edit. */
export const editFields = { edits: v.optional(v.number()) };

/** What an edit adds to a row. */
export const anotherEdit = { edits: 1 } as const;

/** From 1, as the API says it. */
export const versionOf = ({ edits = 0 }: { edits?: number | undefined }): number => edits + 1;

/** The row still has the version that was seen. */
export const isStill = (version: number): Condition<"edits"> =>
  version === 1 ? absent("edits") : is("edits", version - 1);
