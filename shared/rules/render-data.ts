// Personalizes a send's custom data (D-LIQUID): each string value is a template of its own. Names are not.
import { fieldPath } from "./field-path.ts";
import { hasPlaceholders } from "./placeholders.ts";
import {
  type CompiledTemplate,
  compileTemplate,
  isRenderError,
  PLACEHOLDERS,
  placeholdersOf,
  type RenderOptions,
  type RenderScope,
  renderError,
  validateTemplate,
} from "./render.ts";

interface CompiledData<T> {
  /** Throws an Error named `RenderError` when a limit is exceeded. */
  render(scope: RenderScope, options: Pick<RenderOptions, "now">): { data: T; unknown: string[] };
  /** No string has a placeholder: rendering returns the data. */
  isStatic: boolean;
}

/** The maximum size of rendered data, in bytes of JSON: with the largest texts it still fits into a row of the inbox. */
const RENDERED_DATA_BYTES = 131_072;

/**
 * Compiles the strings of a JSON object. An invalid template is left as it is: `validateData` refuses it when a send is
 * made, but older stored sends may have one.
 */
export function compileData<T extends object>(data: T): CompiledData<T> {
  const templates = new Map<string, CompiledTemplate>();
  for (const [text] of stringsOf(data, "")) {
    const template = hasPlaceholders(text) && !templates.has(text) ? compiled(text) : undefined;
    if (template) templates.set(text, template);
  }
  if (templates.size === 0) return { isStatic: true, render: () => ({ data, unknown: [] }) };
  return {
    isStatic: false,
    render: (scope, { now }) => {
      const unknown = new Set<string>();
      let characters = 0;
      const filled = mapStrings(data, (text) => {
        const rendered = templates.get(text)?.render(scope, { now, escape: "none" });
        for (const path of rendered?.unknown ?? []) unknown.add(path);
        const result = rendered?.text ?? text;
        characters += result.length;
        if (characters > RENDERED_DATA_BYTES) throw tooLarge();
        return result;
      });
      if (Buffer.byteLength(JSON.stringify(filled)) > RENDERED_DATA_BYTES) throw tooLarge();
      return { data: filled as T, unknown: [...unknown] };
    },
  };
}

/** The reason why a string of the data is not valid, with its place (`order.lines[1]: …`); undefined if all are. */
export function validateData(data: object): string | undefined {
  let placeholders = 0;
  for (const [text, path] of stringsOf(data, "")) {
    if (!hasPlaceholders(text)) continue;
    const reason = validateTemplate(text);
    if (reason !== undefined) return `${path}: ${reason}`;
    placeholders += placeholdersOf(text);
    if (placeholders > PLACEHOLDERS) return `must have at most ${PLACEHOLDERS} placeholders`;
  }
  return undefined;
}

const tooLarge = (): Error => renderError(`the data would be larger than ${RENDERED_DATA_BYTES} bytes`);

function compiled(text: string): CompiledTemplate | undefined {
  try {
    return compileTemplate(text);
  } catch (error) {
    if (isRenderError(error)) return undefined;
    throw error;
  }
}

/** Every string that is a value, with its path. The depth of the data was checked with its request. */
function* stringsOf(value: unknown, path: string): Generator<[text: string, path: string]> {
  if (typeof value === "string") yield [value, path];
  else if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* stringsOf(item, fieldPath(path, i));
  else if (typeof value === "object" && value !== null)
    for (const [name, member] of Object.entries(value)) yield* stringsOf(member, fieldPath(path, name));
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapStrings(member, change)]));
}
