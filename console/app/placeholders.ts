// Variables of a text as people read them, where it stands as it was written and nobody's values fill it.

const VARIABLE = /\{\{-?\s*(?:subscriber|event|data|workspace)\.([\w.]+)[^{}]*\}\}/g;

/** `Hello {{ subscriber.first_name | default: 'you' }}` as `Hello [first name]`. What decides (`{% if … %}`) stays. */
export const inPlain = (text: string): string =>
  text.replaceAll(VARIABLE, (_, path: string) => `[${path.replaceAll(/[._]/g, " ")}]`);

/** What a send is called: by its name, else by its title. */
export const sendName = ({ name, title }: { name: string | null; title: string | null }): string =>
  name ?? inPlain(title ?? "A template");
