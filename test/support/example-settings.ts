// What the examples of some operations need before they can be sent: a campaign in progress, the link of a mail, a form.
import type { Role } from "../../shared/contract/roles.ts";
import { createSimulation } from "../../shared/store/journeys/simulations.ts";
import { haltJob } from "../../shared/store/sends/jobs/brake.ts";
import { accountSettings } from "./example-accounts.ts";
import { brakesOf } from "./example-brakes.ts";
import { channelSettings } from "./example-channels.ts";
import { foreignIds } from "./foreign.ts";
import { mailing, mailsOf } from "./mails.ts";
import { multipartBody } from "./multipart.ts";
import { pictures } from "./pictures.ts";
import { callsOf } from "./sandboxes.ts";
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

/** A caller without a credential. */
const NOBODY: Headers = {};

/** How a request differs from its example. */
export interface Setting {
  /** Path parameters; what is missing is made by `foreignIds`. */
  params?: Record<string, string>;
  /** Query parameters and fields of the body in the place of the example's. */
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  /** The file of a form, under the name of its part. */
  file?: { name: string; filename: string; content: string | Buffer };
  /** The bytes of a body that is no JSON of ours. */
  raw?: Buffer;
  as?: Headers;
  headers?: Headers;
}

export type Settings = Record<string, () => Promise<Setting> | Setting>;
export type Call = (route: string, body?: object, as?: Headers) => Promise<Answer["body"]>;

const linksOf = (mail: {
  text: string;
  unsubscribe: string | undefined;
  pixel: string;
  clicks: string[];
}): Settings => {
  const paths = {
    u: mail.unsubscribe,
    o: mail.pixel,
    c: mail.clicks[0],
    p: /\/p\/\S+/.exec(mail.text)?.[0],
  };
  return Object.fromEntries(
    Object.entries(paths).flatMap(([letter, path]) =>
      ["GET", "POST", "HEAD"].map((method) => [
        `${method} /${letter}/:token`,
        () => ({ params: { token: path?.split("/").at(-1) ?? "" }, as: NOBODY }),
      ]),
    ),
  );
};

