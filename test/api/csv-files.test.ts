// Every CSV file that the service writes, with formulas wherever a caller can put a text: none opens as a formula.
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { formulasIn, hasCalc, LOCALES } from "../support/calc.ts";
import { download } from "../support/exports.ts";
import { multipartBody } from "../support/multipart.ts";
import { send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** What begins a formula somewhere: signs, also in full width; before them what a spreadsheet drops or splits at. */
const SIGNS = ["=", "+", "-", "@", "＝", "＋", "－", "＠"];
const BEFORE = ["", "\t", "\r", " ", "a;", "a,", "a\t", "a|", "a\n", "\u00a0", "a;\u200b"];
const formula = (before: string, sign: string) => `${before}${sign}SUM(1;1)`;
const hostile = BEFORE.flatMap((before) => SIGNS.map((sign) => formula(before, sign)));
/** What begins as a formula in a part of a file, wherever it is split; an apostrophe before it keeps it a text. */
const OPEN_FORMULA = /(?:^|[,;|\t\r\n])"?[\s\p{C}]*[=+\-@＝＋－＠]SUM\(1;1\)/u;

type Setting = Awaited<ReturnType<typeof withTenant>>;

async function exported(setting: Setting, kind: string, filter?: object): Promise<string> {
  const { world, tenant } = setting;
  const { body } = await tenant.call("POST /api/v1/exports", { kind, filter });
  await world.settle();
  const { status, url } = (await tenant.call(`GET /api/v1/exports/${body.id}`)).body;
  expect([kind, status]).toEqual([kind, "completed"]);
  return download(world, url);
}

/** Subscribers whose ids, addresses and attributes are formulas. */
async function hostilePeople({ tenant }: Setting): Promise<string[]> {
  const attributes = Object.fromEntries(hostile.slice(0, 40).map((text, n) => [n < 8 ? text : `note${n}`, text]));
  const people: string[] = [];
  for (const sign of SIGNS.slice(0, 4)) {
    const email = `${sign.replace("@", "=")}sum${people.length}@example.com`;
    people.push(await tenant.upsert({ external_id: formula("", sign), email, attributes }));
  }
  return people;
}

/** Events, suppressions and campaigns with every formula. */
async function hostileRecords({ world, tenant }: Setting, subscriber_id: string): Promise<void> {
  const { call } = tenant;
  for (const [n, text] of hostile.entries()) {
    const body = { event_name: "bought", subscriber_id, properties: { [text]: text, list: [text] } };
    await world.call("POST /v1/events", { as: tenant.server, body });
    await call("POST /api/v1/suppressions", { address: `x${n}@example.com`, note: text });
  }
  await call("POST /api/v1/suppressions", { address: "=sum@shop.example", note: "n" });
  const channel = (await call("GET /api/v1/channels")).body.channels[0].id;
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel] }];
  for (const name of hostile) await call("POST /api/v1/campaigns", { name, messages });
  await world.settle();
  await world.advance(MINUTE);
}

/** An import with a row that is rejected, for it has more cells than the header, and one with a warning of its number. */
async function hostileImport({ world, tenant }: Setting, listId: string) {
  const header = ["external_id", "phone", ...hostile.map((_, n) => `c${n}`), "=SUM(1;1)"].join(",");
  const cells = (id: string, phone: string) => [id, phone, ...hostile, "=SUM(1;1)"].map((cell) => `"${cell}"`);
  const rows = [[...cells("r1", "1"), "more"], cells("w1", "=SUM(1;1)")].map((row) => row.join(","));
  const upload = multipartBody({ listId }, { filename: "a.csv", content: [header, ...rows].join("\r\n") });
  const { body } = await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...upload });
  await world.settle();
  return (await tenant.call(`GET /api/v1/lists/import/${body.import_job_id}`)).body;
}

async function everyFile(): Promise<Record<string, string>> {
  const setting = await withTenant();
  const { world, tenant } = setting;
  const { call } = tenant;
  const people = await hostilePeople(setting);
  const list = (await call("POST /api/v1/lists", { name: "=SUM(1;1)" })).body.id;
  await call(`POST /api/v1/lists/${list}/subscribers`, { subscriber_ids: people });
  const rule = { attribute: { note8: { $exists: true } } };
  const segment = (await call("POST /api/v1/segments", { name: "=SUM(1;1)", rule })).body.id;
  const sent = (await send(world, tenant, { subscriberIds: people })).answer.id;
  await hostileRecords(setting, people[0]!);
  const imported = await hostileImport(setting, list);

  return {
    subscribers: await exported(setting, "subscribers"),
    list: await exported(setting, "list", { list_id: list }),
    segment: await exported(setting, "segment", { segment_id: segment }),
    recipients: await exported(setting, "recipients", { notification_id: sent }),
    events: await exported(setting, "events"),
    report: await exported(setting, "report"),
    suppressions: await exported(setting, "suppressions"),
    rejected: await download(setting.world, imported.rejected_rows_url),
    warnings: await download(setting.world, imported.warnings_url),
  };
}

let made: ReturnType<typeof everyFile> | undefined;
const files = (): ReturnType<typeof everyFile> => {
  made ??= everyFile();
  return made;
};

it("no part of any file that the service writes begins a formula, at whatever it is split (RDA-16, D14)", async () => {
  for (const [name, text] of Object.entries(await files())) {
    expect([name, text.includes("SUM(1;1)") || text.includes("=sum@")]).toEqual([name, true]);
    expect([name, OPEN_FORMULA.exec(text)?.[0]]).toEqual([name, undefined]);
  }
});

const SEPARATORS = ["59", "44/59/9/124"];
let opened: Promise<{ locale: number; formulas: string[] }[]> | undefined;
/** Every file in every locale, split in two ways: what Calc finds in each. */
const openings = (): NonNullable<typeof opened> => {
  opened ??= files().then((texts) => {
    const all = LOCALES.flatMap(([, locale]) =>
      SEPARATORS.flatMap((separators) => Object.values(texts).map((text) => ({ text, locale, separators }))),
    );
    return formulasIn(all).map((formulas, n) => ({ locale: all[n]!.locale, formulas }));
  });
  return opened;
};

it.skipIf(!hasCalc).each(LOCALES)(
  "LibreOffice opens each without a formula, in %s (RDA-16, D14)",
  async (_, locale) => {
    const inLocale = (await openings()).filter((opening) => opening.locale === locale);
    expect(inLocale).toHaveLength(SEPARATORS.length * Object.keys(await files()).length);
    expect(inLocale.flatMap(({ formulas }) => formulas)).toEqual([]);
  },
);
