// What callbacks of the chat app say: opt-outs of people, each counted once, and reviews of templates (D-WAT, AMB-90).
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hooks } from "../../local/aws/index.ts";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { isOptOut } from "../../shared/rules/chat-app-template-states.ts";
import { Profile } from "../../shared/store/subscribers/items.ts";
import { at, inboundIn, received, reviewed, wrote } from "../support/inbound.ts";
import { send, wholeTable } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const inboundWorld = async () => inboundIn(await withTenant());

it("an opt-out is stored once as a chat-app consent of every subscriber with the number (AMB-90)", async () => {
  const { tenant, post, person, consents } = await inboundWorld();
  const both = [await person("anna"), await person("anna at work")];

  for (let repeat = 0; repeat < 3; repeat++) await post(wrote(" Stop\n", { seconds: at - 60 }));

  for (const subscriber of both) {
    expect(await consents(subscriber)).toMatchObject([
      {
        subscriber_id: subscriber,
        channel: "chat_app",
        status: "opted_out",
        express: false,
        consented_at: "2026-11-20T11:59:00.999Z",
        source: "inbound_message",
        evidence: { text: " Stop\n" },
      },
    ]);
    expect(await tenant.store.get(Profile, { id: subscriber })).toMatchObject({ "c:chat_app": "opted_out" });
  }
});

it("a tap on a button of a template that says STOP is an opt-out like a message (AMB-90, D-WAT)", async () => {
  const { post, person, consents } = await inboundWorld();
  const anna = await person("anna");

  await post(received({ type: "button", button: { text: "Stop" } }));

  expect(await consents(anna)).toMatchObject([{ channel: "chat_app", status: "opted_out" }]);
});

it("the opt-outs of many numbers in one callback are stored side by side, each of them (AMB-90)", async () => {
  const open = { now: 0, most: 0 };
  const hooks = (name: string): Hooks =>
    name === "api-inbound"
      ? {
          before: async () => {
            open.now++;
            open.most = Math.max(open.most, open.now);
            await new Promise((resolve) => setImmediate(resolve));
          },
          after: () => {
            open.now--;
          },
        }
      : {};
  const { tenant, post, person } = await inboundIn(await withTenant({ hooks }));
  const numbers = Array.from({ length: 60 }, (_, n) => `49151234${String(n).padStart(5, "0")}`);
  const people: string[] = [];
  for (const number of numbers) people.push(await person(number, `+${number}`));
  const callbacks = numbers.map((from, n) => wrote("STOP", { from, id: `wamid.${n}` }));
  const entry = callbacks.flatMap((callback) => callback.entry);

  Object.assign(open, { now: 0, most: 0 });
  expect((await post({ ...callbacks[0]!, entry })).status).toBe(200);

  expect(open.most).toBeGreaterThan(10);
  for (const id of people) expect(await tenant.store.get(Profile, { id })).toMatchObject({ "c:chat_app": "opted_out" });
});

it("an opt-out is of nobody with another number (AMB-90)", async () => {
  const { post, person, consents } = await inboundWorld();
  const other = await person("bert", "+4915123456780");

  await post(wrote("STOP"));

  expect(await consents(other)).toEqual([]);
});

it("each message that says no more than an opt-out is a consent of its own (AMB-90)", async () => {
  const { post, person, consents } = await inboundWorld();
  const anna = await person("anna");

  await post(wrote("STOP"));
  await post(wrote("stop please", { id: "wamid.2" }));
  expect(await consents(anna)).toHaveLength(1);

  await post(wrote("UNSUBSCRIBE", { id: "wamid.3" }));
  expect(await consents(anna)).toHaveLength(2);
});

it("the newest consent counts: a late opt-out is only added to the history (AMB-90)", async () => {
  const { tenant, post, person, consents } = await inboundWorld();
  const anna = await person("anna");
  const consent = { channel: "chat_app", status: "opted_in" };
  await tenant.upsert({ external_id: "anna", consent });

  await post(wrote("STOP", { seconds: at - 3_600 }));
  expect((await consents(anna)).map(({ status }: { status: string }) => status).sort()).toEqual([
    "opted_in",
    "opted_out",
  ]);
  expect(await tenant.store.get(Profile, { id: anna })).toMatchObject({ "c:chat_app": "opted_in" });

  await post(wrote("STOP", { id: "wamid.2", seconds: at }));
  expect(await tenant.store.get(Profile, { id: anna })).toMatchObject({ "c:chat_app": "opted_out" });
});

it("an opt-out holds after an opt-in of the same second, of which its time does not say more (AMB-90)", async () => {
  const { world, tenant, post, person } = await inboundWorld();
  const anna = await person("anna");
  await world.advance(300);
  await tenant.upsert({ external_id: "anna", consent: { channel: "chat_app", status: "opted_in" } });
  await world.advance(300);

  await post(wrote("STOP", { seconds: at }));

  expect(await tenant.store.get(Profile, { id: anna })).toMatchObject({ "c:chat_app": "opted_out" });
});