function sendsOf(world: TestWorld, tenant: Tenant, { ada, job }: { ada: string; job: string }): Settings {
  const call = callsOf(world, tenant).call;
  const halted = async (): Promise<Setting> => {
    const { id } = await call("POST /api/v1/notifications", { target: { type: "all" }, title: "t", body: "b" });
    const breach = { reason: "error_rate", channel: "ios", rate: 0.3, limit: 0.2, count: 60, tried: 200 } as const;
    await haltJob(tenant.store, { id, name: null, releasedAt: undefined }, breach);
    return { params: { id } };
  };
  const message = async (): Promise<Setting> => {
    const { messages } = await call(`GET /v1/in-app/messages?subscriber_id=${ada}`, undefined, tenant.sdk);
    return { params: { id: messages[0].id } };
  };
  const device = async (): Promise<Setting> => {
    const body = { subscriber_id: ada, platform: "ios", token: "0badcafe" };
    return { params: { id: (await call("POST /api/v1/devices", body, tenant.sdk)).id } };
  };
  const confirming = async (): Promise<Setting> => {
    await call("PATCH /api/v1/workspace", { double_opt_in: true });
    const email = `${world.ids.uuid()}@example.com`;
    const consent = { channel: "email", status: "opted_in" };
    const { id } = await call("POST /api/v1/subscribers/upsert", { external_id: email, email, consent }, tenant.sdk);
    await world.settle();
    const mails = await mailsOf(world, `&subscriber_id=${id}`);
    const path = mails.flatMap(({ text }) => /\/i\/[\w-]+/.exec(text) ?? []).at(-1);
    return { params: { token: path?.split("/").at(-1) ?? "" }, as: NOBODY };
  };
  const askedBy = async (role: Role): Promise<Setting> => {
    await call("PATCH /api/v1/workspace", { approval_required: true });
    const { id } = await call("POST /api/v1/campaigns", {
      ...{ name: "Asked", content: { title: "t", body: "b" } },
      channel_ids: [(await call("GET /api/v1/channels")).channels[0].id],
    });
    const { approval } = await call(`POST /api/v1/campaigns/${id}/release`, undefined, await tenant.dashboard(role));
    await call("PATCH /api/v1/workspace", { approval_required: false });
    return { params: { id }, ...(role === "marketer" && { body: { approval_id: approval.id } }) };
  };
  return {
    "POST /api/v1/campaigns/:id/approve": () => askedBy("marketer"),
    "POST /api/v1/campaigns/:id/decline": () => askedBy("marketer"),
    "POST /api/v1/campaigns/:id/withdraw": () => askedBy("owner"),
    "GET /i/:token": confirming,
    "POST /i/:token": confirming,
    "POST /api/v1/subscribers/bulk-delete": () => ({ body: { subscriber_ids: [world.ids.uuid()] } }),
    "GET /api/v1/erasures/:id": async () => {
      const { id } = await call("POST /api/v1/subscribers/upsert", { external_id: "gone" }, tenant.sdk);
      await call(`DELETE /api/v1/subscribers/${id}`);
      return { params: { id } };
    },
    "DELETE /api/v1/devices/:id": device,
    "POST /api/v1/notifications/:id/resume": halted,
    "POST /v1/notifications/:id/resume": halted,
    "GET /api/v1/notifications/:id/recipients/:subscriberId": () => ({ params: { id: job, subscriberId: ada } }),
    "GET /api/v1/why": () => ({ query: { person: ada, send: job } }),
    "GET /api/v1/segments/:id/members/:subscriberId": () => ({ params: { subscriberId: ada } }),
    "GET /api/v1/journeys/:id/subscribers/:subscriberId": () => ({ params: { subscriberId: ada } }),
    "POST /v1/segment/:call": () => ({ params: { call: "track" } }),
    "POST /v1/segment/v1/:call": () => ({ params: { call: "track" } }),
    "GET /v1/projects/:key/settings": () => ({ params: { key: String(tenant.sdk["x-sdk-key"]) } }),
    "POST /v1/in-app/messages/:id/read": message,
    "POST /v1/in-app/messages/:id/dismiss": message,
    "POST /api/v1/webhooks/:id/deliveries/:deliveryId/redeliver": async () => {
      const id = await foreignIds(world, tenant, "GET /api/v1/webhooks/:id");
      const { delivery_id } = await call(`POST /api/v1/webhooks/${id}/test`, { event: "subscriber.created" });
      await world.advance(60_000);
      return { params: { id, deliveryId: delivery_id } };
    },
    "DELETE /api/v1/insights/config": async () => {
      await call("POST /api/v1/insights/config", { event_name: "purchase" });
      return {};
    },
  };
}

function automationsOf(world: TestWorld, tenant: Tenant, ada: string): Settings {
  const call = callsOf(world, tenant).call;
  const waitingOn = (step: string) => {
    const wait = { id: step, type: "delay", delay: { duration: "9d", next: "end" } };
    const steps = { start: step, steps: { [step]: wait, end: { id: "end", type: "exit" } } };
    return { name: "Waiting", trigger: { type: "event", event_name: "waited" }, steps };
  };
  const journey = async () => {
    const { id } = await call("POST /api/v1/journeys", waitingOn("pause"));
    await call(`POST /api/v1/journeys/${id}/activate`);
    return id;
  };
  /** A journey with two versions that were activated. */
  const changed = async () => {
    const id = await journey();
    await call(`POST /api/v1/journeys/${id}/pause`);
    await call(`PUT /api/v1/journeys/${id}`, waitingOn("rest"));
    await call(`POST /api/v1/journeys/${id}/activate`);
    return id;
  };
  const simulation = async (): Promise<Setting> => {
    const id = await journey();
    const { trigger, entry_rules, steps: graph } = await call(`GET /api/v1/journeys/${id}`);
    const definition = { trigger, entry_rules, graph };
    const work = { journey: id, definition, window: { from: 0, to: 1 }, percent: 100 };
    const job = await createSimulation(tenant.store, { set: async () => undefined }, work, 1);
    return { params: { id, simulationId: job.id } };
  };
  const experience =
    (...actions: string[]) =>
    async (): Promise<Setting> => {
      const id = await foreignIds(world, tenant, "GET /api/v1/in-app/experiences/:id");
      const ready = { content: { title: "t", body: "b" }, audience: { type: "all" } };
      await call(`PATCH /api/v1/in-app/experiences/${id}`, ready);
      for (const action of actions) await call(`POST /api/v1/in-app/experiences/${id}/${action}`);
      return { params: { id } };
    };
  return {
    "PATCH /api/v1/campaigns/:id": async () => {
      const id = await foreignIds(world, tenant, "GET /api/v1/campaigns/:id");
      await call(`POST /api/v1/campaigns/${id}/release`);
      return { params: { id } };
    },
    "GET /api/v1/journeys/:id/simulations/:simulationId": simulation,
    "POST /api/v1/journeys/:id/simulations/:simulationId/cancel": simulation,
    "GET /api/v1/journeys/:id/versions/:version/diff/:other": async () => ({
      params: { id: await changed(), version: "1", other: "2" },
    }),
    "POST /api/v1/journeys/:id/migrations": async () => ({ params: { id: await changed() } }),
    "GET /api/v1/journeys/:id/migrations/:migrationId": async () => {
      const id = await changed();
      const migration = await call(`POST /api/v1/journeys/${id}/migrations`, {
        from: 1,
        to: 2,
        steps: { pause: "rest" },
      });
      return { params: { id, migrationId: migration.id } };
    },
    "POST /api/v1/journeys/:id/pause": async () => ({ params: { id: await journey() } }),
    "POST /api/v1/journeys/:id/runs/:runId/cancel": async () => {
      const id = await journey();
      await call("POST /v1/events", { event_name: "waited", subscriber_id: ada }, tenant.sdk);
      await world.settle();
      const { items } = await call(`GET /api/v1/journeys/${id}/runs`);
      return { params: { id, runId: items[0].id } };
    },
    "POST /api/v1/in-app/experiences/:id/publish": experience(),
    "POST /api/v1/in-app/experiences/:id/pause": experience("publish"),
    "POST /api/v1/in-app/experiences/:id/resume": experience("publish", "pause"),
    "POST /api/v1/in-app/experiences/:id/end": experience("publish"),
  };
}

