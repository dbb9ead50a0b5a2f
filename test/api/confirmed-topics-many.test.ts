// Who confirms as many topics as a workspace may have: more than one transaction, or one expression, can hold.
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { importing } from "../support/imports.ts";
import { mailing } from "../support/mails.ts";
import { worlds } from "../support/worlds.ts";

const importer = importing(worlds());

/** A workspace in which everything that one can agree to is confirmed. */
async function setting() {
  const { world, tenant, run } = await importer();
  const keys = Array.from({ length: 99 }, (_, n) => `t${n}`);
  for (const key of keys)
    await tenant.call("POST /api/v1/topics", { key, name: key, default: "out", double_opt_in: true });
  await tenant.call("PATCH /api/v1/workspace", { double_opt_in: true });
  const topics = keys.map((key) => `topic:${key}`);
  const columns = ["external_id", "email", "consent_status", "consent_at", ...topics];
  const agree = (answer: string) => run(`${columns}\np,p@example.com,yes,2025-01-01,${keys.map(() => answer)}\n`);
  return { world, tenant, keys, topics, agree };
}

describe("who confirms all topics that a workspace has", () => {
  it("gets another address, and all of them and all mail wait for its owner (AMB-129)", async () => {
    const { world, tenant, topics, agree } = await setting();
    expect(await agree("yes")).toMatchObject({ status: "completed", failed_rows: 0 });
    await world.advance(MINUTE);

    const id = await tenant.upsert({ external_id: "p", email: "other@example.com" });

    const { items } = (await tenant.call(`GET /api/v1/subscribers/${id}/consents`)).body;
    const waits = items.filter(({ source }: { source: string }) => source === "address_changed");
    expect(new Set(waits.map(({ channel }: { channel: string }) => channel))).toEqual(new Set(["email", ...topics]));
    expect((await tenant.call(`GET /api/v1/subscribers/${id}`)).body.email).toBe("other@example.com");
  });

  it("agrees to all on the page of a mail, in one answer (TPC-4)", async () => {
    const { world, tenant, keys } = await setting();
    const { ada, mail } = await mailing(world, tenant, "own@example.com");
    await tenant.call("POST /api/v1/topics", { key: "news", name: "News", default: "in" });
    const { mail: received } = await mail({ topic: "news", category: "transactional" });
    const path = new URL(/^Your preferences: (.*)$/m.exec(received.text)![1]!).pathname;
    const form = keys.map((key) => `shown=${key}&in=${key}`).join("&");

    const { status } = await world.call(`POST ${path}`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      raw: Buffer.from(form),
    });

    expect(status).toBe(200);
    const { items } = (await tenant.call(`GET /api/v1/subscribers/${ada}/consents`)).body;
    expect(items.filter((item: { status: string }) => item.status === "opted_in")).toHaveLength(99);
  });
});
