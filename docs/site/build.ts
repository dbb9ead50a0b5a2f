// The documentation as files: a page for each guide and each section of the reference, and what all of them load.
import { createHash } from "node:crypto";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import type { OpenApi, OperationObject } from "../generate/openapi.ts";
import { namesIn } from "./names.ts";
import { type Guide, type PageData, pageOf, STYLE } from "./page.ts";
import { SCRIPT } from "./page-script.ts";

export interface SiteFile {
  content: Buffer;
  type: string;
  cacheControl: string;
}

/** Path of the address → file. */
export type SiteFiles = ReadonlyMap<string, SiteFile>;

const DOCS_PATH = "/docs";
const IMMUTABLE = "public, max-age=31536000, immutable";
/** Only a deployment changes a page. */
const FOR_A_WHILE = "public, max-age=300";

interface Link {
  href: string;
  title: string;
  text: string;
  verb?: string;
  /** What the filter finds it by. */
  words: string;
}

interface LinkGroup {
  name: string;
  href: string;
  about?: string;
  links: readonly Link[];
}

/** @param document docs/openapi.json, which is one of the files */
export function buildDocumentation(document: OpenApi, guides: readonly Guide[]): SiteFiles {
  const files = new Map<string, SiteFile>();
  const add = (path: string, type: string, text: string, cacheControl = FOR_A_WHILE) =>
    files.set(path, { content: Buffer.from(text), type, cacheControl });
  const addHashed = (name: string, extension: string, type: string, text: string): string => {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    const path = `${DOCS_PATH}/a/${name}-${hash}.${extension}`;
    add(path, type, text, IMMUTABLE);
    return path;
  };
  const script = "text/javascript; charset=utf-8";
  const site = {
    title: (document.info as { title: string }).title,
    version: (document.info as { version: string }).version,
    scopes: scopesOf(document),
    groups: groupsOf(document, guides),
  };
  const style = addHashed("style", "css", "text/css; charset=utf-8", STYLE);
  const scripts = [
    addHashed("site", "js", script, `const site = ${JSON.stringify(site)};\n`),
    addHashed("page", "js", script, SCRIPT),
  ];
  for (const data of pagesOf(document, guides))
    add(data.page.href, "text/html; charset=utf-8", pageOf(data, style, scripts));
  add("/openapi.json", "application/json", JSON.stringify(document));
  return files;
}

const guidePath = (name: string) => `${DOCS_PATH}/guides/${name}`;
const tagPath = (name: string) => `${DOCS_PATH}/${name}`;
const OVERVIEW = { kind: "overview", href: `${DOCS_PATH}/reference`, name: "Overview" } as const;
const WEBHOOKS = { kind: "webhooks", href: `${DOCS_PATH}/webhook-payloads`, name: "Payloads of webhooks" } as const;

function pagesOf(document: OpenApi, guides: readonly Guide[]): PageData[] {
  const { info, tags, webhooks } = document;
  return [
    { page: { kind: "index", href: DOCS_PATH, name: "Documentation" }, doc: {} },
    ...guides.map((guide): PageData => {
      const page = { kind: "guide", href: guidePath(guide.name), name: guide.title } as const;
      return { page, doc: {}, guide };
    }),
    { page: OVERVIEW, doc: { info } },
    ...tags.map(({ name, description: about }): PageData => {
      const page = { kind: "tag", href: tagPath(name), name, about } as const;
      return { page, doc: withReferred(document, { paths: pathsOf(document, name) }) };
    }),
    { page: WEBHOOKS, doc: withReferred(document, { webhooks }) },
  ];
}

function pathsOf({ paths }: OpenApi, tag: string): OpenApi["paths"] {
  const own = Object.entries(paths).map(([path, methods]) => {
    const operations = Object.entries(methods).filter(([, { tags }]) => tags[0] === tag);
    return [path, Object.fromEntries(operations)] as const;
  });
  return Object.fromEntries(own.filter(([, operations]) => Object.keys(operations).length > 0));
}

const COMPONENT = /"#\/components\/(\w+)\/([^"]+)"/g;

/** A part of the document, with the components that it refers to, directly or through others. */
function withReferred({ components }: OpenApi, part: Partial<OpenApi>): Partial<OpenApi> {
  const referred: Record<string, Record<string, unknown>> = {};
  const add = (value: unknown): void => {
    for (const [, kind = "", name = ""] of JSON.stringify(value).matchAll(COMPONENT)) {
      if (referred[kind]?.[name] !== undefined) continue;
      const component = (components as unknown as Record<string, Record<string, unknown>>)[kind]?.[name];
      if (component === undefined) throw new Error(`The document refers to ${kind}/${name}, which it does not have.`);
      referred[kind] ??= {};
      referred[kind][name] = component;
      add(component);
    }
  };
  add(part);
  return { ...part, components: referred as unknown as OpenApi["components"] };
}

function groupsOf(document: OpenApi, guides: readonly Guide[]): LinkGroup[] {
  const found = guides.map(({ name, title, text }): Link => {
    const words = [...new Set(`guides ${title} ${text}`.toLowerCase().match(/[\p{L}\d_.-]{3,}/gu))].join(" ");
    return { href: guidePath(name), title, text: title, words };
  });
  return [
    { name: "Guides", href: DOCS_PATH, links: found },
    { ...OVERVIEW, about: "Resources, states, errors, limits and formats.", links: [] },
    ...document.tags.map(({ name, description: about }): LinkGroup => {
      const operations = Object.entries(pathsOf(document, name)).flatMap(([path, methods]) =>
        Object.entries(methods).map(([verb, operation]) =>
          linkOf(document, name, [verb.toUpperCase(), path], operation),
        ),
      );
      return { name, href: tagPath(name), about, links: operations };
    }),
    { ...WEBHOOKS, about: "The body of each event that is posted.", links: webhookLinks(document) },
  ];
}

const webhookLinks = ({ webhooks }: OpenApi): Link[] =>
  Object.entries(webhooks as Record<string, { post: OperationObject }>).map(([event, { post }]) => {
    const { operationId } = post;
    return { href: `${WEBHOOKS.href}#${operationId}`, title: event, text: event, words: `webhook ${event}` };
  });

function linkOf(
  document: OpenApi,
  tag: string,
  [verb, path]: [verb: string, path: string],
  operation: OperationObject,
): Link {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const whole = <T extends object>(part: T): T => ("$ref" in part ? at(document, String(part.$ref)) : part) as T;
  const media = [requestBody ?? {}, ...Object.values(responses).map(whole)].flatMap((part) =>
    Object.values((part as { content?: Record<string, { schema: JsonSchema }> }).content ?? {}),
  );
  const seen = new Set<JsonSchema>();
  const fields = media.flatMap(({ schema }) => namesIn((schema.contentSchema as JsonSchema) ?? schema, whole, seen));
  const names = new Set([...parameters.map(({ name }) => name), ...fields]);
  const words = [tag, verb, path, path.replaceAll(/\{(\w+)\}/g, ":$1"), summary, ...names].join(" ");
  return { href: `${tagPath(tag)}#${operationId}`, title: `${verb} ${path}`, text: summary, verb, words };
}

const at = (document: OpenApi, reference: string): unknown =>
  reference
    .slice(2)
    .split("/")
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);

/** All scopes of a server key, for requests from the page. */
function scopesOf(document: OpenApi): unknown {
  const body = document.paths["/api/v1/server-keys"]?.post?.requestBody?.content["application/json"]?.schema;
  const schema = body?.$ref ? (at(document, body.$ref) as JsonSchema) : body;
  const { items } = schema?.properties?.scopes ?? {};
  return items ? items.enum : [];
}
