// The two workspaces of the fuzzer: one that calls, and one whose data no answer may show.
import { operationsOf } from "../../docs/generate/contents.ts";
import type { OpenApi } from "../../docs/generate/openapi.ts";
import { contents } from "../../infra/functions.ts";
import type { Credential } from "../../shared/http/access.ts";
import { type Endpoint, routeKeyOf } from "../../shared/http/endpoint.ts";
import type { Random } from "../simulator/random.ts";
import { type ExampleRequest, exampleRequests } from "../support/example-requests.ts";
import { foreignIds } from "../support/foreign.ts";
import { mailOf } from "../support/mails.ts";
import { createMcp } from "../support/mcp.ts";
import { send } from "../support/people.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import type { Headers, Tenant, TestWorld } from "../support/world.ts";
import { createKnown, type Known, kindOfPath, kindsOfParams } from "./known.ts";

/** A text of the other workspace. It is in no request, so no answer may have it. */
const SECRET = "okapi-of-the-other-workspace";
const AGENT_SCOPES = ["read", "read:pii", "write:drafts", "write:send"];

/** The credentials of the workspace that calls, by kind. */
export type Callers = Record<Credential, Headers>;

interface Population {
  known: Known;
  /** By route, what the document shows, with ids that exist. */
  examples: ReadonlyMap<string, ExampleRequest>;
  /** New credentials, for the next minutes. */
  callers(): Promise<Callers>;
  /** What an answer shows of the other workspace. */
  leakIn(text: string): string | undefined;
}

export async function fillWorld(world: TestWorld, document: OpenApi): Promise<Population> {
  const known = createKnown();
  const own = await world.tenant();
  const examples = await preparedExamples(world, own, document);
  for (const { route, path } of examples.values())
    for (const { name, kind } of kindsOfParams(route)) known.note(kind, path[name]!);
  const other = await world.tenant({ name: SECRET });
  const server = await own.backend();
  const unsaid = new Set(await someTexts(world, other));
  for (const route of oneRouteOfEachKind()) {
    const kind = kindOfPath(route);
    const theirs = await foreignIds(world, other, route);
    unsaid.delete(theirs);
    known.note(kind, theirs);
    known.note(kind, await foreignIds(world, own, route));
  }
  const whole = { external_id: "ada", attributes: wholeProfile };
  await own.upsert(whole);
  await world.settle();
  for (const [kind, token] of await mailedTokens(world, own)) known.note(kind, token);
  const agent = await createMcp(world, own).key(...AGENT_SCOPES);
  return {
    known,
    examples,
    callers: async () => ({
      sdk: own.sdk,
      server,
      dashboard: await own.dashboard(),
      agent: { authorization: `Bearer ${agent}` },
    }),
    leakIn: (text) => {
      const shown = [SECRET, ...unsaid].find((one) => text.includes(one));
      return shown && `showed ${shown} of another workspace`;
    },
  };
}

interface Caller {
  by: Credential | undefined;
  as: Headers;
}

/** A credential that the endpoint takes; seldom one that it does not, or that somebody made up. */
export function credentialFor(random: Random, { access }: Endpoint, callers: Callers): Caller {
  const all = Object.keys(callers) as Credential[];
  if (random.chance(0.03)) return { by: undefined, as: random.pick(madeUp) };
  const by =
    random.chance(0.03) || access.credentials.length === 0 ? random.pick(all) : random.pick(access.credentials);
  return access.credentials.length === 0 && random.chance(0.97) ? { by: undefined, as: {} } : { by, as: callers[by] };
}

const madeUp: readonly Headers[] = [
  {},
  { "x-sdk-key": `sk_${Buffer.from("nobody").toString("base64url")}.${"a".repeat(43)}` },
  { authorization: `Bearer service_srv_${"a".repeat(32)}` },
  { authorization: `Bearer service_mcp_${"a".repeat(32)}` },
  { authorization: "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJ4In0.AAAA" },
  { authorization: `Bearer ${"x".repeat(7_000)}` },
];

