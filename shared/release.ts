// Which version of the service runs: set where it is deployed.
import { type Capability, setting } from "./deps.ts";

export interface Release {
  version: string;
  commit: string;
}

export const release: Capability<"release", Release> = {
  as: "release",
  env: ["VERSION", "COMMIT"],
  grants: [],
  open: (deps) => {
    const opened = { version: setting(deps, "VERSION"), commit: setting(deps, "COMMIT") };
    return () => opened;
  },
};
