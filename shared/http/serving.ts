// What whoever lets callers in may touch, beside the capabilities of its own.
import { platformWrite, secrets } from "../resources.ts";
import { tokenVerifier } from "./tokens.ts";
import { viewer } from "./viewer.ts";

/** Who calls, how often, and from where. */
export const servingUses = [platformWrite, secrets, tokenVerifier, viewer] as const;
