// Sends the examples of the document to a workspace in which their ids name something.
import type { OperationObject } from "../../docs/generate/openapi.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import { exampleSettings, type Setting } from "./example-settings.ts";
import { foreignIds } from "./foreign.ts";
import { type FilePart, multipartBody } from "./multipart.ts";
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

/** At most one of a JSON body, the fields of a form, and bytes. */
interface ExampleContent {
  body?: unknown;
  fields?: Record<string, string>;
  file?: FilePart;
  raw?: Buffer;
}

export interface ExampleRequest extends ExampleContent {
  route: string;
  path: Record<string, string>;
  query: Record<string, string>;
  /** In the place of a credential that the endpoint takes. */
  as: Headers | undefined;
  headers: Headers;
}

export async function exampleRequests(world: TestWorld, tenant: Tenant) {
  const { ids, settings } = await exampleSettings(world, tenant);
  const byName: Record<string, string> = {
    subscriber_id: ids.subscriber,
    subscriber_ids: ids.subscriber,
    subscriberIds: ids.subscriber,
    listId: ids.list,
    list_id: ids.list,
    segment_id: ids.segment,
    template_id: ids.template,
    channel_ids: ids.channel,
    job_id: ids.job,
    source_id: ids.campaign,
    tenant_id: tenant.id,
  };

  /** A value of the document, with ids that exist. */
  function filled(value: unknown, name = ""): unknown {
    if (Array.isArray(value)) return value.map((one) => filled(one, name));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, key)]));
    return typeof value === "string" ? (byName[name] ?? value) : value;
  }

  const credentialOf = async ({ access }: Endpoint): Promise<Headers> => {
    const [first] = access.credentials;
    if (first === "sdk") return tenant.sdk;
    if (first === "server") return tenant.backend();
    return first === "dashboard" ? tenant.dashboard() : {};
  };

  async function parametersOf({ route }: Endpoint, { parameters = [] }: OperationObject, setting: Setting) {
    const path: Record<string, string> = {};
    for (const { name, example } of parameters.filter((parameter) => parameter.in === "path"))
      path[name] =
        setting.params?.[name] ?? (name === "event" ? String(example) : await foreignIds(world, tenant, route));
    const query = parameters
      .filter((parameter) => parameter.in === "query" && parameter.example !== undefined)
      .map(({ name, example }) => [name, setting.query?.[name] ?? String(filled(example, name))]);
    return { path, query: Object.fromEntries(query) as Record<string, string> };
  }

  function contentOf({ requestBody }: OperationObject, { body, file, raw }: Setting): ExampleContent {
    const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
    if (raw) return { raw };
    if (media?.example === undefined) return {};
    const example = { ...(filled(media.example) as Record<string, unknown>), ...body };
    if (type === "application/x-www-form-urlencoded")
      return { raw: Buffer.from(new URLSearchParams(pairsOf(example)).toString()) };
    if (type !== "multipart/form-data") return { body: example };
    const { [file?.name ?? ""]: _, ...fields } = example;
    return { fields: fields as Record<string, string>, ...(file && { file }) };
  }

  /** Prepares what the example of an operation needs. */
  async function prepare(endpoint: Endpoint, operation: OperationObject): Promise<ExampleRequest> {
    const setting = (await settings[endpoint.route]?.()) ?? {};
    return {
      route: endpoint.route,
      ...(await parametersOf(endpoint, operation, setting)),
      ...contentOf(operation, setting),
      as: setting.as,
      headers: setting.headers ?? {},
    };
  }

  return {
    filled,
    prepare,
    send: async (endpoint: Endpoint, { as, headers, ...request }: ExampleRequest): Promise<Answer> => {
      const { headers: ofForm, ...content } = { headers: {}, ...contentFor(request) };
      const credential = as ?? (await credentialOf(endpoint));
      return world.call(targetFor(request), { as: credential, headers: { ...ofForm, ...headers }, ...content });
    },
  };
}

/** The fields of a form, one for each value. */
const pairsOf = (example: object): [string, string][] =>
  Object.entries(example).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  );

/** Method and path with their parameters. */
export function targetFor({ route, path, query }: Pick<ExampleRequest, "route" | "path" | "query">): string {
  const filled = route.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  return search ? `${filled}?${search}` : filled;
}

/** What `call` of the world takes. */
export function contentFor({ body, fields, file, raw }: ExampleContent) {
  if (raw) return { raw };
  if (fields) return multipartBody(fields, file);
  return body === undefined ? {} : { body };
}
