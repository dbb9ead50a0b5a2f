// Names that people tell apart by how they look: two that look alike are one.
import { expect, it } from "vitest";
import { asSeen } from "../../shared/rules/characters.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const rule = { attribute: { plan: { $in: ["pro"] } } };

it.each<[what: string, path: string, body: object, status: number]>([
  ["template", "templates", { content: { title: "Hello", body: "There" } }, 422],
  ["list", "lists", {}, 409],
  ["segment", "segments", { rule }, 409],
  ["channel", "channels", { type: "ios" }, 422],
])(
  "a %s has no name that looks like that of another (TPL-3, CHN-3, SEG-7, D-LIST)",
  async (_what, path, body, status) => {
    const { tenant } = await withTenant({ plan: "enterprise" });
    const create = (name: string) => tenant.call(`POST /api/v1/${path}`, { ...body, name });
    const first = await create("Éte\u0301  und\u00a0mehr\u200b");

    expect(first.status).toBe(201);
    expect(first.body.name).toBe("Été und mehr");
    for (const alike of [
      "Été und mehr",
      "E\u0301té und mehr",
      "Été\u00ad und\u2003mehr",
      "\u202aÉté und mehr\u202c\ufe0f",
    ])
      expect((await create(alike)).status).toBe(status);
    expect((await create("Ete und mehr")).status).toBe(201);
  },
);

it.each(["👩‍💻 devs", "❤️ fans", "1️⃣ first", "می‌خواهم", "क्‍ष", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "ＡＢ", "한글", "Straße №5"])(
  "the name %s stays as it is: what is in it is seen (TPL-3, CHN-3, SEG-7, D-LIST)",
  (name) => {
    expect(asSeen(name)).toBe(name);
  },
);

it("a list is found by its name in another form of Unicode (D-LIST)", async () => {
  const { tenant } = await withTenant();
  await tenant.call("POST /api/v1/lists", { name: "Été" });

  const { items } = (await tenant.call(`GET /api/v1/lists?name=${encodeURIComponent("E\u0301te\u0301")}`)).body;
  expect(items).toHaveLength(1);
});
