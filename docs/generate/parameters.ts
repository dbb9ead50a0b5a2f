// The parameters of an operation in the OpenAPI document: path, query and headers.
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import type { Operation } from "./contents.ts";
import { EXAMPLE_ID, exampleOf } from "./examples.ts";
import { schemaOf } from "./json-schema.ts";
import { queryFields } from "./sentences/queries.ts";

/** `readParams` answers 404 to a longer one. */
const MAX_ID_CHARACTERS = 128;

/** What a parameter of a path names, where it is not the id of what the path says before it. */
const pathSentences: Record<string, string> = {
  token: "The token of a link, from a mail or a response of the service",
  key: "The key of the topic",
  event: "The type of event",
  version: "The number of the version, from 1",
  other: "The number of the version that it is compared with",
};

const singular = (noun: string): string => noun.replace(/ies$/, "y").replace(/s$/, "");

/** `/api/v1/in-app/experiences/:id` as "Id of the experience". */
function sentenceOf(route: string, name: string): string {
  if (pathSentences[name]) return pathSentences[name];
  const before =
    route
      .slice(0, route.indexOf(`:${name}`))
      .split("/")
      .at(-2) ?? "";
  const noun = name === "id" ? singular(before) : name.replace(/Id$/, "");
  return `Id of the ${noun.replaceAll("-", " ")}. One of another workspace is as if it did not exist.`;
}

export const pathParameters = ({ route, shape }: Pick<Operation["endpoint"], "route" | "shape">) =>
  [...route.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: sentenceOf(route, name),
    schema: { type: "string", maxLength: MAX_ID_CHARACTERS } as JsonSchema,
    example: shape.example?.params?.[name] ?? EXAMPLE_ID,
  }));

/** What limits a page is said beside what it is; any other sentence of the declaration says all of it. */
const isOfPage = (name: string) => ["limit", "page_size", "per_page"].includes(name);

function sentenceOfQuery(name: string, { description }: JsonSchema): string {
  if (description === undefined || isOfPage(name)) return [queryFields[name], description].filter(Boolean).join(". ");
  return description;
}

export function queryParameters(
  { shape }: Operation["endpoint"],
  isStream: boolean,
): ReturnType<typeof pathParameters> {
  if (!shape.query) return [];
  const { properties = {}, required = [] } = schemaOf(shape.query, "input");
  const given = (shape.example?.query ?? {}) as Record<string, unknown>;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const example = given[name] ?? (required.includes(name) ? exampleOf(schema, {}, { name }) : undefined);
    return {
      name,
      in: "query",
      required: required.includes(name),
      schema,
      description: sentenceOfQuery(name, schema),
      ...(example !== undefined && { example: String(example) }),
    };
  });
  const resume = {
    name: "Last-Event-ID",
    in: "header",
    required: false,
    schema: { type: "string", maxLength: 1_024 } as JsonSchema,
  };
  return [...fields, ...(isStream ? [{ ...resume, description: "Id of the last frame seen" }] : [])] as ReturnType<
    typeof pathParameters
  >;
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", minLength: 1, maxLength: 255 } as JsonSchema,
  description:
    "Names this request, so that it can be repeated for 24 hours without a second send. A repeat with another body " +
    "is a 409",
  example: "order-4711",
};

const IF_MATCH = {
  name: "If-Match",
  in: "header",
  required: false,
  schema: { type: "string", maxLength: 64 } as JsonSchema,
  description:
    "The version that the caller saw, as its `ETag` was. Without it, or as `*`, whatever is there is changed",
  example: '"3"',
};

export const headersOf = ({ shape }: Operation["endpoint"]): ReturnType<typeof pathParameters> => [
  ...(shape.idempotent ? [IDEMPOTENCY_KEY] : []),
  ...(shape.errors?.includes("PRECONDITION_FAILED") ? [IF_MATCH] : []),
];
