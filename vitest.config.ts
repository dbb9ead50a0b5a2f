import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/support/long-first.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "local/aws/test/**/*.test.ts"],
    pool: "threads",
    // One more than two cores: tests in a browser, and those that start processes, mostly wait.
    maxWorkers: 3,
    isolate: false,
    // Node runs the files as they are: no test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongFirst },
    setupFiles: ["test/support/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./test/support/count-reporter.ts"],
    coverage: { provider: "v8", include: ["functions/**", "shared/**", "local/**"], exclude: ["local/aws/test/**"] },
  },
});
