// Every planted bug.
import type { Bug } from "./bug.ts";
import { followingBugs } from "./following.ts";
import { mannersBugs } from "./manners.ts";
import { sendingBugs } from "./sending.ts";

export const planted: readonly Bug[] = [...sendingBugs, ...followingBugs, ...mannersBugs];
