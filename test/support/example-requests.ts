// Sends the examples of the document to a workspace in which their ids name something.
import type { OperationObject } from "../../docs/generate/openapi.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import { exampleSettings, type Setting } from "./example-settings.ts";
import { foreignIds } from "./foreign.ts";
import { multipartBody } from "./multipart.ts";
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

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

  async function targetOf({ route }: Endpoint, { parameters = [] }: OperationObject, setting: Setting) {
    const [method, path = ""] = routeKeyOf(route).split(" ");
    let filledPath = path;
    for (const { name, example } of parameters.filter((one) => one.in === "path")) {
      const id =
        setting.params?.[name] ?? (name === "event" ? String(example) : await foreignIds(world, tenant, route));
      filledPath = filledPath.replace(`{${name}}`, id);
    }
    const query = new URLSearchParams(
      parameters
        .filter((one) => one.in === "query" && one.example !== undefined)
        .map(({ name, example }): [string, string] => [name, setting.query?.[name] ?? String(filled(example, name))]),
    ).toString();
    return `${method} ${filledPath}${query && `?${query}`}`;
  }

  function contentOf({ requestBody }: OperationObject, { body, file, raw }: Setting) {
    const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
    if (raw) return { raw };
    if (media?.example === undefined) return {};
    const example = { ...(filled(media.example) as Record<string, string>), ...body };
    if (type !== "multipart/form-data") return { body: example };
    const { [file?.name ?? ""]: _, ...fields } = example;
    return multipartBody(fields as Record<string, string>, file);
  }

  return {
    filled,
    /** Sends the example of an operation. */
    send: async (endpoint: Endpoint, operation: OperationObject): Promise<Answer> => {
      const setting = (await settings[endpoint.route]?.()) ?? {};
      const { headers = {}, ...content } = { headers: {}, ...contentOf(operation, setting) };
      return world.call(await targetOf(endpoint, operation, setting), {
        as: setting.as ?? (await credentialOf(endpoint)),
        headers: { ...headers, ...setting.headers },
        ...content,
      });
    },
  };
}
