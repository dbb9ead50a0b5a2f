// Bodies of requests: JSON, forms with a file, forms of a page, and messages to the tools of agents.
import { schemas, toolSpecs } from "../../functions/api/mcp/tools.gen.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { multipartBody } from "../support/multipart.ts";
import type { Headers } from "../support/world.ts";
import { type Source, strangeText, valueFor } from "./values.ts";

export interface SentBody {
  /** What `call` of the world takes. */
  options: { body: unknown } | { raw: Buffer; headers: Headers };
  shown: string;
}

export function bodyFor(
  source: Source,
  { type, schema }: { type: string; schema: JsonSchema },
  route: string,
): SentBody {
  if (type === "multipart/form-data") return formFor(source, schema);
  if (type === "application/x-www-form-urlencoded") return pageFor(source);
  const body = route.endsWith("/v1/mcp") && !source.random.chance(0.1) ? toolCall(source) : valueFor(source, schema);
  return { options: { body }, shown: JSON.stringify(body) ?? "" };
}

/** A call of a tool, or another method; now and then several of them at once. */
function toolCall(source: Source): unknown {
  const { random } = source;
  if (random.chance(0.05)) return [toolCall(source), toolCall(source)];
  const message = { jsonrpc: "2.0", id: random.between(1, 9) };
  if (random.chance(0.1))
    return { ...message, method: random.pick(["initialize", "tools/list", "ping", "x"]), params: {} };
  const { name, inputSchema } = random.pick(toolSpecs);
  const given = valueFor(
    { ...source, schemas: schemas as Record<string, JsonSchema> },
    withGrammars(inputSchema as JsonSchema),
  );
  return { ...message, method: "tools/call", params: { name, arguments: given } };
}

/** A field whose grammar is a resource, as that grammar says. */
const withGrammars = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (_, value) => {
    const name = /Grammar: resource grammar:(\w+)$/.exec(value?.description ?? "")?.[1];
    return name ? { $ref: `#/$defs/${name}` } : value;
  });

const files = [
  "",
  "external_id,email\nada,ada@shop.example\n",
  'external_id,email,attribute:plan\n"a\nb",=1+1,\u0000\n\ud83d\ude00,not an address,pro\n',
  '\ufeffexternal_id;email\n"open',
  "\u0000\u0001\u0002",
  "{}",
  "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\n",
] as const;

export const someFile = ({ random }: Source): string | Buffer =>
  random.chance(0.2) ? random.bytes(random.between(1, 5_000)) : random.pick(files);

function formFor(source: Source, { properties = {} }: JsonSchema): SentBody {
  const { random } = source;
  const fields: Record<string, string> = {};
  let part: string | undefined;
  for (const [name, one] of Object.entries(properties)) {
    if ("contentMediaType" in one) part = name;
    else if (random.chance(0.8)) fields[name] = String(valueFor(source, one, 0, name)).toWellFormed();
  }
  const content = someFile(source);
  const filename = random.chance(0.2) ? strangeText(source).replaceAll(/["\r\n]/g, "") : "file.csv";
  const file = random.chance(0.9) && part !== undefined ? { name: part, filename, content } : undefined;
  return { options: multipartBody(fields, file), shown: JSON.stringify({ fields, file: String(content) }) };
}

function pageFor(source: Source): SentBody {
  const { random, known } = source;
  const form = new URLSearchParams();
  for (let field = random.between(0, 4); field > 0; field--) {
    const name = random.pick(["shown", "in", "List-Unsubscribe", strangeText(source)]);
    form.append(
      name.toWellFormed(),
      random.pick([known.pick(random, "topics"), "One-Click", strangeText(source)]).toWellFormed(),
    );
  }
  const raw = Buffer.from(form.toString());
  return { options: { raw, headers: { "content-type": "application/x-www-form-urlencoded" } }, shown: String(form) };
}
