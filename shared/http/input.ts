// Reads path, query and body against the declared schemas, and says what is wrong in the client's own words.
import * as v from "valibot";
import { checkJson } from "../rules/json-limits.ts";
import type { Caller } from "./authenticate.ts";
import type { Shape } from "./endpoint.ts";
import { ApiError, notFound } from "./errors.ts";

type Judged = Pick<Shape, "refusal">;

const ID = /^[\w.:-]{1,128}$/;

/** Path parameters: what cannot be an id of ours names nothing. */
export function readParams(params: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  for (const value of Object.values(params)) if (value === undefined || !ID.test(value)) throw notFound("resource");
  return params;
}

export const parseQuery = (shape: Judged & Pick<Shape, "query">, query: Record<string, string | undefined>): unknown =>
  shape.query && parse(shape, shape.query, query);

export const parseBody = (shape: Judged & Pick<Shape, "body">, body: unknown): unknown =>
  shape.body && parse(shape, shape.body, body);

interface Bodied {
  body: unknown;
  headers: Readonly<Record<string, string | undefined>>;
  isBase64Encoded: boolean;
}

/** EVT-15: judged by its length alone. */
export function refuseLongBody({ maxBytes }: Pick<Shape, "maxBytes">, caller: Caller, request: Bodied): void {
  const max = caller.kind === "public" ? undefined : maxBytes?.[caller.kind];
  if (max === undefined || typeof request.body !== "string") return;
  const bytes = Buffer.byteLength(request.body, request.isBase64Encoded ? "base64" : "utf8");
  if (bytes > max) throw new ApiError("FILE_TOO_LARGE", `The body has ${bytes} bytes; ${max} is the most.`);
}

const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json(;|$)/i;

/** Replaces the text of a JSON body by its value; an absent one reads as `{}` (D-HTTPCODES: 400 for the rest). */
export function readJson(request: Bodied): void {
  if (request.body === undefined || request.body === "") {
    request.body = {};
    return;
  }
  if (!JSON_TYPE.test(request.headers["content-type"] ?? ""))
    throw new ApiError("BAD_REQUEST", "The body must be sent as application/json.");
  try {
    request.body = JSON.parse(textOf(request), refusePrototypeKeys);
  } catch {
    throw new ApiError("BAD_REQUEST", "The body is not valid JSON.");
  }
}

/** A reviver for `JSON.parse`: throws at a key that could change a prototype. */
function refusePrototypeKeys(key: string, value: unknown): unknown {
  const isPrototype =
    key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype");
  if (key === "__proto__" || isPrototype) throw new SyntaxError(`The key ${key} is not allowed.`);
  return value;
}

/** The body as it came. */
export const bytesOf = ({ body, isBase64Encoded }: Pick<Bodied, "body" | "isBase64Encoded">): Buffer =>
  Buffer.from(typeof body === "string" ? body : "", isBase64Encoded ? "base64" : "utf8");

const textOf = (request: Pick<Bodied, "body" | "isBase64Encoded">): string =>
  request.isBase64Encoded ? bytesOf(request).toString() : String(request.body);

/** A multipart body: text fields through their schema, and the file as it came. */
export async function parseForm(shape: Judged, form: NonNullable<Shape["form"]>, { headers, ...sent }: Bodied) {
  const { fields, file } = await form.read(bytesOf(sent), headers["content-type"]).catch((error: unknown) => {
    if (shape.refusal !== 400 || !(error instanceof ApiError) || error.code !== "FILE_TOO_LARGE") throw error;
    throw refusalOf(shape, error.message, { [form.part]: "is too large" });
  });
  return { fields: parse(shape, form.fields, { ...fields }), file };
}

/** Before any schema: a body is an object, and recursive validators must not meet a deep or very wide value. */
export function refuseDeepBody(shape: Judged & Pick<Shape, "limits">, body: unknown): void {
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  const reason = isObject ? checkJson(body, shape.limits) : "must be a JSON object";
  if (reason) throw refusalOf(shape, reason, { body: reason });
}

function parse(shape: Judged, schema: v.GenericSchema, input: unknown): unknown {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  if (result.success) return result.output;
  const fields = fieldsOf(result.issues);
  const [[name, reason] = ["body", "is invalid"]] = Object.entries(fields);
  throw refusalOf(shape, `${name}: ${reason}`, fields);
}

const MAX_FIELDS = 20;

/** Field path (`messages.0.content`) → what is wrong with it; the first complaint of each field wins. */
export function fieldsOf(issues: readonly v.BaseIssue<unknown>[]): Record<string, string> {
  const fields = new Map<string, string>();
  for (const issue of issues) {
    const path = v.getDotPath(issue) ?? "body";
    if (!fields.has(path)) fields.set(path, reasonOf(issue));
    if (fields.size === MAX_FIELDS) break;
  }
  return Object.fromEntries(fields);
}

function reasonOf(issue: v.BaseIssue<unknown>): string {
  if (issue.type === "strict_object" && issue.expected === "never") return "is not a known field";
  if (issue.input === undefined) return "is required";
  return issue.message;
}

const refusalOf = ({ refusal }: Judged, message: string, fields: Record<string, string>) =>
  new ApiError(refusal === 400 ? "BAD_REQUEST" : "VALIDATION_ERROR", message, { fields });
