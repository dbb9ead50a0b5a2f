// Parses path, query and body by the declared schemas; errors name the fields as the client sent them.
import jsonBodyParser from "@middy/http-json-body-parser";
import * as v from "valibot";
import { ApiError, badRequest, invalid, malformed, notFound } from "../kernel/errors.ts";
import { type FieldStep, fieldPath } from "../rules/field-path.ts";
import { checkJson } from "../rules/json-limits.ts";
import type { Caller } from "./authenticate.ts";
import { withoutEcho } from "./echo.ts";
import type { Endpoint, MaxBytes, Shape } from "./endpoint.ts";
import type { Upload } from "./upload.ts";

type RefusalStyle = Pick<Shape, "refusal">;

const ID = /^[\w.:-]{1,128}$/;
/** A token in the link of a mail contains the target of the link. */
const TOKEN = /^[\w.:-]{1,4096}$/;

/** Reads path parameters. @throws 404 for a text that cannot be an id */
export function readParams(params: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  for (const [name, value = ""] of Object.entries(params))
    if (!(name === "token" ? TOKEN : ID).test(value)) throw notFound("resource");
  return params;
}

/**
 * Refuses unknown parameters, because a misspelt one must not be ignored (AMB-116). Public routes accept them, because
 * others add parameters to the links of mails. @throws 422 (in-app: 400) naming the parameters that the route does not
 * have
 */
export function refuseUnknownQuery(
  shape: RefusalStyle & Pick<Shape, "query">,
  query: Record<string, string | undefined> = {},
): void {
  const { entries = {} } = (shape.query ?? {}) as { entries?: object };
  const unknown = Object.keys(query).filter((name) => !Object.hasOwn(entries, name));
  if (unknown.length === 0) return;
  const fields = unknown.slice(0, MAX_FIELDS).map((name) => [name, "is not a known query parameter"]);
  throw refusalOf(shape)(Object.fromEntries(fields));
}

/** Reads the query. A POST without a body of its own takes its parameters in the body too, so that none is ignored. */
export async function readQuery(
  { access, shape, route }: Pick<Endpoint, "access" | "shape" | "route">,
  request: { event: RequestBody & { event: { queryStringParameters?: Record<string, string | undefined> } } },
): Promise<unknown> {
  const { event } = request;
  const isInBody = route.startsWith("POST ") && shape.query && !shape.body && !shape.form && !shape.raw;
  if (isInBody) {
    await readJson(request);
    refuseDeepBody(shape, event.body);
  }
  const query = { ...event.event.queryStringParameters, ...(isInBody && (event.body as Record<string, string>)) };
  if (access.credentials.length > 0) refuseUnknownQuery(shape, query);
  return parseQuery(shape, query);
}

export const parseQuery = (
  shape: RefusalStyle & Pick<Shape, "query">,
  query: Record<string, string | undefined>,
): unknown => shape.query && parse(shape, shape.query, query);

export const parseBody = (shape: RefusalStyle & Pick<Shape, "body">, body: unknown): unknown =>
  shape.body && parse(shape, shape.body, body);

/**
 * Like `parseBody`, but also accepts the response of a GET. @param current the present response, read only for a
 * refused body (AMB-115)
 */
export async function parseEcho(
  shape: RefusalStyle & Pick<Shape, "body">,
  body: unknown,
  current: (() => Promise<unknown>) | undefined,
): Promise<unknown> {
  if (!shape.body) return undefined;
  try {
    return parse(shape, shape.body, body);
  } catch (refusal) {
    const found = await current?.();
    if (found === undefined) throw refusal;
    const echo = withoutEcho(shape.body, body, found);
    const fields = echo.changed.slice(0, MAX_FIELDS).map((path) => [path, "cannot be changed"]);
    if (fields.length > 0) throw refusalOf(shape)(Object.fromEntries(fields));
    return parse(shape, shape.body, echo.body);
  }
}

