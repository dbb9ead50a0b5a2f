// Who waits to confirm a list: what becomes of the wait once the list asks nobody, and what an import says of it.
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { importing } from "../support/imports.ts";
import { mailing, mailsOf } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const importer = importing({ withTenant });

const HEADER = "external_id,email,consent_status,consent_at\n";

/** A list that asked one person, who did not answer, and stopped asking; `news` tells what became of a send to it. */
async function setting() {
  const { world, tenant, run, list } = await importer();
  const { channel } = await mailing(world, tenant, "x@example.com");
  const { call } = tenant;
  const asks = (double_opt_in: boolean) => call(`PATCH /api/v1/lists/${list}`, { double_opt_in });
  const ada = (await tenant.upsert({ external_id: "ada", email: "ada@example.com" })) as string;
  const add = async () => (await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [ada] })).body;
  const news = async () => {
    const spec = { target: { type: "list", list_id: list }, channel_ids: [channel], category: "marketing" };
    const { job } = await send(world, tenant, spec);
    await world.advance(MINUTE);
    const { items } = (await call(`GET /api/v1/notifications/${job.id}/recipients`)).body;
    return items.map(({ state }: { state: string }) => state);
  };
  await asks(true);
  await add();
  await world.settle();
  await asks(false);
  return { world, call, run, list, ada, asks, add, news };
}

describe("a list that stopped asking", () => {
  it("reaches who waited to confirm it and is added again (AMB-129, D-LIST)", async () => {
    const { add, news } = await setting();

    expect(await add()).toMatchObject({ added: 1, pending: 0 });
    expect(await news()).toEqual(["delivered"]);
  });

  it("reaches who waited to confirm it and is in an imported file (AMB-129, D-LIST)", async () => {
    const { run, news } = await setting();

    expect(await run("external_id\nada\n")).toMatchObject({ status: "completed", pending_rows: 0 });
    expect(await news()).toEqual(["delivered"]);
  });

  it("says in the history of who is added again that nothing was confirmed (D-CONSENT)", async () => {
    const { call, add, ada, list } = await setting();
    await add();

    const [newest] = (await call(`GET /api/v1/subscribers/${ada}/consents`)).body.items;

    expect(newest).toMatchObject({ channel: `list:${list}`, status: "unknown", express: false, source: "dashboard" });
  });

  it("asks again whom it loses, once it asks again (AMB-129)", async () => {
    const { world, call, list, ada, asks, add } = await setting();
    await add();
    await call(`POST /api/v1/lists/${list}/subscribers/remove`, { subscriber_ids: [ada] });
    await asks(true);
    await world.advance(MINUTE);

    expect(await add()).toMatchObject({ added: 0, pending: 1 });
    await world.settle();
    expect((await mailsOf(world)).filter(({ text }) => text.includes("/i/"))).toHaveLength(2);
  });
});

describe("an import into a list that asks", () => {
  const FILE = `${HEADER}ada,ada@example.com,,\np,p@example.com,yes,2025-01-01\nq,q@example.com,yes,\nq,,,\nbad,nobody,,\n`;

  it("counts the rows of those whom the list asks first (AMB-129, IMP-1)", async () => {
    const { run, asks } = await setting();
    await asks(true);

    expect(await run(FILE)).toMatchObject({ processed_rows: 5, failed_rows: 1, pending_rows: 3 });
  });

  it("counts them in a rehearsal too (AMB-129, F13)", async () => {
    const { run, asks } = await setting();
    await asks(true);

    expect(await run(FILE, { dry_run: "true" })).toMatchObject({ dry_run: true, failed_rows: 1, pending_rows: 3 });
  });

  it("counts no member as pending in a rehearsal (AMB-129, F13)", async () => {
    const { run, add, asks } = await setting();
    await add();
    await asks(true);

    expect(await run(FILE, { dry_run: "true" })).toMatchObject({ pending_rows: 2 });
  });

  it("counts no member as pending in a rehearsal whose external id was erased before (AMB-129, F13)", async () => {
    const { tenant, run, list } = await importer();
    const { call } = tenant;
    const erased = await tenant.upsert({ external_id: "ada", email: "ada@example.com" });
    await call(`DELETE /api/v1/subscribers/${erased}`);
    const ada = await tenant.upsert({ external_id: "ada", email: "ada@example.com" });
    await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: [ada] });
    await call(`PATCH /api/v1/lists/${list}`, { double_opt_in: true });

    expect(await run("external_id\nada\n", { dry_run: "true" })).toMatchObject({ pending_rows: 0 });
    expect(await run("external_id\nada\n")).toMatchObject({ pending_rows: 0 });
  });
});
