// The variables of a text, for what does not fill them: the engine of templates is large.

export const hasPlaceholders = (text: string): boolean => text.includes("{{") || text.includes("{%");

const VARIABLE = /\{\{-?\s*(?:subscriber|event|data|workspace)\.([\w.]+)[^{}]*\}\}/g;

/** `Hello {{ subscriber.first_name | default: 'you' }}` as `Hello [first name]`. What decides (`{% if … %}`) stays. */
export const inPlain = (text: string): string =>
  text.replaceAll(VARIABLE, (_, path: string) => `[${path.replaceAll(/[._]/g, " ")}]`);