interface RequestBody {
  body: unknown;
  headers: Readonly<Record<string, string | undefined>>;
  isBase64Encoded: boolean;
}

/**
 * The longest JSON of a caller without a secret: anonymous calls have no rate limit, and an SDK key is in every app.
 */
export const BODY_BYTES = { public: 65_536, sdk: 262_144 } as const;

/** The longest body of a caller in bytes; undefined: as long as the gateway allows. */
export const maxBytesOf = ({ maxBytes, raw }: Pick<Shape, "maxBytes" | "raw">, kind: Caller["kind"]) =>
  maxBytes?.[kind] ?? (raw === undefined ? (BODY_BYTES as MaxBytes)[kind] : undefined);

/** Checks only the length (EVT-15). @throws 413 */
export function refuseLongBody(shape: Pick<Shape, "maxBytes" | "raw">, caller: Caller, request: RequestBody): void {
  const max = maxBytesOf(shape, caller.kind);
  if (max === undefined || typeof request.body !== "string") return;
  const bytes = Buffer.byteLength(request.body, request.isBase64Encoded ? "base64" : "utf8");
  if (bytes > max) throw new ApiError("FILE_TOO_LARGE", `The body has ${bytes} bytes; ${max} is the most.`);
}

const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json(;|$)/i;

/** Replaces the text of a JSON body by its value; an absent body becomes `{}` (D-HTTPCODES: 400 for any other). */
export async function readJson(request: { event: RequestBody }): Promise<void> {
  const { event } = request;
  if (event.body === undefined || event.body === "") {
    event.body = {};
    return;
  }
  if (!JSON_TYPE.test(event.headers["content-type"] ?? ""))
    throw badRequest("The body must be sent as application/json.");
  // The type was checked above; that check allows more spellings than the parser.
  const { body, isBase64Encoded } = event;
  const parsed = { event: { body, isBase64Encoded, headers: { "content-type": "application/json" } } };
  try {
    await parser.before?.(parsed as never);
  } catch {
    throw badRequest("The body is not valid JSON.");
  }
  event.body = parsed.event.body;
}

/**
 * No reviver is used, because it takes forty times as long: `refuseDeepBody` refuses keys that could change a
 * prototype.
 */
const parser = jsonBodyParser();

export const bytesOf = ({ body, isBase64Encoded }: Pick<RequestBody, "body" | "isBase64Encoded">): Buffer =>
  Buffer.from(typeof body === "string" ? body : "", isBase64Encoded ? "base64" : "utf8");

/** Reads a multipart body: text fields parsed by their schema, and the file as it was sent. */
export async function parseForm(
  shape: RefusalStyle,
  form: NonNullable<Shape["form"]>,
  { headers, ...sent }: RequestBody,
) {
  const { fields, file } = await form.read(bytesOf(sent), headers["content-type"]).catch((error: unknown) => {
    if (shape.refusal !== 400 || !(error instanceof ApiError) || error.code !== "FILE_TOO_LARGE") throw error;
    throw refusalOf(shape)({ [form.part]: "is too large" }, error.message);
  });
  const misplaced = misplacedFile(form.part, fields, file);
  if (misplaced) throw refusalOf(form.refusal ? form : shape)(misplaced);
  return { fields: parse(shape, form.fields, { ...fields }), file };
}

/** The problem of a form whose file was sent as text (`curl -F file=a.csv` without the `@`) or under another name. */
function misplacedFile(part: string, fields: Upload["fields"], file: Upload["file"]) {
  if (Object.hasOwn(fields, part)) return { [part]: "must be sent as a file" };
  if (file && file.field !== part) return { [part]: "is required" };
  return undefined;
}

/**
 * Checks a body before any schema: it must be an object, neither too deep nor too wide, because schemas are recursive.
 */
