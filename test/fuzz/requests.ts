// Requests for a route: made from its schema alone, or near the example of the document, which leads further.
import type { Credential } from "../../shared/http/access.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { contentFor, type ExampleRequest, targetFor } from "../support/example-requests.ts";
import type { Headers } from "../support/world.ts";
import { bodyFor, type SentBody, someFile } from "./bodies.ts";
import { kindsOfParams } from "./known.ts";
import { type Callers, credentialFor } from "./population.ts";
import { nearby, type Source, strangeText, valueFor } from "./values.ts";

interface Body {
  type: string;
  schema: JsonSchema;
}

export interface Target {
  endpoint: Endpoint;
  /** Those of the query. */
  parameters: readonly { name: string; schema?: JsonSchema }[];
  body: Body | undefined;
}

export interface Request {
  target: string;
  /** Whose credential it has; undefined if nobody's. */
  by: Credential | undefined;
  as: Headers;
  headers: Headers;
  content: Partial<SentBody["options"]>;
  shown: string;
}

const STRANGE_ID = 0.08;
const NEAR_EXAMPLE = 0.5;

export function requestFor(
  source: Source,
  target: Target,
  callers: Callers,
  examples: ReadonlyMap<string, ExampleRequest>,
): Request {
  const { random } = source;
  const { endpoint, body } = target;
  const caller = credentialFor(random, endpoint, callers);
  const example = examples.get(endpoint.route);
  if (example && random.chance(NEAR_EXAMPLE)) return { ...nearExample(source, target, example), ...caller };
  const path = Object.fromEntries(kindsOfParams(endpoint.route).map(({ name, kind }) => [name, idFor(source, kind)]));
  const query = Object.fromEntries(
    target.parameters.flatMap((parameter) =>
      random.chance(0.6) ? [[parameter.name, queryFor(source, target, parameter)]] : [],
    ),
  );
  const sent = body && bodyFor(source, body, endpoint.route);
  const { headers = {}, ...content } = { headers: {}, ...sent?.options };
  return shownAs(
    source,
    { route: endpoint.route, path, query },
    { ...caller, headers, content, shown: sent?.shown ?? "" },
  );
}

/** The example, with up to two differences. */
function nearExample(source: Source, target: Target, example: ExampleRequest): Request {
  const { random } = source;
  let request = example;
  for (let changes = random.pick([0, 1, 1, 2]); changes > 0; changes--)
    request = random.pick(changesOf(source, target, request))();
  const { headers, body, fields, file } = request;
  const { headers: ofForm, ...content } = { headers: {}, ...contentFor(request) };
  const shown = JSON.stringify({ body, fields, file: file && String(file.content) });
  return shownAs(source, request, { by: undefined, as: {}, headers: { ...ofForm, ...headers }, content, shown });
}

function changesOf(source: Source, target: Target, request: ExampleRequest): (() => ExampleRequest)[] {
  const { random } = source;
  const { route, path, query, body, fields, file } = request;
  const ofBody = () => ({ ...request, body: nearby(source, target.body?.schema ?? {}, body) });
  return [
    ...kindsOfParams(route).map(({ name, kind }) => () => ({
      ...request,
      path: { ...path, [name]: idFor(source, kind) },
    })),
    ...target.parameters.map((parameter) => () => ({
      ...request,
      query: { ...query, [parameter.name]: queryFor(source, target, parameter) },
    })),
    // Most of what a request says is in its body.
    ...Array.from({ length: body === undefined ? 1 : 4 }, () => (body === undefined ? () => request : ofBody)),
    ...Object.keys(fields ?? {}).map((name) => () => ({
      ...request,
      fields: { ...fields, [name]: random.pick(["true", "csv", strangeText(source).toWellFormed()]) },
    })),
    ...(file ? [() => ({ ...request, file: { ...file, content: someFile(source) } })] : []),
  ];
}

/** Now and then a parameter of the query is there twice. */
function shownAs(
  { random }: Source,
  named: Parameters<typeof targetFor>[0],
  request: Omit<Request, "target">,
): Request {
  const target = targetFor(named);
  const [first] = Object.entries(named.query);
  const again = first && random.chance(0.03) ? `&${new URLSearchParams([first])}` : "";
  return {
    ...request,
    target: target + again,
    shown: `${(target + again).slice(0, 600)} ${request.shown.slice(0, 600)}`,
  };
}

const idFor = (source: Source, kind: string): string =>
  // A URL cannot carry half a character.
  (source.random.chance(STRANGE_ID)
    ? strangeText(source) || "x"
    : source.known.pick(source.random, kind)
  ).toWellFormed();

function queryFor(source: Source, { endpoint }: Target, { name, schema = {} }: Target["parameters"][number]): string {
  const { random, known } = source;
  const cursors = `cursors of ${endpoint.route}`;
  const isCursor = name === "cursor" && known.has(cursors) && random.chance(0.7);
  const value = isCursor ? known.pick(random, cursors) : String(valueFor(source, schema, 0, name));
  return value.toWellFormed().slice(0, 20_000);
}
