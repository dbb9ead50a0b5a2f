// Which version of the service runs, and where: set where it is deployed.
import { type Capability, setting } from "../kernel/deps.ts";

export interface Release {
  version: string;
  commit: string;
  /** The AWS region whose table holds the data (F24). */
  region: string;
}

export const release: Capability<"release", Release> = {
  as: "release",
  env: ["VERSION", "COMMIT", "REGION"],
  grants: [],
  open: (deps) => {
    const opened = {
      version: setting(deps, "VERSION"),
      commit: setting(deps, "COMMIT"),
      region: setting(deps, "REGION"),
    };
    return () => opened;
  },
};