/** Their passwords are hashed for a fraction of a second each. */
export const isSlow = ({ route }: Endpoint): boolean => /auth\/(register|login|invitations|password)/.test(route);

async function preparedExamples(world: TestWorld, tenant: Tenant, { paths }: OpenApi) {
  const { prepare } = await exampleRequests(world, tenant);
  const examples = new Map<string, ExampleRequest>();
  for (const { endpoint, isStream } of operationsOf(contents)) {
    if (isStream || isSlow(endpoint)) continue;
    const [method = "", path = ""] = routeKeyOf(endpoint.route).split(" ");
    examples.set(endpoint.route, await prepare(endpoint, paths[path]![method.toLowerCase()]!));
  }
  return examples;
}

function oneRouteOfEachKind(): string[] {
  const routes = operationsOf(contents).map(({ endpoint }) => endpoint.route);
  return [
    ...new Map(routes.filter((route) => route.includes("/:")).map((route) => [kindOfPath(route), route])).values(),
  ];
}

/** As much as the publishable key may write: nearly 64 attributes and 16 KB. */
const wholeProfile = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`about_${n}`, "x".repeat(240)]));

/** Some resources whose texts are the secret. @returns their ids, which no request names. */
async function someTexts(world: TestWorld, tenant: Tenant): Promise<string[]> {
  const as = await tenant.dashboard();
  const content = { title: SECRET, body: SECRET };
  const subscriber = { external_id: SECRET, email: `${SECRET}@example.com`, attributes: { word: SECRET } };
  const bodies: [route: string, body: object, by?: Headers][] = [
    ["POST /api/v1/subscribers/upsert", subscriber, tenant.sdk],
    ["POST /api/v1/templates", { name: SECRET, content }],
    ["POST /api/v1/lists", { name: SECRET }],
    ["POST /api/v1/topics", { key: SECRET, name: SECRET }],
    ["POST /api/v1/segments", { name: SECRET, rule: { attribute: { word: { $eq: SECRET } } } }],
    ["POST /api/v1/webhooks", { target_url: `https://${SECRET}.example/in`, events: ["subscriber.created"] }],
    ["POST /api/v1/channels", { name: SECRET, type: "in_app" }],
    ["POST /api/v1/annotations", { occurred_at: "2026-11-01T00:00:00Z", text: SECRET }],
    ["POST /api/v1/in-app/experiences", { name: SECRET, format: "banner", content }],
    ["POST /v1/events", { event_name: SECRET, anonymous_id: SECRET, properties: { word: SECRET } }, tenant.sdk],
    ["POST /api/v1/notifications", { target: { type: "all" }, ...content }],
  ];
  const ids: string[] = [];
  for (const [route, body, by = as] of bodies) {
    const { status, body: answer } = await world.call(route, { as: by, body });
    if (status >= 300) throw new Error(`${route}: ${JSON.stringify(answer)}`);
    if (typeof answer.id === "string") ids.push(answer.id);
  }
  return ids;
}

/** Opens every channel and sends a mail. @returns the tokens of its links, by the kind of their path. */
async function mailedTokens(world: TestWorld, tenant: Tenant): Promise<[kind: string, token: string][]> {
  await openChannels(world, tenant, "ios-push", "android-push", "vapid", "sms", "chat_app", "email");
  const consent = { status: "opted_in" };
  const body = {
    external_id: "reader",
    attributes: wholeProfile,
    email: "reader@shop.example",
    phone: "+4915112345678",
    consent,
  };
  const id = await tenant.upsert(body);
  await send(world, tenant, { subscriberIds: [id], title: "Hello", body: "See https://shop.example/sale" });
  const mails = await outboxOf(world, `?channel=email&subscriber_id=${id}`);
  return mails.flatMap(({ payload }) => {
    const { unsubscribe = "", pixel, clicks } = mailOf(String(payload));
    return [unsubscribe, pixel, ...clicks].flatMap((path): [string, string][] => {
      const [, kind = "", token = ""] = path.split("/");
      return kind === "u"
        ? [
            [kind, token],
            ["p", token],
          ]
        : [[kind, token]];
    });
  });
}
