// What people do by a write that is made while its reply is lost: the client asks again, and is told that it is done.
import { expect, it } from "vitest";
import { getWebhook } from "../../shared/store/webhooks/webhooks.ts";
import { lostReply, requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A workspace in which the table carries out a write of this kind, once it is said, and its reply is lost. */
async function losing(of: string, naming: string) {
  const write = requests({ of, service: "dynamodb", naming, moment: "after" });
  const found = await withTenant({ hooks: write.hooks });
  return { ...found, lose: () => write.next(lostReply), isAwaited: write.isAwaited };
}

it("a secret of a webhook is rotated once, so that the one of before still signs (D-HOOKS)", async () => {
  const { tenant, lose, isAwaited } = await losing("api-webhooks", "secret_version");
  const input = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  const { id } = (await tenant.call("POST /api/v1/webhooks", input)).body;
  lose();

  const { secret } = (await tenant.call(`POST /api/v1/webhooks/${id}/secret/rotate`)).body;

  expect(isAwaited()).toBe(false);
  const row = await getWebhook(tenant.store, id);
  expect(row.secret_version).toBe(2);
  expect(secret).toMatch(/^whsec_/);
});
