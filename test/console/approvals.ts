// A release that a second person approves or declines (RDA-26): both of them in the console.
import { expect, it } from "vitest";
import { press, type Tab, violationsInThemes } from "../support/console-tab.ts";
import { bodyOf } from "../support/told.ts";

async function require({ page, visit }: Tab, isRequired: boolean): Promise<void> {
  await visit("settings");
  await page.getByLabel("Releases need a second person").setChecked(isRequired);
  await press(page, "Save");
  // A toast of an earlier save may still be there.
  await page.getByText("Not saved: second person").waitFor({ state: "detached" });
}

async function draft({ page, visit }: Pick<Tab, "page" | "visit">, name: string): Promise<void> {
  await visit("campaigns/new");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Title").fill("The sale begins");
  await page.getByLabel("Body", { exact: true }).fill("On Friday.");
  await press(page, "Save the draft");
}

/** A draft whose release was asked for. */
async function ask(tab: Tab, name: string): Promise<void> {
  const { page } = tab;
  await draft(tab, name);
  await press(page, "Ask for approval");
  await press(page, /^Ask to release to \d+ p/);
  await page.getByText("Another member is asked to approve.").waitFor();
}

export function approvalStories(open: (role?: string) => Promise<Tab>): void {
  it("a release that one asks for is on another's home, and goes out once approved there (RDA-26)", async () => {
    const other = await open("admin");
    const own = await open();
    await require(own, true);
    try {
      await ask(own, "For two");
      await own.page.getByText("You asked for approval").waitFor();
      await own.page.getByText("waits for approval").waitFor();
      expect(await own.page.getByRole("button", { name: "Approve" }).count()).toBe(0);
      const { page, reopen, visit } = other;
      await reopen();
      await visit("home");
      await page
        .locator("li", { hasText: "waits for approval, asked for by" })
        .getByRole("link", { name: "For two" })
        .click();
      await page.getByText("Owner asked for approval").waitFor();
      expect(await violationsInThemes(page)).toEqual({});
      await press(page, "Approve");
      await press(page, /^Approve for \d+ p/);
      await page.getByText("The campaign is released.").waitFor();
      await page.getByText(/^admin, as .* asked$/).waitFor();
    } finally {
      await require(own, false);
    }
  });

  it("a release is declined with a note, which who asked reads and asks again (RDA-26)", async () => {
    const other = await open("admin");
    const own = await open();
    await require(own, true);
    try {
      await ask(own, "Too early");
      const { page, visit, reopen } = other;
      await reopen();
      await visit("campaigns");
      await page.getByRole("link", { name: "Too early" }).click();
      await press(page, "Decline");
      await page.getByLabel(/^Why, for/).fill("The price is wrong.");
      expect(await violationsInThemes(page)).toEqual({});
      await press(page, "Decline it");
      await page.getByText("The release is declined.").waitFor();
      await own.page.getByText(/admin declined the release that you asked for, .*: The price is wrong\./).waitFor();
      await press(own.page, "Ask for approval");
      await press(own.page, /^Ask to release to \d+ p/);
      await press(own.page, "Withdraw");
      await own.page.getByText("The request is withdrawn.").waitFor();
    } finally {
      await require(own, false);
    }
  });

  it("a release is pressed while who gets it is counted again (AMB-140)", async () => {
    const { page, visit } = await open();
    await draft({ page, visit }, "While counting");
    await press(page, "Release");
    await page.getByRole("button", { name: /^Release to \d+ p/ }).waitFor();
    await press(page, "Cancel");
    await page.route(/notifications.preview/, () => undefined);
    const counting = page.waitForRequest(/notifications.preview/);
    // What was counted some seconds ago is counted again as the sheet opens.
    await page.evaluate("{ const real = Date.now; Date.now = () => real() + 10_000; }");
    await press(page, "Release");
    await counting;
    await press(page, /^Release to \d+ p/);
    await page.getByText("The campaign is released.").waitFor();
  });

  it("a one-off send whose approval cannot be asked for says why (RDA-26)", async () => {
    const own = await open();
    const { page, visit } = own;
    await require(own, true);
    try {
      await visit("send");
      await page.getByLabel("Title").fill("Not yet");
      await page.getByLabel("Body", { exact: true }).fill("Hello.");
      await page.route("**/campaigns/*/release?*", (route) =>
        route.fulfill({ status: 409, json: { code: "CONFLICT", message: "The channel was turned off." } }),
      );
      await press(page, "Review and send");
      await press(page, /^Ask to send to \d+ p/);
      await page.getByText("It is a draft. Nobody was asked to approve it: The channel was turned off.").waitFor();
      await page.getByRole("heading", { name: "Not yet" }).waitFor();
    } finally {
      await require(own, false);
    }
  });

  it("a one-off send to everybody becomes a campaign that waits (RDA-26)", async () => {
    const own = await open();
    const { page, visit } = own;
    await require(own, true);
    try {
      await visit("send");
      await page.getByLabel("Title").fill("To everybody");
      await page.getByLabel("Body", { exact: true }).fill("Hello.");
      await press(page, "Review and send");
      await press(page, /^Ask to send to \d+ p/);
      await page.getByRole("heading", { name: "To everybody" }).waitFor();
      await page.getByText("You asked for approval").waitFor();
    } finally {
      await require(own, false);
    }
  });

  it("a send whose answer was lost is asked for once, with what was written meanwhile, also after an undo (RDA-26, CON-2)", async () => {
    const own = await open();
    const { page, visit } = own;
    await require(own, true);
    try {
      const ask = async () => {
        await press(page, "Review and send");
        await press(page, /^Ask to send to \d+ p/);
      };
      const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
      await page.route(
        "**/api/v1/campaigns",
        async (route) => {
          await route.fetch({ postData: await bodyOf(page, route.request()) });
          await isWritten;
          return route.abort("internetdisconnected");
        },
        { times: 1 },
      );
      await visit("send");
      await page.getByLabel("Title").fill("Asked once");
      const body = page.getByLabel("Body", { exact: true });
      await body.fill("Hello.");
      await ask();
      written();
      await page.getByText("The service cannot be reached.").first().waitFor();
      await page.keyboard.press("Escape");
      await body.fill("Hello again.");
      expect(await body.inputValue()).toBe("Hello again.");
      await press(page, "Undo");
      await ask();
      await page.getByText("You asked for approval").waitFor();
      await visit("campaigns?q=Asked%20once");
      await page.getByRole("link", { name: "Asked once" }).first().waitFor();
      expect(await page.getByRole("table").getByRole("link", { name: "Asked once" }).count()).toBe(1);
    } finally {
      await require(own, false);
    }
  });
}
