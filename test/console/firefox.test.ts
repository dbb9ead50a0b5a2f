// The stories of the demo in Firefox. What Chromium alone can be asked for, such as emulated eyesight, is in demo.test.ts.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasFirefox, launchFirefox, STORIES } from "../support/browser.ts";
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

describe.skipIf(!hasFirefox)("the demo in Firefox", STORIES, () => {
  let service: ServiceProcess;
  let browser: Browser;
  const faults: string[] = [];
  const open = createTabs(() => ({ service, browser, faults }));

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
