// Every planted bug.
import { audiencesBugs } from "./audiences.ts";
import { brakesBugs } from "./brakes.ts";
import type { Bug } from "./bug.ts";
import { endingsBugs } from "./endings.ts";
import { followingBugs } from "./following.ts";
import { integrationsBugs } from "./integrations.ts";
import { mannersBugs } from "./manners.ts";
import { outcomesBugs } from "./outcomes.ts";
import { pacingBugs } from "./pacing.ts";
import { packsBugs } from "./packs.ts";
import { promisesBugs } from "./promises.ts";
import { sandboxesBugs } from "./sandboxes.ts";
import { sendingBugs } from "./sending.ts";
import { shownBugs } from "./shown.ts";
import { singlesBugs } from "./singles.ts";

/** Looked for in this order. */
export const planted: readonly Bug[] = [
  ...sendingBugs,
  ...followingBugs,
  ...mannersBugs,
  ...outcomesBugs,
  ...audiencesBugs,
  ...promisesBugs,
  ...integrationsBugs,
  ...packsBugs,
  ...shownBugs,
  ...singlesBugs,
  ...brakesBugs,
  ...pacingBugs,
  ...sandboxesBugs,
  ...endingsBugs,
];
