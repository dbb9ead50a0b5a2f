// Callbacks of the chat app: only signed ones count (D-WAT).
import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { CHAT_APP } from "../support/channels.ts";
import { changed, inboundIn, wrote } from "../support/inbound.ts";
import { UNKNOWN } from "../support/world.ts";
import { shared } from "../support/worlds.ts";

type Inbound = Awaited<ReturnType<typeof inboundIn>>;

const refusing = shared(async (own) => {
  const found = await inboundIn(await own.withTenant());
  return { ...found, anna: await found.person("anna") };
});

describe("the challenge of the provider", () => {
  const { webhook_verify_token } = CHAT_APP;
  const challengeOf = ({ world }: Inbound, channel: string, change: Record<string, string> = {}) => {
    const query = { "hub.mode": "subscribe", "hub.verify_token": webhook_verify_token, "hub.challenge": "1158201444" };
    return world.call(`GET /v1/inbound/chat-app/${channel}?${new URLSearchParams({ ...query, ...change })}`);
  };

  it("the challenge with the channel's verify token is answered as text (D-WAT)", async () => {
    const found = await refusing();

    expect(await challengeOf(found, found.id)).toMatchObject({
      status: 200,
      body: "1158201444",
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
  });

  it.each([
    ["with another token", 403, { "hub.verify_token": "another" }],
    ["that is no number", 422, { "hub.challenge": "<script>" }],
    ["of another mode", 422, { "hub.mode": "unsubscribe" }],
  ])("a challenge %s is refused with %i (D-WAT)", async (_, status, change) => {
    const found = await refusing();

    expect((await challengeOf(found, found.id, change)).status).toBe(status);
  });

  it.each(["app_secret", "webhook_verify_token"])(
    "a channel without %s answers no challenge: 404 (D-WAT)",
    async (field) => {
      const found = await refusing();
      const channel = await found.create("chat_app");
      await found.upload(channel, "chat_app", { body: { ...CHAT_APP, [field]: undefined } });

      expect((await challengeOf(found, channel)).status).toBe(404);
    },
  );

  it("a channel that there is not answers no challenge: 404 (D-WAT)", async () => {
    expect((await challengeOf(await refusing(), UNKNOWN)).status).toBe(404);
  });
});

describe("signatures", () => {
  const good = createHmac("sha256", CHAT_APP.app_secret)
    .update(JSON.stringify(wrote("STOP")))
    .digest("hex");

  it.each([
    ["is empty", ""],
    ["has no digest", "sha256="],
    ["names another algorithm", `sha1=${good}`],
    ["names no algorithm", good],
    ["is in upper case", `sha256=${good.toUpperCase()}`],
    ["is too long", `sha256=${good}00`],
    ["is too short", `sha256=${good.slice(2)}`],
    ["differs in its last digit", `sha256=${good.replace(/.$/, (last) => (last === "0" ? "1" : "0"))}`],
  ])("a callback whose signature %s is refused with 401, and changes nothing (D-WAT)", async (_, signature) => {
    const { post, anna, consents } = await refusing();

    const answer = await post(wrote("STOP"), { headers: { "x-hub-signature-256": signature } });

    expect(answer.status).toBe(401);
    expect(await consents(anna)).toEqual([]);
  });

  it.each([
    ["a message", wrote("STOP")],
    ["what is no JSON", "{ not json"],
  ])("a callback with %s that is signed by another secret is refused with 401 (D-WAT)", async (_, payload) => {
    const { post } = await refusing();

    expect((await post(payload, { secret: "another" })).status).toBe(401);
  });

  it("a callback without a signature is refused with 401 (D-WAT)", async () => {
    const { world, id } = await refusing();

    expect((await world.call(`POST /v1/inbound/chat-app/${id}`, { body: wrote("STOP") })).status).toBe(401);
  });

  it.each<[what: string, channelOf: (at: Inbound) => Promise<string>]>([
    ["a channel that there is not", async () => UNKNOWN],
    ["a channel of another type", ({ create }) => create("sms")],
    [
      "a channel whose app secret was taken away",
      async ({ create, upload }) => {
        const channel = await create("chat_app");
        await upload(channel, "chat_app");
        await upload(channel, "chat_app", { body: { ...CHAT_APP, app_secret: undefined } });
        return channel;
      },
    ],
  ])("a callback to %s is 404 (D-WAT)", async (_, channelOf) => {
    const found = await refusing();

    const answer = await found.post(wrote("STOP"), { channel: await channelOf(found) });

    expect(answer).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });
});

it.each(["", "{ not json", "[]", "null", '"text"', "{}", '{"entry":7}', '{"__proto__":{},"entry":[]}'])(
  "a signed callback with the body %j is refused with 400 (D-WAT)",
  async (payload) => {
    const { post } = await refusing();

    expect((await post(payload)).status).toBe(400);
  },
);

const own = { metadata: { phone_number_id: CHAT_APP.phone_number_id } };
const message = wrote("STOP").entry[0]!;

it.each<[what: string, payload: object]>([
  ["nothing", { entry: [] }],
  ["another account", { entry: [{ ...message, id: "another account" }] }],
  [
    "another number",
    changed("messages", { ...(message.changes[0]!.value as object), metadata: { phone_number_id: "another number" } }),
  ],
  ["messages that were read", changed("messages", { ...own, statuses: [{ id: "wamid.1", status: "read" }] })],
  ["messages without a text", changed("messages", { ...own, messages: [{ from: "x" }, 7, null] })],
  ["an unknown field", changed("account_update", { event: "VERIFIED_ACCOUNT" })],
  ["a template without an id", changed("message_template_status_update", { event: "APPROVED" })],
  ["a person who is not known", wrote("STOP", { from: "4915100000000" })],
])("a signed callback about %s is received, and changes nothing (D-WAT)", async (_, payload) => {
  const { post, anna, consents } = await refusing();

  expect(await post(payload)).toMatchObject({ status: 200, body: { status: "received" } });

  expect(await consents(anna)).toEqual([]);
});
