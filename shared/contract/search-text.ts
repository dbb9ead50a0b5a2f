// The text by which subscribers are searched.
import * as v from "valibot";

const MAX_SEARCH_CHARACTERS = 128;

export const SearchText = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty(),
  v.maxLength(MAX_SEARCH_CHARACTERS),
  v.description(
    "The beginning of the external id, the email address, the last or the full name, with or without marks; or the phone " +
      "number, also as it is dialed in the region of the workspace",
  ),
);
