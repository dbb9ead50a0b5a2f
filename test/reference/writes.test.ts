// What programs write: each operation is made by some program, with each of its fields, or says why not.
import { describe, expect, it } from "vitest";
import { document } from "../support/document.ts";
import { areaNames, programOf, storyNames } from "./harness/generate/program.ts";
import type { Command } from "./harness/program.ts";
import { ROUTES as OF_SESSIONS } from "./harness/sessions.ts";

/** Operations that no program makes, by the reason. */
const UNMADE: Record<string, string[]> = {
  "no program has a chat app or a browser": [
    ...["POST /api/v1/channels/{id}/credentials/vapid", "POST /api/v1/channels/{id}/credentials/chat_app"],
    ...["POST /api/v1/channels/{id}/chat-app-templates", "POST /v1/inbound/chat-app/{channelId}"],
    ...["submit", "refresh"].map((does) => `POST /api/v1/channels/{id}/chat-app-templates/{templateId}/${does}`),
    ...["keep", "refresh", "logout"].map((does) => `POST /api/v1/auth/browser/${does}`),
  ],
  "of who may sign in, and how, which no other answer depends on: test/api and test/identity have their own tests": [
    ...["password/forgot", "password/reset", "password/change", "email/confirm", "email/resend"],
    ...["second-factor/begin", "second-factor/confirm", "second-factor/remove", "recovery-codes/renew"],
    ...["invitations/accept", "sign-in/begin", "sign-in/finish"],
  ].map((path) => `POST /api/v1/auth/${path}`),
  "of a team, of other workspaces, and of their keys: test/api and test/identity have their own tests": [
    ...["PUT /api/v1/auth/identity-provider", "DELETE /api/v1/auth/identity-provider"],
    ...["DELETE /api/v1/auth/sessions/{id}", "PATCH /api/v1/team/members/{userId}"],
    ...[
      "DELETE /api/v1/team/members/{userId}",
      "POST /api/v1/team/invitations",
      "DELETE /api/v1/team/invitations/{id}",
    ],
    ...["POST /api/v1/agency/workspaces", "POST /api/v1/agency/workspaces/{id}/session"],
    ...["server-keys", "agent-keys", "identity-keys"].flatMap((kind) => [
      `POST /api/v1/${kind}`,
      `DELETE /api/v1/${kind}/{id}`,
    ]),
  ],
  "a brake needs the figures of hundreds: test/api and the simulator have them": [
    ...["POST /api/v1/journeys/{id}/brakes/resume", "POST /api/v1/journeys/{id}/brakes/cancel"],
  ],
  "not in the model yet: test/api has its own tests": [
    ...["POST /api/v1/journeys/{id}/simulate", "POST /api/v1/journeys/{id}/migrations"],
    ...["POST /api/v1/journeys/{id}/simulations/{simulationId}/cancel"],
  ],
  "a file that lies elsewhere, and is read as one that comes with its request": [
    ...["POST /api/v1/lists/import/uploads", "POST /api/v1/in-app/assets", "DELETE /api/v1/in-app/assets/{id}"],
  ],
  "an end that is told before it comes, of connections that programs end": ["POST /v1/in-app/stream/close"],
  "the harness moves the clock": ["POST /v1/test/clock"],
  "the harness makes it at the end of a program (harness/audit.ts)": ["POST /api/v1/audit/verify"],
};

/** Fields that no program draws, by the reason. */
const LEFT_OUT: Record<string, string[]> = {
  "of a provider, which the harness gives as its own": [
    ...["POST /api/v1/channels/{id}/credentials/ios-push", "POST /api/v1/channels/{id}/credentials/android-push"],
    ...["POST /api/v1/channels/{id}/credentials/sms", "POST /api/v1/channels/{id}/credentials/email"],
  ],
  "no program has a chat app or a browser": ["chat_app_template_id", "chat_app_parameters", "subscription"],
  "not in the model yet: test/api has its own tests": [
    ...["rate_per_second", "price_per_message", "safety", "ip", "action_id", "url", "device_id", "as_subscriber_id"],
    ...["upload_id", "date_format", "encoding", "visibility", "sent_at", "received_at"],
    ...["region", "currency", "identity_required", "second_factor_required", "sender_name", "postal_address"],
    ...["utm_defaults", "agent_attributes", "POST /api/v1/notifications/test"],
    ...["preview_id", "platform", "source", "id"],
  ],
  "drawn by another operation, or by another field of the same meaning": [
    ...["name", "description", "content", "template_id", "variant_b", "split_percentage", "channel_ids", "topic"],
    ...["external_id", "phone", "timezone", "locale", "scheduled_at", "double_opt_in", "target_url", "file"],
    ...["device_filters", "type"],
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

const METHODS = ["post", "put", "patch", "delete"];
const writes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([name, { requestBody }]): Write[] => {
    if (!METHODS.includes(name)) return [];
    const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => fieldsOf(schema));
    const method = name.toUpperCase();
    return [{ route: `${method} ${path}`, method, path, fields }];
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

const LINKED = { click: "/c/x", unsubscribe: "/u/x", confirm: "/i/x", preferences: "/p/x" };

/** What a command asks for. Where the harness makes the request, it has all fields. */
function requestOf(command: Command): { method: string; path: string; fields?: string[] } | undefined {
  if (command.kind === "link") return { method: command.method, path: LINKED[command.link] };
  if (command.kind === "session") return { method: "POST", path: OF_SESSIONS[command.does] };
  if (command.kind !== "call") return undefined;
  const { method, path, body } = command;
  return method === "TOOL" ? { method: "POST", path: "/v1/mcp" } : { method, path, fields: Object.keys(body ?? {}) };
}

/** The operations of programs, each with the fields that they write. */
function drawn(): Map<string, Set<string>> {
  const mixed = Array.from({ length: 1_500 }, (_, seed) => programOf(seed, { areas: areaNames, length: 60 }));
  const told = storyNames().map((story) => programOf(1, { areas: areaNames, length: 40, story }));
  const fields = new Map<string, Set<string>>();
  for (const command of [...mixed, ...told].flatMap(({ commands }) => commands)) {
    const request = requestOf(command);
    const write = request && writeOf(request.method, request.path);
    if (!write) continue;
    fields.set(write.route, new Set([...(fields.get(write.route) ?? []), ...(request.fields ?? write.fields)]));
  }
  return fields;
}

const known = drawn();

describe("operations that programs make", () => {
  const unmade = Object.values(UNMADE).flat();

  it("each that writes is made by a program, or left out for a reason (GEN-16)", () => {
    const silent = writes.filter(({ route }) => !known.has(route) && !unmade.includes(route));
    expect(silent.map(({ route }) => route)).toEqual([]);
  });

  it("none is left out that programs make, or that is no more (GEN-16)", () => {
    const stale = unmade.filter((route) => known.has(route) || !writes.some((write) => write.route === route));
    expect(stale).toEqual([]);
  });
});

describe("fields of requests that programs make", () => {
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
