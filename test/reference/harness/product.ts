// The product's side: a whole service in this process over the embedded AWS, with a frozen clock.
import type { Sqs } from "../../../local/aws/index.ts";
import { queueNames } from "../../../shared/contract/messages.ts";
import { idsFrom } from "../../../shared/kernel/ids.ts";
import { randomFrom } from "../../simulator/random.ts";
import { uploads } from "../../support/channels.ts";
import { download } from "../../support/exports.ts";
import { tellOfMail } from "../../support/mails.ts";
import { createMcp } from "../../support/mcp.ts";
import { multipartBody } from "../../support/multipart.ts";
import { type OpenStream, openStream } from "../../support/sse.ts";
import type { Headers } from "../../support/world.ts";
import { testWorld } from "../../support/world.ts";
import type { Body, Credential } from "../model/kit.ts";
import type { Program, Report } from "./program.ts";
import { sandboxOutbox, sandboxTime } from "./sandbox.ts";
import { openSignatures } from "./signatures.ts";
import type { Storm } from "./storm.ts";

export interface ProductCall {
  method: string;
  path: string;
  query: Record<string, string>;
  body: Body;
  headers: Record<string, string>;
  as: string;
  upload?: string | undefined;
  file?: string | undefined;
  /** The fields of a form of a page. */
  form?: string | undefined;
}

export interface Product {
  start: number;
  now(): number;
  call(request: ProductCall): Promise<{ status: number; body: Body; headers: Body }>;
  advance(ms: number): Promise<void>;
  /** Moves time without doing what falls due before the end. */
  beLate(ms: number): Promise<void>;
  settle(): Promise<void>;
  /** When something comes out of a queue next, while a message waits for a worker to try again. */
  nextTry(): number | undefined;
  outbox(): Promise<Body[]>;
  /** From now on receivers of webhooks answer so. */
  receive(status: number): void;
  /** Deliveries to receivers of webhooks that are not signed as they should. */
  unsigned(): Body[];
  /** The provider of mails tells what became of one. @returns false if it cannot be told from others */
  report(
    mail: { job: string | undefined; subscriber: string; at: string; to: string },
    told: { fate: Report["fate"]; happened: string },
  ): Promise<boolean>;
  /** What the operator says was sent this month. */
  setUsage(sends: number): Promise<void>;
  /** Opens the stream of a subscriber (its id here), from an id of a frame on. */
  stream(subscriber: string, position: string | undefined): Promise<OpenStream>;
  /** The text of a file, by the address that an answer gave. */
  download(url: string): Promise<string>;
  close(): Promise<void>;
}

/** Mails go through SES, which tells what becomes of them. */
const SES = { provider: "ses", from_email: "shop@example.com", from_name: "Shop" };
const UPLOADS: Record<string, () => { body?: Body; headers?: Headers }> = { ...uploads, email: () => ({ body: SES }) };

/** A tool tells the code of a refusal alone. */
const REFUSED: Record<string, number> = {
  ...{
    PAYMENT_REQUIRED: 402,
    SEND_CAP_REACHED: 402,
    FORBIDDEN: 403,
    APPROVAL_REQUIRED: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
  },
  ...{ VALIDATION_ERROR: 422, TEMPLATE_NOT_FOUND: 422 },
};

/** Without the ticks of the minute, which always wait. */
const tried = queueNames.filter((queue) => queue !== "due");
const isBusy = ({ visible, inFlight, delayed }: ReturnType<Sqs["depth"]>) => visible + inFlight + delayed > 0;

const isOfSegment = (path: string): boolean => /^\/v1\/(batch$|segment\/)/.test(path);

/** What a name of a credential means. */
export function credentialOf(name: string): Credential {
  if (name === "none" || name.startsWith("bearer:")) return { kind: "none" };
  if (name === "agent") return { kind: "agent" };
  if (name === "sdk") return { kind: "sdk" };
  if (name === "server") return { kind: "server" };
  if (name.startsWith("server:")) return { kind: "server", scopes: name.slice(7).split(",") };
  if (name === "readonly") return { kind: "dashboard", role: "owner", readOnly: true };
  return { kind: "dashboard", role: name };
}

