// Chat-app templates at the provider: submitted, reviewed, filled and sent.
import { expect, it } from "vitest";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { chatApp, openProviders } from "../../shared/providers/providers.ts";
import { credentials, sendBy } from "../support/provider-messages.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const WELCOME = { name: "welcome", language: "en_US", category: "MARKETING", body: "Hi {{1}}, {{2}} waits." } as const;

async function withTemplates() {
  const world = await fresh();
  return { world, app: chatApp.open(world.depsFor("test"))("" as TenantId) };
}

it("submits a template and reads its status, by default approved (WAT-4, WAT-5)", async () => {
  const { world, app } = await withTemplates();
  const created = await app.createTemplate(credentials.chat_app, WELCOME);
  if (created.kind !== "found") throw new Error(created.error);
  const { id } = created.template;
  expect(created.template).toEqual({ id: expect.stringMatching(/^\d+$/), status: "PENDING" });
  expect(await app.createTemplate(credentials.chat_app, WELCOME)).toMatchObject({ kind: "refused" });
  expect(await app.readTemplate(credentials.chat_app, id)).toEqual({
    kind: "found",
    template: { id, status: "APPROVED" },
  });
  world.providers.templates.decide(id, "REJECTED", "INVALID_FORMAT");
  expect(await app.readTemplate(credentials.chat_app, id)).toEqual({
    kind: "found",
    template: { id, status: "REJECTED", reason: "INVALID_FORMAT" },
  });
});

it("the chat app sends an approved template with its variables filled (NTF-23)", async () => {
  const { world, app } = await withTemplates();
  await app.createTemplate(credentials.chat_app, WELCOME);
  const template = { name: "welcome", language: "en_US", parameters: ["Ada\n  L.", "a sale"] };
  expect(await sendBy(openProviders(world.depsFor("test")), "chat_app", { template })).toMatchObject({
    kind: "accepted",
  });
  const [item] = (await world.call("GET /_local/outbox?channel=chat_app")).body.items;
  expect(item).toMatchObject({ to: "+4915112345678", title: "welcome", body: "Hi Ada L., a sale waits." });
  expect(item.payload).toMatchObject({ type: "template", template: { name: "welcome", language: { code: "en_US" } } });
});