/** A workspace of its own that is a sandbox. */
function sandboxOf(world: TestWorld): Settings {
  const made = world.tenant({ kind: "sandbox" });
  const asOwner = async (): Promise<Setting> => ({ as: await (await made).dashboard() });
  return Object.fromEntries(
    ["POST /v1/test/clock", "GET /v1/test/clock", "GET /v1/test/outbox"].map((route) => [route, asOwner]),
  );
}

function filesOf(world: TestWorld, tenant: Tenant, list: string): Settings {
  const file = { name: "file", filename: "people.csv", content: "external_id,email\neve,eve@shop.example\nbad,bad\n" };
  const rejected = async (): Promise<Setting> => {
    const form = multipartBody({ listId: list }, file);
    const { body } = await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...form });
    await world.settle();
    const job = await callsOf(world, tenant).call(`GET /api/v1/lists/import/${body.import_job_id}`);
    return { params: { token: job.rejected_rows_url.split("/").at(-1) }, as: NOBODY };
  };
  return {
    "POST /api/v1/lists/import": () => ({ file }),
    "POST /api/v1/in-app/assets": () => ({ file: { name: "file", filename: "a.png", content: pictures.png } }),
    "GET /r/:token": rejected,
    "HEAD /r/:token": rejected,
  };
}

/** Prepares what all of them share. @returns it, and the preparations by route */
export async function exampleSettings(world: TestWorld, tenant: Tenant) {
  const call = callsOf(world, tenant).call;
  const made = (route: string) => foreignIds(world, tenant, route);
  await call("POST /api/v1/topics", { key: "offers", name: "Offers" });
  const { ada, mail } = await mailing(world, tenant);
  const { job, mail: letter } = await mail({ title: "t", body: "https://example.com/sale", topic: "offers" });
  await call("POST /api/v1/notifications", { subscriberIds: [ada], title: "t", body: "b" });
  const ids = {
    subscriber: ada,
    job: job.id,
    list: await made("GET /api/v1/lists/:id"),
    segment: await made("GET /api/v1/segments/:id"),
    template: await made("GET /api/v1/templates/:id"),
    channel: await made("GET /api/v1/channels/:id"),
    campaign: await made("GET /api/v1/campaigns/:id"),
  };
  const settings: Settings = {
    ...linksOf(letter),
    ...sendsOf(world, tenant, { ada, job: job.id }),
    ...automationsOf(world, tenant, ada),
    ...brakesOf(call, tenant),
    ...(await channelSettings(world, tenant)),
    ...filesOf(world, tenant, ids.list),
    ...accountSettings(world, tenant, call),
    ...sandboxOf(world),
  };
  await world.settle();
  return { ids, settings };
}
