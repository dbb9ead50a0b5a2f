// What rejected rows of a file refuse of somebody who is not there, and what they say of how to reach them (AMB-132).
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { heldAddresses, heldNumbers } from "../../shared/store/subscribers/addresses.ts";
import { AwaitedRefusal } from "../../shared/store/subscribers/import-items.ts";
import { importing } from "../support/imports.ts";
import { operate } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

/** A workspace whose plan has no room for new subscribers. */
const full = async () => filled(await setting());
async function filled(made: Awaited<ReturnType<typeof setting>>) {
  await fill(made.world, made.tenant, 1_010);
  await operate(made.world, made.tenant, { plan: "free" });
  return made;
}

/** So many rows that say nothing, each of its own person or of one. */
const between = (n: number, row: string) => Array.from({ length: n }, () => row);

describe("an opt-out in a row beyond the plan's subscribers", () => {
  it.each([
    ["the row before it", 0],
    ["a row far before it", 120],
  ])(
    "an opt-out beyond the plan's subscribers holds for the address and the number that %s gives its person (AMB-88, AMB-132)",
    async (_, n) => {
      const { run, tenant } = await full();
      const header = "external_id,email,phone,unsubscribed,sms_opt_out";
      const rows = ["u1,a@x.example,+491511234567,,", ...between(n, "u3,,,,"), "u1,,,yes,yes"];
      const job = await run([header, ...rows].join("\n"));

      expect(job).toMatchObject({ failed_rows: n + 2 });
      expect([...(await heldAddresses(tenant.store, ["a@x.example"]))]).toEqual(["a@x.example"]);
      expect([...(await heldNumbers(tenant.store, ["+491511234567"]))]).toEqual(["sms +491511234567"]);
    },
  );

  it("an opt-out beyond the plan's subscribers holds for the address of a row far before it that is rejected for itself (AMB-88, AMB-132)", async () => {
    const { run, tenant } = await full();
    const rows = [`u1,a@x.example,,${"x".repeat(4_097)}`, ...between(120, "u3,,,"), "u1,,yes,"];
    const { failed_rows, rejected_sample } = await run(["external_id,email,unsubscribed,note", ...rows].join("\n"));

    expect([failed_rows, rejected_sample[0].reason]).toEqual([122, "has a value of more than 4096 bytes"]);
    expect([...(await heldAddresses(tenant.store, ["a@x.example"]))]).toEqual(["a@x.example"]);
  });

  it("an opt-out in a row that is rejected for itself holds for the address of a row far before it, which the plan had no room for (AMB-88, AMB-132)", async () => {
    const { run, tenant } = await full();
    const rows = ["u1,a@x.example,", ...between(120, "u3,,"), "u1,bad,yes"];
    await run(["external_id,email,unsubscribed", ...rows].join("\n"));

    expect([...(await heldAddresses(tenant.store, ["a@x.example"]))]).toEqual(["a@x.example"]);
  });

  it.each([["true"], ["false"]])(
    "an opt-out beyond the plan's subscribers is of the address in a row beside it that is rejected for itself, in a rehearsal %s (AMB-88, AMB-132)",
    async (dry_run) => {
      const { run, tenant } = await full();
      const rows = [`u1,a@x.example,,yes,${"x".repeat(4_097)}`, "u1,,yes,,"];
      const { rejected_sample } = await run(["external_id,email,unsubscribed,sms_opt_out,note", ...rows].join("\n"), {
        dry_run,
      });

      expect(rejected_sample[1].reason).toBe("quota; that it opts out is kept");
      if (dry_run === "true") return;
      expect([...(await heldAddresses(tenant.store, ["a@x.example"]))]).toEqual(["a@x.example"]);
    },
  );

  it("a rehearsal counts who agrees after an opt-out beyond the plan's subscribers as the import does (AMB-88, F13)", async () => {
    const { run, tenant } = await full();
    await tenant.upsert({ external_id: "u2", email: "a@x.example" });
    const rows = ["u1,a@x.example,,,", ...between(120, "u3,,,,"), "u1,,yes,,", ...between(120, "u3,,,,")];
    const csv = ["external_id,email,unsubscribed,newsletter,consent_at", ...[...rows, "u2,,,yes,2026-01-01"]].join(
      "\n",
    );
    const { consent_summary } = await run(csv, { dry_run: "true" });

    expect(consent_summary).toMatchObject({ opted_in: 0, unchanged: 1 });
    expect((await run(csv)).consent_summary).toEqual(consent_summary);
  });
});

