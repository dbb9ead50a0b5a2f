// Personalization: a restricted Liquid for titles, bodies, URLs and data strings (D-LIQUID).
import { Context, type Emitter, Liquid, Output, type Template, toValue, toValueSync } from "liquidjs";
import { FILTERS, NOW } from "./liquid-filters.ts";
import { hasPlaceholders } from "./placeholders.ts";

/**
 * The data that a template can refer to. Attributes are available as `subscriber.x` and as `subscriber.attributes.x`.
 */
export interface RenderScope {
  subscriber: {
    id: string;
    external_id?: string | null | undefined;
    email?: string | null | undefined;
    attributes: Record<string, unknown>;
  };
  data: Record<string, unknown>;
  event?: Record<string, unknown> | undefined;
}

/** Limits a scope to these attributes, and removes everything else that identifies the person (AGT-4). */
export function seenWith(attributes: ReadonlySet<string>, { subscriber, ...scope }: RenderScope): RenderScope {
  const known = Object.entries(subscriber.attributes).filter(([name]) => attributes.has(name));
  return { ...scope, subscriber: { id: subscriber.id, attributes: Object.fromEntries(known) } };
}

export interface RenderOptions {
  /** The value of `now` for the `date` filter, in milliseconds. */
  now: number;
  /** `html` escapes every value, but not the text of the template. */
  escape: "none" | "html";
}

interface RenderedText {
  text: string;
  /** Dotted paths of the variables that lacked a value in the text, each once. */
  unknown: string[];
}

export interface CompiledTemplate {
  /** Throws an Error named `RenderError` when a limit is exceeded. */
  render(scope: RenderScope, options: RenderOptions): RenderedText;
  /** The template has no placeholders: rendering returns its text. */
  isStatic: boolean;
}

/** The maximum sizes of a template and of a result, in bytes of UTF-8. */
export const TEMPLATE_BYTES = 204_800;
export const RENDERED_BYTES = 262_144;

export const TAGS: ReadonlySet<string> = new Set(["if", "unless", "case"]);
const NESTING = 20;
/** The maximum number of placeholders of a template. */
export const PLACEHOLDERS = 1_000;
const RENDER_MILLISECONDS = 1_000;
const MEMORY_CHARACTERS = 1_000_000;
const MAX_CACHED_TEMPLATES = 100;
const MAX_REASON = 200;

interface RenderState {
  escape: RenderOptions["escape"];
  /** Paths without a value in the current output. */
  misses: string[];
  unknown: Set<string>;
}

const STATE = "state";
const engine = lockedDownLiquid();
const cache = new Map<string, CompiledTemplate>();

/**
 * Compiles a template; the last 100 different ones are cached. Throws an Error named `RenderError` where
 * `validateTemplate` returns a reason. Values are inserted once: Liquid inside a value stays text. An output whose
 * variable is missing renders empty and is listed, unless `default` or another filter gave it a text.
 */
export function compileTemplate(text: string): CompiledTemplate {
  const cached = cache.get(text);
  if (cached) cache.delete(text);
  const compiled = cached ?? compile(text);
  const [oldest] = cache.keys();
  if (cache.size >= MAX_CACHED_TEMPLATES && oldest !== undefined) cache.delete(oldest);
  cache.set(text, compiled);
  return compiled;
}

