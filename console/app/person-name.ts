// What a person is called: attributes are JSON text in the API.

export function readAttributes(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");

interface Named {
  external_id: string;
  attributes: string;
}

/** `Mina Rossi`; empty where no name is known. */
export function fullName({ attributes }: Pick<Named, "attributes">): string {
  const { first_name, last_name } = readAttributes(attributes);
  return [first_name, last_name].map(textOf).filter(Boolean).join(" ");
}

/** Their name where it is known, else the external ID. */
export const personName = (person: Named): string => fullName(person) || person.external_id;
