// A thing that is mentioned by its id, with its name: a short form of a UUIDv7 is its time, so different things look alike.
import * as v from "valibot";
import { personal } from "./personal.ts";

/**
 * A thing with its name; `null` where it has none, or was deleted. Of a topic the id is its key; the name of a webhook is its
 * host, that of an image its file, that of a schedule its template, and that of a subscriber their
 * full name, or the external id where none is known.
 */
export const Named = v.object({ id: v.string(), name: v.nullable(v.string()) });
export type Named = v.InferOutput<typeof Named>;

/** A person with its name. */
export const NamedPerson = v.object({ id: v.string(), name: personal(v.nullable(v.string())) });