it("an opt-out by a clock ahead of us is none of the future: a later opt-in ends it (AMB-130, AMB-131)", async () => {
  const { world, tenant, id, post, person } = await inboundWorld();
  const anna = await person("anna");
  await post(wrote("STOP", { seconds: at + 3_600 }));
  await world.advance(1_000);
  await tenant.upsert({ external_id: "anna", consent: { channel: "chat_app", status: "opted_in" } });

  const body = { subscriberIds: [anna], channel_ids: [id], title: "Hello", body: "again" };
  const send = (await tenant.call("POST /api/v1/notifications", body)).body;
  await world.settle();

  const { counts } = (await tenant.call(`GET /api/v1/notifications/${send.id}`)).body;
  expect(counts).toMatchObject({ delivered: 1, skipped: 0 });
});

it("a message that says STOP opts out whoever gets its phone number later (AMB-130)", async () => {
  const { post, person, consents } = await inboundWorld();
  await post(wrote("STOP"));
  const later = await person("later");

  expect(await consents(later)).toMatchObject([{ channel: "chat_app", status: "opted_out", source: "address" }]);
});

it("a STOP that comes late does not move the opt-out of its number back: an opt-in between both stays ended (AMB-130)", async () => {
  const { world, tenant, id, post, person } = await inboundWorld();
  const bob = await person("bob", null);
  await tenant.upsert({ external_id: "bob", consent: { channel: "chat_app", status: "opted_in" } });
  await world.advance(HOUR);
  await post(wrote("STOP", { seconds: at + 3_600 }));
  await post(wrote("STOP", { id: "wamid.2", seconds: at - 3_600 }));
  await person("bob");

  const { job } = await send(world, tenant, { subscriberIds: [bob], channel_ids: [id] });

  expect(job.skip_reasons).toEqual({ no_consent: 1 });
});

it("a number that was changed, removed or erased matches no subscriber (AMB-90)", async () => {
  const { world, tenant, post, person, consents } = await inboundWorld();
  const [moved, cleared, erased] = [await person("moved"), await person("cleared"), await person("erased")];
  await person("moved", "+4915123456700");
  await person("cleared", null);
  expect((await tenant.call(`DELETE /api/v1/subscribers/${erased}`)).status).toBe(204);
  await world.advance(DAY);
  expect((await post(wrote("STOP"))).status).toBe(200);
  for (const subscriber of [moved, cleared]) expect(await consents(subscriber)).toEqual([]);
  const rows = (await wholeTable(world)).map((row) => JSON.stringify(row));
  expect(rows.filter((row) => row.includes(erased) && /i3pk|inbound_message/.test(row))).toEqual([]);
});

it("an opt-out text is the whole message, in any case (AMB-90)", () => {
  const optOuts = ["STOP", "stop", " Stop ", "STOPALL", "unsubscribe", "Cancel", "END", "quit\n"];
  const others = ["", "stop it", "please stop", "stopp", "ends", "no", "s t o p"];

  expect([...optOuts, ...others].filter(isOptOut)).toEqual(optOuts);
  fc.assert(fc.property(fc.string({ minLength: 1 }), (more) => more.trim() === "" || !isOptOut(`stop ${more} x`)));
});

describe("reviews of templates", () => {
  /** A template that was submitted, and what callbacks make of it. */
  async function submitted() {
    const { id, call, post } = await inboundWorld();
    const body = { name: "order_shipped", body: "On its way." };
    const template = (await call(`POST /${id}/chat-app-templates`, { body })).body;
    const { provider_template_id } = (await call(`POST /${id}/chat-app-templates/${template.id}/submit`)).body;
    const shown = async () => (await call(`GET /${id}/chat-app-templates`)).body.items[0];
    const review = (event: string, seconds: number, provider_id = provider_template_id) =>
      post(reviewed(event, provider_id, { reason: event === "REJECTED" ? "SPAM" : "NONE", time: at + seconds }));
    return { shown, review };
  }

  it("a callback reports the rejection of a template with its reason (WAT-5, D-WAT)", async () => {
    const { shown, review } = await submitted();

    await review("REJECTED", 10);

    expect(await shown()).toMatchObject({ status: "rejected", status_reason: "SPAM" });
  });

  it("a later callback approves a template that was rejected (WAT-5, D-WAT)", async () => {
    const { shown, review } = await submitted();
    await review("REJECTED", 10);

    await review("APPROVED", 20);

    expect(await shown()).toMatchObject({ status: "approved" });
    expect(await shown()).not.toHaveProperty("status_reason");
  });

  it("of two reviews of one second the one that came later counts (WAT-5, D-WAT)", async () => {
    const { shown, review } = await submitted();
    await review("PENDING", 20);

    await review("APPROVED", 20);

    expect(await shown()).toMatchObject({ status: "approved" });
  });

  it.each([
    ["another template", "REJECTED", 30, "4711"],
    ["an earlier review", "REJECTED", 10],
    ["the begin of a review in the second of its end", "PENDING", 20],
    ["a review that is not known", "SOMETHING_NEW", 30],
  ])("a callback of %s changes no template (WAT-5, D-WAT)", async (_, event, seconds, provider_id?: string) => {
    const { shown, review } = await submitted();
    await review("APPROVED", 20);

    await review(event, seconds, provider_id);

    expect(await shown()).toMatchObject({ status: "approved" });
  });
});
