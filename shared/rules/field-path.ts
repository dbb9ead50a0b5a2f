// The path of a field in the `fields` of an error: `messages[0].content.title` (AMB-22).

export type FieldStep = string | number;

/** `["events", 0, "name"]` as `events[0].name`. Empty texts, such as the path of a whole value, are left out. */
export const fieldPath = (...steps: readonly FieldStep[]): string =>
  steps
    .filter((step) => step !== "")
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
