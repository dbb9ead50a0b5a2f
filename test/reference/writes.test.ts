// What programs write: each field of a request that a program makes is drawn by some program, or says why not.
import { describe, expect, it } from "vitest";
import { document } from "../support/document.ts";
import { areaNames, programOf, storyNames } from "./harness/generate/program.ts";

/** Fields that no program draws, by the reason. */
const LEFT_OUT: Record<string, string[]> = {
  "of a provider, which the harness gives as its own": [
    ...["POST /api/v1/channels/{id}/credentials/ios-push", "POST /api/v1/channels/{id}/credentials/android-push"],
    ...["POST /api/v1/channels/{id}/credentials/sms", "POST /api/v1/channels/{id}/credentials/email"],
  ],
  "no program has a chat app or a browser": ["chat_app_template_id", "chat_app_parameters", "subscription"],
  "not in the model yet: test/api has its own tests": [
    ...["rate_per_second", "price_per_message", "safety", "ip", "action_id", "url", "device_id", "as_subscriber_id"],
    ...["upload_id", "dry_run", "date_format", "encoding", "visibility", "sent_at", "received_at"],
    ...["region", "currency", "identity_required", "second_factor_required", "sender_name", "postal_address"],
    ...["utm_defaults", "agent_attributes", "POST /api/v1/notifications/preview", "POST /api/v1/notifications/test"],
    ...["preview_id", "platform", "source", "id"],
  ],
  "drawn by another operation, or by another field of the same meaning": [
    ...["name", "description", "content", "template_id", "variant_b", "split_percentage", "channel_ids", "topic"],
    ...["external_id", "phone", "timezone", "locale", "scheduled_at", "double_opt_in", "target_url", "file"],
    ...["device_filters"],
  ],
};

type Schema = Record<string, unknown> & { $ref?: string; properties?: object };
type Methods = Record<string, { requestBody?: { content?: Record<string, { schema: Schema }> } }>;
const paths = document.paths as unknown as Record<string, Methods>;

/** The names of an object's fields, whichever of its forms they belong to. */
function fieldsOf(schema: Schema): string[] {
  if (schema.$ref) {
    const at = schema.$ref.slice(2).split("/");
    return fieldsOf(at.reduce((part: unknown, key) => (part as Record<string, unknown>)[key], document) as Schema);
  }
  const forms = ["allOf", "anyOf", "oneOf"].flatMap((kind) => (schema[kind] ?? []) as Schema[]);
  return [...Object.keys(schema.properties ?? {}), ...forms.flatMap(fieldsOf)];
}

interface Write {
  route: string;
  method: string;
  path: string;
  fields: string[];
}

const writes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]): Write[] => {
    const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => fieldsOf(schema));
    if (fields.length === 0) return [];
    return [{ route: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, fields }];
  }),
);

/** The operation of a call: a segment that a route names comes before one that stands for any. */
function writeOf(method: string, path: string): Write | undefined {
  const segments = path.split("/");
  const fits = (parts: string[]) =>
    parts.length === segments.length && parts.every((part, n) => part === segments[n] || part.startsWith("{"));
  const candidates = writes.filter((write) => write.method === method && fits(write.path.split("/")));
  return candidates.sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
}

function drawn(): Map<string, Set<string>> {
  const mixed = Array.from({ length: 800 }, (_, seed) => programOf(seed, { areas: areaNames, length: 60 }));
  const told = storyNames().map((story) => programOf(1, { areas: areaNames, length: 40, story }));
  const fields = new Map<string, Set<string>>();
  for (const command of [...mixed, ...told].flatMap(({ commands }) => commands)) {
    const write = command.kind === "call" ? writeOf(command.method, command.path) : undefined;
    if (!write || command.kind !== "call") continue;
    fields.set(write.route, new Set([...(fields.get(write.route) ?? []), ...Object.keys(command.body ?? {})]));
  }
  return fields;
}

describe("fields of requests that programs make", () => {
  const known = drawn();
  const leftOut = new Set(Object.values(LEFT_OUT).flat());
  const undrawn = writes.flatMap(({ route, fields }) => {
    const own = known.get(route);
    return own ? fields.filter((field) => !own.has(field)).map((field) => ({ route, field })) : [];
  });

  it("each is drawn by a program, or left out for a reason (GEN-16)", () => {
    const silent = undrawn.filter(({ route, field }) => !leftOut.has(route) && !leftOut.has(field));
    expect(silent).toEqual([]);
  });

  it("none is left out that programs draw wherever it may stand, or that is no more (GEN-16)", () => {
    const needed = new Set(undrawn.flatMap(({ route, field }) => [route, field]));
    expect([...leftOut].filter((name) => !needed.has(name))).toEqual([]);
  });
});
