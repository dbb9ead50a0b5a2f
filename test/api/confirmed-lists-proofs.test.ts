// What a proof in an imported file proves: of the address of its row, for workspace, topic and list (AMB-129).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { importing } from "../support/imports.ts";
import { mailing, mailsOf } from "../support/mails.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const importer = importing({ withTenant });

/** A list of a workspace that asks for confirmations, as its topic and its list do. */
async function asking() {
  const found = await importer();
  const { world, tenant, list } = found;
  await mailing(world, tenant, "x@example.com");
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "out", double_opt_in: true });
  await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });
  return found;
}

it("a proof in an imported file is of the address of its row, and the next address is asked, for workspace, topic and list (AMB-129)", async () => {
  const { world, tenant, run, members, list } = await asking();
  await run("external_id,email,consent_status,consent_at,topic:news\np,p@example.com,subscribed,2025-01-01,yes\n");
  const [person] = await members();
  const consents = async () => {
    const all = (await tenant.call(`GET /api/v1/subscribers/${person!.subscriber_id}/consents`)).body.items;
    const newest = (channel: string) => all.find((one: { channel: string }) => one.channel === channel)?.status;
    return ["email", "topic:news", `list:${list}`].map(newest);
  };
  expect(await consents()).toEqual(["opted_in", "opted_in", "opted_in"]);

  await world.advance(MINUTE);
  const body = { external_id: "p", email: "victim@example.com" };
  await tenant.upsert(body);
  expect(await consents()).toEqual(["pending", "pending", "pending"]);
  await world.settle();
  expect(await members()).toEqual([]);
  const asked = (await mailsOf(world)).filter(({ text }) => text.includes("/i/"));
  expect(new Set(asked.map(({ to }) => to))).toEqual(new Set(["victim@example.com"]));
});

it("a proof in a file of somebody without an address is of none: the one that is given later is asked, for workspace and topic (AMB-129)", async () => {
  const { world, tenant, run } = await importer();
  await mailing(world, tenant, "x@example.com");
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "out", double_opt_in: true });
  await run("external_id,consent_status,consent_at,topic:news\np,subscribed,2025-01-01,yes\n");
  const id = await tenant.upsert({ external_id: "p", email: "victim@example.com" });
  await world.settle();

  const { items } = (await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).body;
  const said = items.map(({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`);
  expect(said).toEqual(expect.arrayContaining(["email pending", "topic:news pending"]));
  const asked = (await mailsOf(world)).filter(({ text }) => text.includes("/i/"));
  expect(asked.map(({ to }) => to)).toEqual(["victim@example.com", "victim@example.com"]);
});

it("a proof in a file that gives its person another address in a later row has the owner of that asked, for workspace, topic and list (AMB-129)", async () => {
  const { world, tenant, run, members, list } = await asking();
  const columns = "external_id,email,consent_status,consent_at,topic:news";
  await run(`${columns}\np,p@example.com,subscribed,2025-01-01,yes\np,victim@example.com,,,\n`);
  await world.settle();

  const [person] = (await tenant.call("GET /api/v1/subscribers?external_id=p")).body.items;
  const { items } = (await tenant.call(`GET /api/v1/subscribers/${person.id}/consents`)).body;
  const said = items.map(({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`);
  expect(new Set(said)).toEqual(new Set(["email pending", "topic:news pending", `list:${list} pending`]));
  expect(await members()).toEqual([]);
  const asked = (await mailsOf(world)).filter(({ text }) => text.includes("/i/"));
  expect(asked.map(({ to }) => to)).toEqual(Array(3).fill("victim@example.com"));
});

it("a proof in a file of an address that its person left within it makes no member of a list that asks (AMB-129)", async () => {
  const { world, tenant, run, members, list } = await importer();
  await mailing(world, tenant, "x@example.com");
  await tenant.call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });

  await run(
    "external_id,email,consent_status,consent_at\np,p@example.com,subscribed,2025-01-01\np,victim@example.com,,\n",
  );
  await world.settle();

  expect(await members()).toEqual([]);
  const asked = (await mailsOf(world)).filter(({ text }) => text.includes("/i/"));
  expect(asked.map(({ to }) => to)).toEqual(["victim@example.com"]);
});

it("a proof of the last of two addresses that a file gives one person counts for it (AMB-129)", async () => {
  const { tenant, run, members } = await importer();
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  await run(
    "external_id,email,consent_status,consent_at\np,old@example.com,yes,2025-01-01\np,new@example.com,yes,2025-01-01\n",
  );
  const [person] = await members();
  const { consents } = (await tenant.call(`GET /api/v1/subscribers/${person!.subscriber_id}`)).body;

  expect(consents).toMatchObject([{ channel: "email", status: "opted_in" }]);
});
