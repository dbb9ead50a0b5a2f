// The stories of the demo in Firefox. What Chromium alone can be asked for, such as emulated eyesight, is in demo.test.ts.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getCurrentTest } from "vitest/suite";
import { hasFirefox, launchFirefox } from "../support/browser.ts";
import { createTabs } from "../support/console-tab.ts";
import { cleanUp, type ServiceProcess, startService } from "../support/service-process.ts";
import { conflictStories } from "./conflicts.ts";
import { firstRunStories } from "./first-run.ts";
import { mailStories } from "./mails.ts";
import { objectStories } from "./objects.ts";
import { peopleStories } from "./people.ts";
import { releaseStories } from "./releases.ts";
import { reportStories } from "./reports.ts";
import { stories } from "./stories.ts";

/** What firefox-esr does not tell over WebDriver BiDi, by the beginnings of the stories that ask for it. */
const UNTOLD: Readonly<Record<string, readonly string[]>> = {
  "the body of a request": [
    "a send to more than 1,000 people",
    "a campaign and a step of a journey send a template",
    "a product manager simulates a journey",
    "a template is designed with blocks by keyboard",
    // It looks for what the product manager did.
    "an operator mends a channel",
  ],
};

/** The story under way is skipped where Firefox cannot be asked for what it needs. */
function skipUntold(): void {
  const test = getCurrentTest();
  const reason = Object.entries(UNTOLD).find(([, stories]) => stories.some((one) => test?.name.startsWith(one)))?.[0];
  if (reason !== undefined) test?.context.skip(`Firefox does not tell ${reason}.`);
}

describe.skipIf(!hasFirefox)("the demo in Firefox", () => {
  let service: ServiceProcess;
  let browser: Browser;
  const faults: string[] = [];
  const tabs = createTabs(() => ({ service, browser, faults }));
  const open = (role?: string) => {
    skipUntold();
    return tabs(role);
  };

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      startService({ DATA_DIR: ":memory:", AWS_PORT: "0" }, ["--demo"]),
      launchFirefox(),
    ]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await cleanUp();
  });

  objectStories(open);
  conflictStories(open);
  peopleStories(open);
  reportStories(open);
  releaseStories(open);
  mailStories(open);
  firstRunStories(open);
  stories({ service: () => service, open });

  it("no page caused a fault, a violation of the policy or a request to another place (CON-1)", () => {
    expect(faults).toEqual([]);
  });
});