it("a rehearsal remembers a refusal of somebody who is not there once, however many rows say it (AMB-132, F13)", async () => {
  const { run } = await setting();
  const rows = between(1_300, "u1,bad,yes");
  const csv = ["external_id,email,unsubscribed", ...rows].join("\n");

  expect(await run(csv, { dry_run: "true" })).toMatchObject({ status: "completed", failed_rows: 1_300 });
});

it("a row beyond the plan's subscribers that has an address alone, and refuses nothing, is not looked for (AMB-88)", async () => {
  const { world, run } = await full();
  const spentBy = (header: string, end: string) =>
    spent(world, () => run([header, ...Array.from({ length: 200 }, (_, i) => `u${i}@x.example${end}`)].join("\n")));
  await spentBy("email", "");
  const [alone, besideNotes] = [await spentBy("email", ""), await spentBy("email,note", ",a")];

  // What waits for the second hundred is looked for.
  expect(besideNotes.rcu - alone.rcu).toBeLessThanOrEqual(100);
});

const KEPT = "; that it opts out is kept";
const NOT_YET = "; that it opts out is kept where it has an address, and else only for whom a row below it names";

describe("what the report says of an opt-out in a rejected row", () => {
  const reasonsOf = async (csv: string, fields: Record<string, string>, isFull = false) => {
    const { run } = isFull ? await full() : await setting();
    await run("external_id\nknown\n");
    const { rejected_sample } = await run(csv, fields);
    return rejected_sample.map(({ reason }: { reason: string }) => reason.replace(/^[^;]*/, ""));
  };

  it.each([
    ["an address", "new,a@x.example,x,yes,", KEPT],
    ["an address, and a topic opts out", "new,a@x.example,x,yes,no", KEPT],
    ["a topic alone of somebody new", "new,a@x.example,x,,no", NOT_YET],
    ["nobody's address", "new,bad,,yes,", NOT_YET],
    ["somebody who is there", "known,bad,,yes,no", KEPT],
  ])("an opt-out in a rejected row is said to be kept where it is, of %s (AMB-132)", async (_, row, said) => {
    const csv = `external_id,email,note,unsubscribed,topic:deals\n${row.replace(",x,", `,${"x".repeat(4_097)},`)}\n`;
    const { tenant, run } = await setting();
    await tenant.call("POST /api/v1/topics", { key: "deals", name: "Deals", default: "in" });
    await run("external_id\nknown\n");

    for (const dry_run of ["true", "false"]) {
      const { rejected_sample } = await run(csv, { dry_run });
      expect(rejected_sample).toMatchObject([{ reason: expect.stringMatching(new RegExp(`[^;]${said}$`)) }]);
    }
  });

  it.each([["true"], ["false"]])(
    "a row beyond the plan's subscribers says whether its opt-out is kept, in a rehearsal %s (AMB-88)",
    async (dry_run) => {
      const csv = "external_id,email,unsubscribed\nn1,a@x.example,yes\nn2,,yes\nn3,c@x.example,\n";

      expect(await reasonsOf(csv, { dry_run }, true)).toEqual([KEPT, NOT_YET, ""]);
    },
  );
});

it("of several rejected rows that opt somebody out, the first says when and where (AMB-132)", async () => {
  const { run, consents } = await setting();
  const rows = ["v1,bad,no,2026-01-01,Form A", "v1,bad,no,2026-03-01,Form B", ...between(120, "u,,,,"), "v1,,,,"];
  await run(["external_id,email,consent_status,consent_at,consent_source", ...rows].join("\n"));

  expect(await consents("v1")).toMatchObject([
    { channel: "email", status: "opted_out", consented_at: "2026-01-01T00:00:00.000Z", source: "Form A" },
  ]);
});

it("the address that a rejected row gives to nobody goes with whoever has it (SUB-9, AMB-132)", async () => {
  const made = await setting();
  const owner = await made.tenant.upsert({ external_id: "u1", email: "a@x.example" });
  const { run, tenant, world } = await filled(made);
  const { import_job_id: job } = await run("external_id,email,unsubscribed\nnew,a@x.example,\n");
  expect(await tenant.store.queryAll(AwaitedRefusal, { job })).toMatchObject([{ email: "a@x.example" }]);

  await tenant.call(`DELETE /api/v1/subscribers/${owner}`);
  await world.settle();

  expect(await tenant.store.queryAll(AwaitedRefusal, { job })).toEqual([]);
});
