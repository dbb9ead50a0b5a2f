// Signing in at an OpenID provider of others, over TLS, as a browser does: its forms, its cookies, its defaults.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { listenOnLoopback } from "../support/loopback.ts";
import { selfSigned } from "../support/self-signed.ts";
import { testWorld } from "../support/world.ts";

const folder = fileURLToPath(new URL("../../.tools/oidc", import.meta.url));
const installed = join(folder, "node_modules", "oidc-provider", "lib", "index.js");
const EMAIL = "ada@company.example";
const CLIENT = { client_id: "engagement", client_secret: "s3cret: of the client, quite long" };

interface Answer {
  status: number;
  location: string | undefined;
  html: string;
}

/** A browser with cookies, which follows no redirect by itself. */
function browser() {
  const cookies = new Map<string, string>();
  return async (url: string, form?: Record<string, string>): Promise<Answer> => {
    const headers = {
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      ...(form && { "content-type": "application/x-www-form-urlencoded" }),
    };
    const sent = httpsRequest(url, { method: form ? "POST" : "GET", headers, rejectUnauthorized: false });
    sent.end(form && new URLSearchParams(form).toString());
    const [response] = await once(sent, "response");
    for (const set of response.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const { location } = response.headers;
    return {
      status: response.statusCode,
      location: location && new URL(location, url).href,
      html: await text(response),
    };
  };
}

async function startProvider(redirect_uris: string[]): Promise<string> {
  const { default: Provider } = await import(installed);
  const server = createServer(selfSigned);
  const port = await listenOnLoopback(server);
  onTestFinished(() => void server.close());
  const issuer = `https://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    pkce: { required: () => true },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: EMAIL, email_verified: true, name: "Ada", groups: ["eng"] }),
    }),
  });
  server.on("request", provider.callback());
  return issuer;
}

describe.skipIf(!existsSync(installed))("at oidc-provider (skipped until tools/install-oidc.sh has run)", () => {
  it("a person signs in through its forms, and gets the role of her group (ACC-15, ACC-16)", async () => {
    const world = await testWorld({ start: Date.now(), env: { PROVIDERS_ALLOW_LOOPBACK: "1" } });
    const tenant = await world.tenant();
    const issuer = await startProvider([`${world.env.BASE_URL}/console/signed-in/${tenant.id}`]);
    const body = {
      ...CLIENT,
      issuer,
      scope: "openid email profile groups",
      domains: ["company.example"],
      groups_claim: "groups",
      group_roles: [{ group: "eng", role: "developer" }],
    };
    const put = async () => tenant.call("PUT /api/v1/auth/identity-provider", body);
    const { record_name: name, record_value } = (await put()).body.domains[0];
    await world.call("POST /_local/dns", { body: { name, text: record_value } });
    expect((await put()).status).toBe(200);

    const begun = await world.call("POST /api/v1/auth/sign-in/begin", { body: { email: EMAIL } });
    const visit = browser();
    let page = await visit(begun.body.url);
    for (let steps = 0; steps < 12 && !page.location?.includes("/console/signed-in"); steps++) {
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(page.html) ?? [];
      const [, prompt = "login"] = /name="prompt" value="(\w+)"/.exec(page.html) ?? [];
      if (page.location) page = await visit(page.location);
      else page = await visit(new URL(action ?? "", issuer).href, { prompt, login: "ada", password: "any" });
    }
    const back = Object.fromEntries(new URL(page.location ?? issuer).searchParams);
    const finish = { ...back, binding: begun.body.binding };
    const session = await world.call("POST /api/v1/auth/sign-in/finish", { body: finish });
    expect(session.body).toMatchObject({
      user: { email: EMAIL, name: "Ada" },
      tenant: { id: tenant.id, role: "developer" },
    });
    expect((await world.call("POST /api/v1/auth/sign-in/finish", { body: finish })).status).toBe(401);
  });
});
