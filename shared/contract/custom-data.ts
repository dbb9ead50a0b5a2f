// Custom values that a message carries, and other objects of limited size.
import * as v from "valibot";
import { validateData } from "../rules/render-data.ts";
import { JsonObject } from "./schemas.ts";

/** With this limit a job with all its texts fits into one item, and so does each message. */
const MAX_OBJECT_BYTES = 65_536;

export const SmallObject = v.pipe(
  JsonObject,
  v.check(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_OBJECT_BYTES,
    `must have at most ${MAX_OBJECT_BYTES} bytes as JSON`,
  ),
);

/** Custom values for the app, whose strings may be personalised. */
export const CustomData = v.pipe(
  SmallObject,
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? validateData(dataset.value) : undefined;
    if (problem) addIssue({ message: problem });
  }),
  v.description(
    "Custom values for the app. Its strings may hold the Liquid subset. Android goes without what Google refuses: `from`, `message_type`, and names that begin with `google` or `gcm`",
  ),
);
