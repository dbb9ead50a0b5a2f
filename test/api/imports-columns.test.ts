// Columns of an import: what a header means, a mapping, and suggestions (RDA-14, IMP).
import { describe, expect, it } from "vitest";
import { ImportSample } from "../../shared/store/subscribers/import-items.ts";
import { importing, people } from "../support/imports.ts";
import type { Tenant } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = importing({ withTenant });

describe("columns", () => {
  const csv = "Box,Nam,tier,Note,Newsletter consent\nada@x.example,Byron,gold,secret,yes\nnot-mail,B,1,2,no\n";

  const mapping = JSON.stringify({ box: "email", Nam: "attribute:nick", Note: "ignore" });
  type Columns = { header: string; sample: string; suggestion: string | null }[];

  it("an import that fails still shows its columns, each with a sample (RDA-14)", async () => {
    const { run } = await setting();
    const failed = await run(csv);

    expect(failed.status).toBe("failed");
    expect((failed.columns as Columns).map(({ header, sample }) => [header, sample])).toEqual([
      ["Box", "ada@x.example"],
      ["Nam", "Byron"],
      ["tier", "gold"],
      ["Note", "secret"],
      ["Newsletter consent", "yes"],
    ]);
    expect(failed.rejected_sample).toEqual([]);
  });

  it("an import says what each column meant, and what else it may mean (RDA-14)", async () => {
    const { run } = await setting();
    const consent = { header: "Newsletter consent", meaning: "consent evidence", sample: "yes" };

    expect((await run(csv, { mapping })).columns).toEqual([
      { header: "Box", meaning: "email", sample: "ada@x.example", suggestion: null },
      { header: "Nam", meaning: "attribute:nick", sample: "Byron", suggestion: null },
      { header: "tier", meaning: "attribute:tier", sample: "gold", suggestion: null },
      { header: "Note", meaning: "ignore", sample: "secret", suggestion: null },
      { ...consent, suggestion: "consent_status" },
    ]);
  });

  it("an import counts its rows, and shows those that it rejected (RDA-14)", async () => {
    const { run, members } = await setting();

    expect(await run(csv, { mapping })).toMatchObject({
      status: "completed",
      processed_rows: 2,
      failed_rows: 1,
      rejected_sample: [{ line: 3, reason: "has a bad email address" }],
    });
    expect(await members()).toHaveLength(1);
  });

  it("a mapping says which attribute a column becomes, and which column none (RDA-14)", async () => {
    const { run, attributes } = await setting();
    await run(csv, { mapping });

    expect(await attributes("ada@x.example")).toEqual({
      nick: "Byron",
      tier: "gold",
      newsletter_consent: true,
      imported_consent: "yes",
    });
  });

  it("a header with a typing error is suggested for the field that it nearly names (RDA-14)", async () => {
    const { run, job } = await setting();
    const typo = await run("external_id,emial,Vorname,Newsletter\nu1,a@x.example,A,yes\n");
    const { columns } = (await job(typo.import_job_id)) as { columns: Columns };

    expect(columns.map(({ suggestion }) => suggestion)).toEqual([null, "email", null, "consent_status"]);
  });

  it("the sample of a column is from the first row that has something in it (RDA-14)", async () => {
    const { run } = await setting();
    const { columns } = await run("email,City,Note,Fax\na@x.example,,,\nb@x.example,Oslo,,\nc@x.example,Rome,hi,\n");
    expect(columns.map(({ sample }: { sample: string }) => sample)).toEqual(["a@x.example", "Oslo", "hi", ""]);
  });

  it("a column that says when somebody agreed may be meant for the time, and not for the status (RDA-14)", async () => {
    const { run } = await setting();
    const { columns } = await run("email,Newsletter,Newsletter seit\na@x.example,ja,2025-01-10\n");
    expect(columns.map(({ suggestion }: { suggestion: string }) => suggestion)).toEqual([
      null,
      "consent_status",
      "consent_at",
    ]);
  });

  const untouched = shared((own) => importing(own)());
  it.each([
    ["no JSON", "{", "mapping"],
    ["a list", "[]", "mapping"],
    ["a field that there is not", '{"Box":"mail"}', "mapping.Box"],
    ["a forbidden key", '{"Box":"attribute:__proto__"}', "mapping.Box"],
    ["of a forbidden name", '{"__proto__":"email"}', "mapping"],
    ["of one column twice", '{"Box":"email","box ":"phone"}', "mapping"],
    ["of all other columns to one attribute", '{"Box":"email","*":"attribute:x"}', "mapping.*"],
  ])("a mapping that is %s is refused with 422 (RDA-14, AMB-3)", async (_, mapping, field) => {
    const { post, list } = await untouched();
    const answer = await post({ listId: list, mapping }, { filename: "a.csv", content: csv });

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual([field]);
  });

  /** As HubSpot and Salesforce write them. @param of which columns hold something */
  const wide = (columns: number, isFilled: (n: number) => boolean) => {
    const numbers = Array.from({ length: columns }, (_, n) => n);
    const cells = numbers.map((n) => (isFilled(n) ? `v${n}` : ""));
    return `Email,Unsubscribed,${numbers.map((n) => `Property ${n}`)}\na@x.example,yes,${cells}\n`;
  };

  it("a column in which nothing stands is none of the hundred that become attributes (AMB-88)", async () => {
    const { run, attributes } = await setting();
    const { status, failed_rows } = await run(wide(300, (n) => n % 3 === 0 && n < 290));

    expect([status, failed_rows]).toEqual(["completed", 0]);
    expect(Object.keys(await attributes("a@x.example"))).toHaveLength(98);
  });

  it("of more than a hundred columns those that a mapping names are kept, and what the others refuse (AMB-88, AMB-132)", async () => {
    const { run, attributes } = await setting();
    const failed = await run(wide(300, () => true));
    const mapping = JSON.stringify({ "Property 7": "attribute:lead", "*": "ignore" });
    const done = await run(
      wide(300, () => true),
      { mapping },
    );

    expect(failed.error_message).toContain('"*"');
    expect(done).toMatchObject({ status: "completed", consent_summary: { opted_out: 1 } });
    expect(done.columns.slice(0, 3).map(({ meaning }: { meaning: string }) => meaning)).toEqual([
      "email",
      "consent evidence",
      "ignore",
    ]);
    expect(await attributes("a@x.example")).toEqual({ lead: "v7" });
  });

  it("an import fails whose mapping does not fit the file (RDA-14)", async () => {
    const { run } = await setting();
    const missing = await run(csv, { mapping: '{"E-Mail":"email"}' });
    expect(missing.error_message).toBe("the mapping names e-mail, which is no column of the file");
    const twice = await run(csv, { mapping: '{"Box":"email","Note":"email"}' });
    expect(twice.error_message).toBe("two columns are mapped to email");
    const lost = await run(csv, { mapping: '{"Box":"email","Nam":"attribute:a","Note":"attribute:a"}' });
    expect(lost.error_message).toBe("two columns are mapped to attribute:a");
  });

  it("a field that the form does not have is refused: a misspelt dry_run writes nothing (RDA-14)", async () => {
    const { post, list, members } = await setting();
    const answer = await post({ listId: list, dryRun: "true" }, { filename: "a.csv", content: csv });

    expect(answer.status).toBe(422);
    expect(answer.body.fields).toEqual({ dryRun: "is not a known field" });
    expect(await members()).toEqual([]);
  });

  it("imports are listed, newest first, of this workspace only (RDA-14)", async () => {
    const { world, run, as } = await setting();
    const first = await run(people(1));
    await world.advance(1_000);
    const second = await run(people(1, 1));
    const page = async (query: string, who?: Tenant) =>
      (await world.call(`GET /api/v1/lists/import${query}`, { as: who ? await who.dashboard() : await as() })).body;
    const { items, next_cursor } = await page("?limit=1");
    expect(items.map(({ import_job_id }: { import_job_id: string }) => import_job_id)).toEqual([second.import_job_id]);
    const rest = await page(`?cursor=${encodeURIComponent(next_cursor)}`);
    expect(rest.items).toMatchObject([{ import_job_id: first.import_job_id, status: "completed" }]);
    expect(rest.next_cursor).toBe("");
    expect((await page("", await world.tenant())).items).toEqual([]);
  });

  it.each([
    ["alone", "external_id,email\nu1,canary@x.example\n"],
    ["in a row below the first", "external_id,email\nu2,\nu1,canary@x.example\n"],
  ])("an erasure removes the sample that names its subscriber %s (RDA-14, SUB-9)", async (_, csv) => {
    const { world, tenant, run, as } = await setting();
    const { import_job_id } = await run(csv);
    const [{ id }] = (await world.call("GET /api/v1/subscribers?external_id=u1", { as: await as() })).body.items;
    expect(await tenant.store.get(ImportSample, { job: import_job_id })).toBeDefined();
    await world.call(`DELETE /api/v1/subscribers/${id}`, { as: await as() });
    await world.settle();
    expect(await tenant.store.get(ImportSample, { job: import_job_id })).toBeUndefined();
  });
});
