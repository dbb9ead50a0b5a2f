// Bodies that are made to be read slowly: a caller without a secret sends little, and no body is read for seconds (ERR-13).
import { expect, it, onTestFinished, vi } from "vitest";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const headers = { "content-type": "application/json" };

/** Nearly what the gateway lets through. */
const LONGEST = 5_900_000;
const list = (entry: string, bytes: number) => `[${`${entry},`.repeat(bytes / (entry.length + 1))}${entry}]`;

it.each(["0", "[]", "{}"])(
  "a body of millions of %s is refused by their number, before a schema sees them (ERR-13)",
  async (entry) => {
    const { world, tenant } = await withTenant();
    const raw = Buffer.from(`{"subscriberIds":${list(entry, LONGEST)}}`);

    const { status, body } = await world.call("POST /api/v1/notifications", {
      as: await tenant.dashboard(),
      raw,
      headers,
    });

    expect([status, body.fields]).toEqual([422, { body: "must not hold more than 20000 list entries" }]);
  },
);

it.each([
  ["without a credential", "POST /api/v1/auth/login", 65_536],
  ["with the publishable key", "POST /api/v1/subscribers/upsert", 262_144],
])("a body of JSON %s has a bound (ERR-13)", async (_caller, route, most) => {
  const { world, tenant } = await withTenant();
  const statusOf = async (bytes: number) => {
    const raw = Buffer.from('{"email":1}'.padEnd(bytes));
    return (await world.call(route, { as: tenant.sdk, raw, headers })).status;
  };

  expect(await statusOf(most)).toBe(422);
  expect(await statusOf(most + 1)).toBe(413);
});

it.each(["\r\n\r\n", ""])(
  "a form of a million parts of %j is refused by their number, and not read to its end (ERR-13)",
  async (part) => {
    const { world, tenant } = await withTenant();
    const unit = `--b\r\n${part}\r\n`;
    const raw = Buffer.from(`${unit.repeat(LONGEST / unit.length)}--b--\r\n`);
    const as = await tenant.dashboard();
    const cut = vi.spyOn(Buffer.prototype, "subarray");
    onTestFinished(() => cut.mockRestore());

    const { status } = await world.call("POST /api/v1/in-app/assets", {
      as,
      raw,
      headers: { "content-type": "multipart/form-data; boundary=b" },
    });

    const pieces = cut.mock.contexts.filter((whole) => Buffer.isBuffer(whole) && whole.length === raw.length);
    expect([status, pieces.length]).toEqual([400, 1]);
  },
);

it("the form on the page of a mail has a bound (ERR-13)", async () => {
  const { world } = await withTenant();
  const as = { "content-type": "application/x-www-form-urlencoded" };
  const statusOf = async (bytes: number) =>
    (await world.call("POST /p/unknown", { raw: Buffer.from("in=a&".padEnd(bytes, "x")), headers: as })).status;

  expect(await statusOf(32_768)).toBe(404);
  expect(await statusOf(32_769)).toBe(413);
});
