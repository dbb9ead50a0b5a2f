// The name of a person: the attributes first_name and last_name.

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

/** `Mina Rossi`; empty without a name. */
export const fullNameIn = ({ first_name, last_name }: Readonly<Record<string, unknown>>): string =>
  [first_name, last_name].map(textOf).filter(Boolean).join(" ");
