// Every operation of the API has a screen of the console that uses it, or the reason why none does.
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { routes } from "../../sdk/src/routes.gen.ts";

const ROOT = new URL("../../", import.meta.url);

/** By the operation of the SDK: why no screen uses it. */
const without: Readonly<Record<string, string>> = {
  "subscribers.upsertWithServerKey": "for servers; the console has the same with its session",
  "subscribers.listWithServerKey": "for servers; the console has the same with its session",
  "subscribers.getWithServerKey": "for servers; the console has the same with its session",
  "notifications.createWithServerKey": "for servers; the console has the same with its session",
  "notifications.getWithServerKey": "for servers; the console has the same with its session",
  "notifications.cancelWithServerKey": "for servers; the console has the same with its session",
  "notifications.resumeWithServerKey": "for servers; the console has the same with its session",
  "subscribers.bulkDelete": "for servers: people are erased one by one, each by name",
  "erasures.listReceipts": "for verifiers: the keys of receipts",
  "suppressions.get": "the list of suppressions has all of it",
  "devices.create": "for apps: a device registers itself",
  "devices.delete": "for apps: a device is removed where it is signed out",
  "devices.list": "the profile of a person has them",
  "notifications.createInteraction": "for apps: what a person did with a message",
  "recipients.getActivity": "the page of a send has its recipients, with filters",
  "tests.clock": "for tests of a sandbox, by its server key",
  "tests.getOutbox": "for tests of a sandbox, by its server key",
  "topics.get": "the list of topics has all of it",
  "preferences.get": "the profile of a person has their topics",
  "schedules.get": "the list of schedules has all of it",
  "journeys.getCounts": "the list of journeys has all of it",
  "journeys.cancelRun": "for servers: a run ends by its exit conditions, or with its version",
  "inbound.getChatApp": "for the provider of the chat app",
  "inbound.createChatApp": "for the provider of the chat app",
  "inbox.readMessages": "for apps: the person reads, not a colleague",
  "inbox.readMessage": "for apps: the person reads, not a colleague",
  "inbox.dismissMessage": "for apps: the person dismisses, not a colleague",
  "inbox.closeStream": "for apps: their live stream",
  "stream.open": "for apps: their live stream",
  "imports.getExport": "the list of exports has all of it",
  "hooks.create": "for automation platforms",
  "hooks.list": "for automation platforms",
  "hooks.delete": "for automation platforms",
  "hooks.getSample": "for automation platforms",
  "events.create": "for apps and servers: what people did",
  "events.identify": "for apps: who a visitor is",
  "events.getExport": "for servers; the exports of the console have events",
  "events.createSegment": "for Segment's libraries",
  "events.createSegmentV1": "for Segment's libraries",
  "events.batch": "for Segment's libraries",
  "events.listProjectSettings": "for Segment's libraries",
  "auth.refresh": "for other clients: the console keeps its refresh token in a cookie",
  "auth.logout": "for other clients: the console keeps its refresh token in a cookie",
  "auth.readOnlyTokens": "for tools that may read with a person's rights",
  "auth.getJwks": "for verifiers: the keys of tokens",
  "account.getWhoami": "for tools: whose key it is",
  "team.getMember": "the list of members has all of it",
  "billing.replacePlan": "for the operator, who decides the plan",
  "mcp.create": "for agents",
  "service.getHealthz": "for load balancers and monitors",
};

/** What is shown of operations there, or generated of them, is no use of them. */
const NO_SCREEN = /\.gen\.ts$|audit-sentences\.ts$/;

/** The files of the console that name an operation, by operation. */
function screensOf(operations: readonly string[]): Map<string, string[]> {
  const folder = new URL("console/", ROOT);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !NO_SCREEN.test(name))
    .map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }));
  const uses = (text: string, operation: string) =>
    text.includes(`"${operation}"`) || text.includes(`api.${operation}(`) || text.includes(`.${operation}(`);
  return new Map(
    operations.map((operation) => [
      operation,
      files.filter(({ text }) => uses(text, operation)).map(({ name }) => name),
    ]),
  );
}

/** Of the OpenAPI document, by the name of the SDK: `campaigns.release`. */
function operationsOfDocument(): string[] {
  const { paths } = JSON.parse(readFileSync(new URL("docs/openapi.json", ROOT), "utf8")) as {
    paths: Record<string, Record<string, { operationId?: string; tags?: string[] }>>;
  };
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap((method) => method.operationId ?? []),
  );
  const groups = [
    ...new Set([...Object.keys(routes), "mail", "mcp", "stream", "service", "inbound", "events", "auth"]),
  ];
  return ids.map((id) => {
    const group = groups.filter((one) => id.startsWith(one)).toSorted((a, b) => b.length - a.length)[0] ?? "";
    const rest = id.slice(group.length);
    return `${group}.${rest.charAt(0).toLowerCase()}${rest.slice(1)}`;
  });
}

/** Pages that the service itself shows to the people who get mail, and links of files. */
const HOSTED = /^mail\.|^imports\.(getR|probeR)$/;

it("every operation of the API has a screen, or the reason why none has it (CON-3)", () => {
  const operations = operationsOfDocument().filter((one) => !HOSTED.test(one));
  const screens = screensOf(operations);
  const bare = operations.filter((operation) => screens.get(operation)!.length === 0 && !(operation in without));
  expect(bare).toEqual([]);
  const stale = Object.keys(without).filter((key) => (screens.get(key)?.length ?? 1) > 0);
  expect(stale).toEqual([]);
});