/** @param seed of its ids, so that a program has the same answers each time */
export async function openProduct(
  { seed, start }: Pick<Program, "seed" | "start">,
  { storm, isSandbox = false }: { storm: Storm | undefined; isSandbox?: boolean },
): Promise<Product> {
  const ids = idsFrom(randomFrom(seed).bytes);
  const stormy = storm && { hooks: storm.hooks, queueFaults: storm.queueFaults, areClientsDirect: () => true };
  // How long a list shows what has expired is not promised.
  const world = await testWorld({ start, ids, faults: {}, ...stormy });
  const tenant = await world.tenant(isSandbox ? { kind: "sandbox" } : {});
  const time = isSandbox ? sandboxTime(world, tenant) : world;
  const keys = new Map<string, Headers>();
  let receiver = 204;
  const signatures = openSignatures();
  world.providers.hosts.set("hooks.example.com", ({ headers, body }) => {
    signatures.check({ headers, body: body.toString() }, world.clock.now());
    return { status: receiver };
  });

  const headersOf = async (name: string): Promise<Headers> => {
    if (name.startsWith("bearer:")) return { authorization: `Bearer ${name.slice(7)}` };
    const { kind, role, readOnly = false, scopes } = credentialOf(name);
    if (kind === "none") return {};
    if (kind === "sdk") return tenant.sdk;
    if (kind === "dashboard") return tenant.dashboard(role as "owner", { readOnly });
    if (!scopes) return tenant.server;
    const known = keys.get(name) ?? (await tenant.backend(...(scopes as never[])));
    keys.set(name, known);
    return known;
  };

  const mails: { tags: Record<string, string[]>; destination: string[]; timestamp: string }[] = [];
  world.ses.onEvent(({ eventType, mail }) => void (eventType === "Send" && mails.push(mail)));

  const mcp = createMcp(world, tenant);
  let agentKey: string | undefined;
  const useTool = async (name: string, given: Body) => {
    agentKey ??= await tenant.agent("write:send", "read:pii");
    const { isError, value } = await mcp.tool(agentKey, name, given);
    return { status: isError ? (REFUSED[value.code] ?? 0) : 200, body: value, headers: {} };
  };

  const call: Product["call"] = async ({ method, path, query, body, headers, as, upload, file, form }) => {
    if (method === "TOOL") return useTool(path, body);
    const search = new URLSearchParams(query).toString();
    const route = `${method} ${path}${search ? `?${search}` : ""}`;
    const credential = await headersOf(as);
    // Libraries of Segment write their key beside what they send.
    const writeKey = String(credential.authorization ?? credential["x-sdk-key"]).replace("Bearer ", "");
    if (isOfSegment(path)) return world.call(route, { body: { ...body, writeKey } });
    let sent: { body?: Body; raw?: Buffer; headers?: Headers } = { body };
    if (upload) sent = UPLOADS[upload]!();
    else if (form !== undefined)
      sent = { raw: Buffer.from(form), headers: { "content-type": "application/x-www-form-urlencoded" } };
    else if (file !== undefined) sent = multipartBody(body, { filename: "people.csv", content: file });
    const more = { ...headers, ...("headers" in sent && sent.headers) };
    const answer = await world.call(route, { as: credential, ...sent, headers: more });
    if (/hooks/.test(path)) signatures.learn(path, answer.body, world.clock.now());
    return { status: answer.status, body: answer.body, headers: answer.headers };
  };

  return {
    start,
    now: () => time.clock.now(),
    call,
    advance: (ms) => time.advance(ms),
    beLate: async (ms) => {
      world.clock.jumpTo(world.clock.now() + ms);
      await world.settle();
    },
    settle: () => world.settle(),
    nextTry: () => (tried.some((queue) => isBusy(world.sqs.depth(queue))) ? world.sqs.nextVisible() : undefined),
    outbox: async () =>
      isSandbox ? sandboxOutbox(world, tenant) : (await world.call("GET /_local/outbox?limit=10000")).body.items,
    receive: (status) => {
      receiver = status;
    },
    unsigned: () => signatures.wrong,
    report: async ({ job, subscriber, at, to }, { fate, happened }) => {
      // One whose provider did not answer is known by what was sent with it.
      const times = [String(Date.parse(at))];
      const unanswered = job && { tags: { tenant: [tenant.id], job: [job], subscriber: [subscriber], at: times } };
      const [found, another] = mails.filter(
        ({ tags, timestamp }) =>
          tags.subscriber?.[0] === subscriber && (job ? tags.job?.[0] === job : timestamp === at),
      );
      const mail = found ?? (unanswered && { ...unanswered, destination: [to] });
      if (!mail || another) return false;
      const people = mail.destination.map((emailAddress) => ({ emailAddress }));
      const bounce = { bounceType: "Permanent", bouncedRecipients: people, timestamp: happened };
      const complaint = { complainedRecipients: people, timestamp: happened };
      const events = {
        arrival: { eventType: "Delivery" },
        bounce: { eventType: "Bounce", bounce },
        complaint: { eventType: "Complaint", complaint },
      };
      await tellOfMail(world, { mail, ...events[fate] });
      return true;
    },
    setUsage: async (sends) => {
      await world.call(`PATCH /_local/workspaces/${tenant.id}`, { body: { usage: { sends } } });
    },
    stream: (subscriber, position) =>
      openStream(world, `?subscriber_id=${subscriber}`, {
        ...tenant.sdk,
        ...(position !== undefined && { "last-event-id": position }),
      }),
    download: (url) => download(world, url),
    close: () => world.close(),
  };
}

/** A fault of the embedded providers. */
export const faultCall = (body: Body): ProductCall => ({
  ...{ method: "POST", path: "/_local/faults", query: {}, body, headers: {}, as: "none" },
});
export const clearFaultsCall: ProductCall = {
  ...{ method: "DELETE", path: "/_local/faults", query: {}, body: undefined, headers: {}, as: "none" },
};
