// Which answers the reference gives: every read of the published interface is compared, or says why not.
import { describe, expect, it } from "vitest";
import { document } from "../support/document.ts";
import { areaNames, programOf } from "./harness/generate/program.ts";
import { allLooks } from "./harness/looks.ts";
import { createReference } from "./model/reference.ts";
import type { World } from "./model/world.ts";

/** Reads that no program compares, by the reason. */
const LEFT_OUT: Record<string, string[]> = {
  "not in the model yet: what it tells is told by answers that are compared": [
    ...["/api/v1/journeys/{id}/versions/{version}/diff/{other}", "/api/v1/segments/attribute-keys"],
    ...["/v1/test/clock", "/v1/test/outbox", "/v1/whoami", "/api/v1/me", "/v1/hooks/samples/{event}"],
  ],
  "no program makes what it reads: test/api has its own tests": [
    ...["/api/v1/journeys/{id}/simulations/{simulationId}", "/api/v1/journeys/{id}/migrations/{migrationId}"],
    ...["/api/v1/journeys/{id}/brakes", "/api/v1/channels/{id}/health", "/api/v1/channels/{id}/chat-app-templates"],
    ...["/api/v1/in-app/assets", "/api/v1/identity-keys", "/v1/projects/{key}/settings", "/api/v1/agency/workspaces"],
    ...["/api/v1/server-keys", "/api/v1/agent-keys", "/api/v1/auth/second-factor", "/api/v1/auth/identity-provider"],
    ...["/api/v1/auth/sessions", "/api/v1/team/members", "/api/v1/team/members/{userId}", "/api/v1/team/invitations"],
  ],
  "a signature, which is another in each installation": [
    ...["/api/v1/erasures/{id}", "/.well-known/receipts.json", "/.well-known/jwks.json", "/api/v1/sdk-key"],
  ],
  "a picture that a reader of mails loads": ["/o/{token}"],
  "the answer to a challenge of a provider, or of the process itself": ["/v1/inbound/chat-app/{channelId}", "/healthz"],
};

/** A world with one of everything, of which every look asks something. */
function oneOfEach(): World {
  const { world } = createReference({ now: 0, bucket: () => 0 });
  const ofAny = {
    id: "#any-1",
    status: "completed",
    source: { type: "api" },
    spec: {},
    events: ["any"],
    created_at: 0,
  };
  const item = { ...ofAny, recipients: [], at: 0, record: { source: "manual" } };
  const filled = Object.entries(world).map(([key, value]) => [key, Array.isArray(value) ? [item] : value]);
  return Object.fromEntries(filled);
}

/** Pages and redirects of the links that commands follow. */
const LINKED = { click: "/c/{token}", unsubscribe: "/u/{token}", confirm: "/i/{token}", preferences: "/p/{token}" };

const drawn = (): string[] =>
  Array.from({ length: 300 }, (_, seed) => programOf(seed, { areas: areaNames, length: 60 }).commands)
    .flat()
    .flatMap((command) => {
      if (command.kind === "stream") return ["/v1/in-app/stream"];
      if (command.kind === "link") return [LINKED[command.link]];
      return command.kind === "call" && command.method === "GET" ? [command.path] : [];
    });

/** `/api/v1/lists/#list-1` is a path of `/api/v1/lists/{id}`, unless a route names that segment. */
function routeOf(path: string, routes: string[]): string | undefined {
  const segments = path.split("/");
  const fits = (route: string) => {
    const parts = route.split("/");
    return parts.length === segments.length && parts.every((part, n) => part === segments[n] || part.startsWith("{"));
  };
  return routes.filter(fits).sort((a, b) => a.split("{").length - b.split("{").length)[0];
}

describe("reads of the published interface", () => {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) => ("get" in methods ? [path] : []));
  // The trail is read at the end (harness/audit.ts), and the address of a file is followed (harness/files.ts).
  const asked = ["/r/x", "/api/v1/audit", ...allLooks(oneOfEach()).map(({ path }) => path), ...drawn()];
  const leftOut = Object.values(LEFT_OUT).flat();
  const compared = new Set(asked.map((path) => routeOf(path, routes)));

  it("each is compared with the reference, or left out for a reason (GEN-16)", () => {
    const silent = routes.filter((route) => !compared.has(route) && !leftOut.includes(route));
    expect(silent).toEqual([]);
  });

  it("none is left out that is compared, or that is no more (GEN-16)", () => {
    const stale = leftOut.filter((route) => compared.has(route) || !routes.includes(route));
    expect(stale).toEqual([]);
  });
});
