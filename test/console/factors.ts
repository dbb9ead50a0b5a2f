// The second factor of a user: set up by its QR code, asked for at a sign-in, demanded by a workspace.
import { expect, it } from "vitest";
import { shownCode } from "../support/accounts.ts";
import { type Tab, violationsInThemes } from "../support/console-tab.ts";
import type { ServiceProcess } from "../support/service-process.ts";

const PASSWORD = "correct horse battery staple";

interface FactorBench {
  open: () => Promise<Tab>;
  service: () => ServiceProcess;
}

export function factorStories({ open, service }: FactorBench): void {
  it("a second factor is set up, and asked for at the next sign-in (ACC-10, ACC-11)", async () => {
    const { page } = await open();
    await page.context().clearCookies();
    await page.goto(`${service().url}/console/register`);
    const email = "factor@example.com";
    const fields = { "Your name": "Ada", "Name of the workspace": "Factors", Email: email, Password: PASSWORD };
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole("button", { name: "Create the workspace" }).click();
    await page.waitForURL(/home$/);
    await page.goto(page.url().replace(/home$/, "settings/account"));
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByRole("button", { name: "Set up a second factor" }).click();
    await page.getByRole("img", { name: "QR code of the key" }).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    const key = await page.locator("main code").first().innerText();
    await page.getByRole("textbox", { name: "Code" }).fill(shownCode(key, Date.now()));
    await page.getByRole("button", { name: "Confirm the code" }).click();
    const codes = (await page.locator("main pre").innerText()).split("\n");
    expect(codes).toHaveLength(10);
    await page.getByRole("button", { name: "I have saved them" }).click();
    await page.getByText("In force. Recovery codes left: 10.").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("textbox", { name: "Code" }).fill(codes[0]!);
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("In force. Recovery codes left: 9.").waitFor();
  });

  it("a sign-in at the company's provider leaves by the address, and comes back into the workspace (ACC-15)", async () => {
    const { page, reopen } = await open();
    const { url } = service();
    const asked = async (path: string, body?: object, token?: string) => {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      const given = body ? { method: "POST", body: JSON.stringify(body), headers } : {};
      return (await (await fetch(`${url}${path}`, given)).json()) as Record<string, string>;
    };
    const { tenant_id } = await asked("/_local/demo");
    const finished: unknown[] = [];
    await page.route("**/sign-in/begin", (route) =>
      route.fulfill({
        status: 201,
        json: { url: `${url}/console/signed-in/a-workspace?code=c0de&state=5tate`, state: "5tate", binding: "b1nding" },
      }),
    );
    await page.route("**/sign-in/finish", async (route) => {
      finished.push(route.request().postDataJSON());
      const { access_token } = await asked("/_local/tokens", { tenant_id });
      await route.fulfill({ status: 201, json: await asked("/api/v1/auth/switch", { tenant_id }, access_token) });
    });
    await page.context().clearCookies();
    await page.goto(`${url}/console/sign-in`);
    await page.getByRole("link", { name: "Sign in with your company" }).click();
    await page.getByLabel("Email").fill("ada@example.com");
    expect(await violationsInThemes(page)).toEqual({});
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(/home$/);
    const redirect_uri = `${url}/console/signed-in/a-workspace`;
    expect(finished).toEqual([{ state: "5tate", binding: "b1nding", code: "c0de", redirect_uri }]);
    await page.goto(`${url}/console/signed-in?code=c0de&state=another`);
    await page.getByText("This sign-in began in another tab").waitFor();
    await page.goto(`${url}/console/w/${tenant_id}/settings/provider`);
    await page.getByLabel("Issuer").waitFor();
    await page.getByText(`${url}/console/signed-in/${tenant_id}`).waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await reopen();
  });

  it("a workspace that cannot be switched to leaves the open one open, and says why (CON-2)", async () => {
    const { page, reopen } = await open();
    await page.goto(`${service().url}/console#demo`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.route("**/api/v1/me", async (route) => {
      const answer = await route.fetch();
      const { workspaces, ...more } = (await answer.json()) as { workspaces: object[] };
      const other = { tenant_id: "0a0a0a0a-0000-4000-8000-000000000000", name: "Other", role: "viewer" };
      await route.fulfill({ response: answer, json: { ...more, workspaces: [...workspaces, other] } });
    });
    await page.route("**/auth/switch", (route) =>
      route.fulfill({ status: 403, json: { code: "SIGN_IN_REQUIRED", message: "Sign in there." } }),
    );
    await page.reload();
    await page.getByLabel("Workspace", { exact: true }).selectOption({ label: "Other" });
    await page.getByRole("button", { name: "Open it" }).click();
    await page.getByText("Sign in there.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await page.getByLabel("Workspace", { exact: true }).inputValue()).not.toMatch(/^0a0a/);
    await reopen();
  });

  it("a workspace that demands a second factor shows its set-up alone (ACC-12)", async () => {
    const { page, reopen } = await open();
    await page.route("**/api/v1/me", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), second_factor_missing: true } });
    });
    await page.goto(`${service().url}/console#demo`);
    await page.getByRole("heading", { name: "Set up your second factor", level: 1 }).waitFor();
    await page.getByLabel("Your password").waitFor();
    expect(await violationsInThemes(page)).toEqual({});
    await reopen();
  });
}
