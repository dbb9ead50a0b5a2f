// What stands for variables while a mail is designed. Who gets it sees what the service renders.

const VALUE = /\{\{\s*([\w.]+)[^}]*?\}\}/g;
const DEFAULT = /default:\s*(?:'([^']*)'|"([^"]*)")/;

/** A variable with a fallback shows that, another one its name. */
export const sampled = (text: string): string =>
  text.replaceAll(VALUE, (whole, path: string) => {
    const [, single, double] = DEFAULT.exec(whole) ?? [];
    return single ?? double ?? (path.split(".").at(-1) ?? path).replaceAll("_", " ");
  });
