import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "threads",
    maxWorkers: 2,
    isolate: false,
    setupFiles: ["test/support/setup.ts"],
    testTimeout: 60_000,
    reporters: ["default", "./test/support/count-reporter.ts"],
    coverage: { provider: "v8", include: ["functions/**", "shared/**", "local/**"] },
  },
});
