// What one network address may begin and end at identity providers (docs/limits.md).
import { expect, it } from "vitest";
import { LOGINS_PER_ADDRESS, SIGN_INS_PER_ADDRESS } from "../../functions/api/auth/limits.ts";
import { contents, deployedFunctions } from "../../infra/functions.ts";
import { openEgress } from "../../shared/egress/egress.ts";
import { discover } from "../../shared/http/openid.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { countAttempt } from "../../shared/store/workspaces/attempts.ts";
import { lostReply, requests } from "../support/requests.ts";
import { ADA, PASSWORD, signInWorld } from "../support/sign-in.ts";

it("a sign-in is not kept out by passwords that are tried from its network, which has a limit of its own for it (ACC-15, D10)", async () => {
  const { world, begin, post, signIn, provider, connected } = await signInWorld();
  const { tenant } = await connected();
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  const network = "203.0.113.7";
  await countAttempt(platform, LOGINS_PER_ADDRESS, network, LOGINS_PER_ADDRESS.max - 1);
  expect((await post("login", { email: ADA.email, password: PASSWORD })).status).toBe(429);
  expect((await signIn(ADA, { tenant_id: tenant })).status).toBe(201);

  const { url, binding } = await begin({ tenant_id: tenant });
  await countAttempt(platform, SIGN_INS_PER_ADDRESS, network, SIGN_INS_PER_ADDRESS.max - 3);
  const back = { ...provider.signIn(url, ADA), binding };
  const statuses = [await post("sign-in/finish", back), await post("sign-in/begin", { tenant_id: tenant })];
  expect(statuses.map(({ status }) => status)).toEqual([429, 429]);
});

it("a sign-in begins also where the reply of the table to its beginning is lost (ACC-15)", async () => {
  const putting = requests({ of: "api-auth", operation: "PutItem", naming: "verifier", moment: "after" });
  const { post, connected } = await signInWorld({ hooks: putting.hooks });
  const { tenant } = await connected();
  putting.next(lostReply);

  expect((await post("sign-in/begin", { tenant_id: tenant })).status).toBe(201);
  expect(putting.isAwaited()).toBe(false);
});

it("a provider that does not answer is given up before the time of the request is over, four times asked (ACC-15)", async () => {
  const waited: number[] = [];
  const clock = { now: () => 0, sleep: async (ms: number) => void waited.push(ms) };
  const forever = () => new Promise<never>(() => {});
  const egress = openEgress({ clock, network: { resolve: forever, connect: forever, secure: forever } });
  const metadata = await discover(egress, "https://login.example.com");
  const { timeoutSeconds = 0 } = deployedFunctions(contents).find(({ name }) => name === "api-auth") ?? {};

  expect(metadata).toMatchObject({ kind: "failed" });
  expect(4 * waited[0]!).toBeLessThan(timeoutSeconds * 1_000);
});