/** The reason why a template is invalid (size, syntax, unknown tag or filter, nesting); undefined if it is valid. */
export function validateTemplate(text: string): string | undefined {
  try {
    compileTemplate(text);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** Whether an error is from `compileTemplate` or `render`: the message cannot be sent, and a retry has the same result. */
export const isRenderError = (error: unknown): error is Error => error instanceof Error && error.name === "RenderError";

/** How many placeholders a template has, counted to one more than the maximum. */
export const placeholdersOf = (text: string): number => text.split(/\{[{%]/, PLACEHOLDERS + 2).length - 1;

/**
 * How deep brackets nest inside a placeholder. The parser descends once for each: without a limit of our own, the stack
 * of the machine would decide what is valid.
 */
function bracketDepth(text: string): number {
  let deepest = 0;
  for (const begun of text.split(/\{[{%]/).slice(1)) {
    const [expression = ""] = begun.replace(/"[^"]*"|'[^']*'/g, "").split(/[%}]\}/, 1);
    let depth = 0;
    for (const [bracket] of expression.matchAll(/[[\]()]/g)) {
      depth = bracket === "[" || bracket === "(" ? depth + 1 : Math.max(depth - 1, 0);
      deepest = Math.max(deepest, depth);
    }
  }
  return deepest;
}

function compile(text: string): CompiledTemplate {
  if (isLonger(text, TEMPLATE_BYTES)) throw renderError(`must be at most ${TEMPLATE_BYTES} bytes`);
  if (!hasPlaceholders(text)) return { isStatic: true, render: () => ({ text, unknown: [] }) };
  if (placeholdersOf(text) > PLACEHOLDERS) {
    throw renderError(`must have at most ${PLACEHOLDERS} placeholders`);
  }
  if (bracketDepth(text) > NESTING) throw renderError(`must not nest brackets deeper than ${NESTING} levels`);
  const templates = orRenderError(() => {
    const parsed = engine.parse(text);
    watchOutputs(parsed, 0);
    return parsed;
  });
  return { isStatic: false, render: (scope, options) => orRenderError(() => renderOnce(templates, scope, options)) };
}

function renderOnce(templates: Template[], scope: RenderScope, options: RenderOptions): RenderedText {
  const state: RenderState = { escape: options.escape, misses: [], unknown: new Set() };
  const context = new Context({}, engine.options, { sync: true }, { liquid: engine });
  context.setRegister(NOW, options.now);
  context.setRegister(STATE, state);
  const { id, external_id, email, attributes } = scope.subscriber;
  const roots = {
    subscriber: { ...attributes, id, external_id, email, attributes },
    data: scope.data,
    event: scope.event,
  };
  context._get = function* (path) {
    const value = valueAt(path, roots);
    if (value === undefined || value === null) state.misses.push(path.join("."));
    yield;
    return value;
  };
  const emitter = limitedEmitter();
  toValueSync(engine.renderer.renderTemplates(templates, context, emitter));
  if (isLonger(emitter.buffer, RENDERED_BYTES)) throw tooLong();
  return { text: emitter.buffer, unknown: [...state.unknown] };
}

/** A name with dots that an attribute has goes before the path through objects (AMB-148). */
function valueAt(path: readonly unknown[], roots: object): unknown {
  const depth = path[0] === "subscriber" && path[1] === "attributes" ? 2 : 1;
  const holder = along(roots, path.slice(0, depth));
  const named = path.length > depth + 1 ? propertyOf(holder, path.slice(depth).join(".")) : undefined;
  return named === undefined ? along(holder, path, depth) : named;
}

/** The end of a path. Through a list, the path is one through the first element that it leads on from (AMB-148). */
function along(start: unknown, path: readonly unknown[], from = 0): unknown {
  let holder = start;
  for (let i = from; i < path.length; i++) {
    const next = propertyOf(holder, path[i]);
    if (next === undefined && Array.isArray(holder) && typeof path[i] === "string")
      return holder.map((element) => along(element, path, i)).find((found) => (found ?? null) !== null);
    holder = next;
  }
  return holder;
}

/** Own properties only. `size`, `first` and `last` apply to lists and texts: an attribute may have these names. */
function propertyOf(holder: unknown, key: unknown): unknown {
  if (typeof holder === "string") return key === "size" ? holder.length : undefined;
  if (typeof holder !== "object" || holder === null) return undefined;
  if (Array.isArray(holder)) {
    if (key === "size") return holder.length;
    if (key === "first") return holder.at(0);
    if (key === "last") return holder.at(-1);
    return typeof key === "number" ? holder.at(key) : undefined;
  }
  if (typeof key !== "string" && typeof key !== "number") return undefined;
  return Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
}

/** Makes every output escape its value and record missing variables. */
function watchOutputs(templates: Template[], depth: number): void {
  if (depth > NESTING) throw renderError(`must not nest tags deeper than ${NESTING} levels`);
  for (const template of templates) {
    if (template instanceof Output) watchOutput(template);
    else if (template.children) watchOutputs(toValueSync(template.children(false, true)), depth + 1);
  }
}

function watchOutput(output: Output): void {
  const isEscaped = output.value.filters.at(-1)?.name === "escape";
  output.render = function* (context, emitter) {
    const state = context.getRegister<RenderState>(STATE);
    state.misses = [];
    const text = textOf(toValue(yield output.value.value(context)));
    if (text === "") for (const path of state.misses) state.unknown.add(path);
    emitter.write(state.escape === "html" && !isEscaped ? escapeHtml(text) : text);
  };
}

/** Lists are joined without a separator, as Liquid does; objects and numbers that are not finite have no text. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("");
  return typeof value === "boolean" || Number.isFinite(value) ? String(value) : "";
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

function limitedEmitter(): Emitter {
  const emitter: Emitter = {
    buffer: "",
    write(text: string) {
      if (emitter.buffer.length + text.length > RENDERED_BYTES) throw tooLong();
      emitter.buffer += text;
    },
  };
  return emitter;
}

function lockedDownLiquid(): Liquid {
  const liquid = new Liquid({
    templates: {},
    // Otherwise the library reads the locale of the machine from Intl: 15 ms at each cold start.
    locale: "en-US",
    strictFilters: true,
    ownPropertyOnly: true,
    parseLimit: TEMPLATE_BYTES,
    renderLimit: RENDER_MILLISECONDS,
    memoryLimit: MEMORY_CHARACTERS,
  });
  for (const name of Object.keys(liquid.tags)) if (!TAGS.has(name)) delete liquid.tags[name];
  for (const name of Object.keys(liquid.filters)) liquid.unregisterFilter(name);
  for (const [name, filter] of Object.entries(FILTERS)) liquid.registerFilter(name, filter);
  return liquid;
}

const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);

const tooLong = (): Error => renderError(`the text would be longer than ${RENDERED_BYTES} bytes`);

function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const [line = ""] = reason.split("\n", 1);
  return line.slice(0, MAX_REASON);
}

export function renderError(message: string): Error {
  const error = new Error(message);
  error.name = "RenderError";
  return error;
}

function orRenderError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw renderError(reasonOf(error));
  }
}
