// A reference by id, with the name: a UUIDv7 is mostly its time, so different ids look alike.
import * as v from "valibot";
import { personal } from "./personal.ts";

/**
 * A reference with its name; `null` if it has none, or was deleted. The id of a topic is its key. The name of a webhook
 * is its host, of an image its file, of a schedule its template, and of a subscriber the full name, or else the
 * external id.
 */
export const Named = v.object({ id: v.string(), name: v.nullable(v.string()) });
export type Named = v.InferOutput<typeof Named>;

export const NamedPerson = v.object({ id: v.string(), name: personal(v.nullable(v.string())) });
