// Everything about a person: nothing is left out, whatever does not fit into one answer, and nobody else's.
import { expect, it } from "vitest";
import { cliOf } from "../support/cli.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** More than one page has. */
const SENDS = 205;

it("exports profile, consents, devices, memberships, inbox, events and sends over as many pages as it takes (F14)", async () => {
  const { world, tenant } = await withTenant();
  const as = await tenant.dashboard();
  const call = async (route: string, body?: unknown, headers = as) => {
    const answer = await world.call(route, { as: headers, body });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  await call("POST /api/v1/topics", { key: "news", name: "News" });
  const { id: list } = await call("POST /api/v1/lists", { name: "Readers" });
  const consent = { status: "opted_in", source: "checkout", text: "Send me news" };
  const person = { external_id: "ada", email: "ada@example.com", attributes: { plan: "pro" }, consent };
  const { id } = await call("POST /api/v1/subscribers/upsert", person, tenant.sdk);
  const { id: other } = await call("POST /api/v1/subscribers/upsert", { external_id: "bob" }, tenant.sdk);
  await call("POST /api/v1/devices", { external_id: "ada", platform: "ios", token: "ab".repeat(32) }, tenant.sdk);
  await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [id] });
  for (let n = 0; n < 3; n++)
    await call("POST /v1/events", { event_name: `page ${n}`, subscriber_id: id, properties: { n } }, tenant.sdk);
  for (let n = 0; n < SENDS; n++)
    await call("POST /api/v1/notifications", { subscriberIds: [id], title: `Message ${n}`, body: "b" });
  await call("POST /api/v1/notifications", { subscriberIds: [other], title: "For Bob", body: "b" });
  await world.settle();
  const pages: Record<string, never[]>[] = [];
  for (let cursor = ""; ; ) {
    const page = await call(`GET /api/v1/subscribers/${id}/export${cursor && `?cursor=${encodeURIComponent(cursor)}`}`);
    pages.push(page);
    cursor = page.next_cursor;
    if (cursor === "") break;
  }
  expect(pages.length).toBeGreaterThan(3);
  expect(pages[0]).toMatchObject({
    subscriber: {
      external_id: "ada",
      devices: [{ platform: "ios" }],
      lists: [{ name: "Readers" }],
      topics: [{ key: "news" }],
    },
    consents: [{ source: "checkout", evidence: { text: "Send me news" } }],
    conversions: [],
  });
  const titles = pages
    .flatMap(({ inbox }) => inbox!)
    .map(({ content }: { content: { title: string } }) => content.title);
  expect(titles.sort()).toEqual(Array.from({ length: SENDS }, (_, n) => `Message ${n}`).sort());
  const history: { kind: string; title: string }[] = pages.flatMap(({ history }) => history!);
  expect(history.filter(({ kind }) => kind === "message")).toHaveLength(SENDS);
  expect(history.flatMap(({ kind, title }) => (kind === "event" ? [title] : [])).sort()).toEqual([
    "page 0",
    "page 1",
    "page 2",
  ]);
  const cli = await cliOf(world, tenant);
  const file = await cli.json("export-subscriber", "ada");
  expect([(file.inbox as []).length, (file.history as []).length]).toEqual([SENDS, history.length]);
  // A cursor of another person opens nothing, and an erased one is gone.
  const [{ next_cursor }] = pages as unknown as [{ next_cursor: string }];
  const foreign = await tenant.call(
    `GET /api/v1/subscribers/${other}/export?cursor=${encodeURIComponent(next_cursor)}`,
  );
  expect(foreign.status).toBe(422);
  await call(`DELETE /api/v1/subscribers/${id}`);
  expect((await tenant.call(`GET /api/v1/subscribers/${id}/export`)).status).toBe(404);
});