export function refuseDeepBody(shape: RefusalStyle & Pick<Shape, "limits" | "batches">, body: unknown): void {
  const isObject = typeof body === "object" && body !== null && (shape.batches === true || !Array.isArray(body));
  const { path, reason } = (isObject ? checkJson(body, shape.limits) : NO_OBJECT) ?? {};
  if (reason === undefined) return;
  throw refusalOf(shape)({ [path || "body"]: reason }, path ? undefined : reason);
}

const NO_OBJECT = { path: "", reason: "must be a JSON object" };

function parse(shape: RefusalStyle, schema: v.GenericSchema, input: unknown): unknown {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  if (!result.success) throw refusalOf(shape)(fieldsOf(result.issues));
  const lists = listsTakenForObjects(input, result.output);
  if (lists.length > 0) throw refusalOf(shape)(Object.fromEntries(lists.map((path) => [path, "must be an object"])));
  return result.output;
}

/**
 * The paths of lists that schemas took for objects: to valibot an empty list is an object without keys, so it passes where
 * none is required.
 */
function listsTakenForObjects(input: unknown, output: unknown, steps: readonly FieldStep[] = []): string[] {
  if (typeof input !== "object" || input === null || typeof output !== "object" || output === null) return [];
  const isList = Array.isArray(input);
  // What a schema makes of a list on purpose, such as a set, has another prototype.
  if (isList && Object.getPrototypeOf(output) === Object.prototype) return [fieldPath(...steps)];
  return Object.entries(input).flatMap(([key, entry]) =>
    listsTakenForObjects(entry, (output as Record<string, unknown>)[key], [...steps, isList ? Number(key) : key]),
  );
}

const MAX_FIELDS = 20;

/** Field path (`messages[0].content`) → the first error of the field. */
export function fieldsOf(issues: readonly v.BaseIssue<unknown>[]): Record<string, string> {
  const fields = new Map<string, string>();
  for (const issue of issues.flatMap(innermost)) {
    const path = pathOf(issue) || "body";
    if (!fields.has(path)) fields.set(path, reasonOf(issue));
    if (fields.size === MAX_FIELDS) break;
  }
  return Object.fromEntries(fields);
}

/** The problems inside the one form of a union that the value matches; else one that it matches none. */
function innermost(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const form = Array.isArray(issue.input) ? "array" : "object";
  const problems = issue.type === "union" ? (issue.issues ?? []) : [];
  const inside = problems.filter(({ path }) => path?.[0].type === form);
  const nested = inside.map((branch) => ({
    ...branch,
    path: [...(issue.path ?? []), ...(branch.path ?? [])] as typeof branch.path,
  }));
  return nested.length > 0 ? nested : [issue];
}

/** The path of an issue. @returns an empty text for an issue of the whole body */
export const pathOf = ({ path }: v.BaseIssue<unknown>): string =>
  fieldPath(...(path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key))));

function reasonOf(issue: v.BaseIssue<unknown>): string {
  if (issue.type === "strict_object" && issue.expected === "never") return "is not a known field";
  if (issue.input === undefined) return "is required";
  return OF_THE_LIBRARY.test(issue.message) ? ownWords(issue) : issue.message;
}

/** The message of a check whose declaration gives none. */
const OF_THE_LIBRARY = /^Invalid [a-z ]+: (?:Expected|Received) /;

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  strict_object: "an object",
  loose_object: "an object",
  record: "an object",
};

function ownWords({ type, input, requirement }: v.BaseIssue<unknown>): string {
  const things = Array.isArray(input) ? "entries" : "characters";
  if (type === "non_empty") return "must not be empty";
  if (type === "max_length") return `must have at most ${requirement} ${things}`;
  if (type === "min_length") return `must have ${requirement} ${things} or more`;
  if (type === "max_entries") return `must have at most ${requirement} keys`;
  if (type === "min_value") return `must be at least ${requirement}`;
  if (type === "max_value") return `must be at most ${requirement}`;
  return TYPES[type] ? `must be ${TYPES[type]}` : "is invalid";
}

const refusalOf = ({ refusal }: RefusalStyle) => (refusal === 400 ? malformed : invalid);
