// The one naming rule of operation ids, SDK methods and types, over routes that are there and routes to come.
import { expect, it } from "vitest";
import { endpoints } from "../shared/http/endpoint.ts";
import { methodNames, resourceName, singular } from "../shared/http/operation-names.ts";

const endpoint = endpoints({ credentials: [], uses: [] });
const nameIn = (group: string, ...routes: Parameters<typeof endpoint>[0][]) => {
  const made = routes.map((route) => endpoint(route, {}, { summary: "" }, async () => undefined));
  return [...methodNames({ name: group, endpoints: made }).values()];
};

it.each([
  ["templates", "POST /api/v1/templates", "create"],
  ["templates", "GET /api/v1/templates", "list"],
  ["templates", "GET /api/v1/templates/:id", "get"],
  ["templates", "PATCH /api/v1/templates/:id", "update"],
  ["campaigns", "PUT /api/v1/campaigns/:id", "replace"],
  ["campaigns", "POST /api/v1/campaigns/:id/release", "release"],
  ["campaigns", "GET /api/v1/campaigns/:id/report", "getReport"],
  ["journeys", "GET /api/v1/journeys/counts", "getCounts"],
  ["segments", "GET /api/v1/segments/attribute-keys", "listAttributeKeys"],
  ["subscribers", "POST /api/v1/subscribers/bulk-delete", "bulkDelete"],
  ["channels", "POST /api/v1/channels/:id/credentials/ios-push", "iosPushCredentials"],
  ["channels", "POST /api/v1/channels/:id/chat-app-templates", "createChatAppTemplate"],
  ["channels", "POST /api/v1/channels/:id/chat-app-templates/:templateId/submit", "submitChatAppTemplate"],
  ["in-app", "POST /api/v1/in-app/experiences/:id/publish", "publishExperience"],
  ["in-app", "DELETE /api/v1/in-app/assets/:id", "deleteAsset"],
  ["inbox", "GET /v1/in-app/messages", "listMessages"],
  ["events", "POST /v1/events", "create"],
  ["events", "POST /v1/events/identify", "identify"],
  ["insights", "POST /api/v1/insights/config", "config"],
  ["hooks", "GET /v1/hooks/samples/:event", "getSample"],
  ["lists", "GET /api/v1/lists/import/:jobId", "getImport"],
  ["lists", "GET /api/v1/lists/import", "listImports"],
  ["devices", "GET /api/v1/subscribers/:id/devices", "list"],
  ["billing", "PATCH /api/v1/billing", "update"],
  ["account", "GET /v1/whoami", "getWhoami"],
] as const)("%s: %s is %s", (group, route, name) => {
  expect(nameIn(group, route)).toEqual([name]);
});

it("one message and all of them differ, and so do the surfaces of two credentials", () => {
  expect(nameIn("inbox", "POST /v1/in-app/messages/read", "POST /v1/in-app/messages/:id/read")).toEqual([
    "readMessages",
    "readMessage",
  ]);
  expect(nameIn("subscribers", "GET /v1/subscribers", "GET /api/v1/subscribers")).toEqual([
    "listWithServerKey",
    "list",
  ]);
});

it("two routes of one name are refused", () => {
  expect(() => nameIn("things", "GET /api/v1/things/:id", "GET /api/v1/things/:other")).toThrow("come to one name");
});

it("the code names things by their route", () => {
  expect(["GET /api/v1/team/members/:id", "GET /api/v1/annotations", "GET /v1/whoami"].map(resourceName)).toEqual([
    "Member",
    "Annotation",
    "Whoami",
  ]);
  expect(["experiences", "entries", "boxes", "branches", "responses", "status", "sms"].map(singular)).toEqual([
    "experience",
    "entry",
    "box",
    "branch",
    "response",
    "status",
    "sms",
  ]);
});
