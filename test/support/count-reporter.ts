// Ends every test run with one plain line: how many tests passed and how many failed. Before it stand those tried again.
import type { Reporter, TestModule } from "vitest/node";

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown>): void {
    let passed = 0;
    let failed = unhandled.length;
    const again: string[] = [];
    for (const module of modules) {
      // A file that cannot be read, and a hook: their tests are skipped.
      for (const part of [module, ...module.children.allSuites()]) failed += part.errors().length;
      for (const test of module.children.allTests()) {
        if (test.result().state === "passed") passed++;
        if (test.result().state === "failed") failed++;
        if (test.diagnostic()?.retryCount) again.push(`tried again: ${test.fullName}\n`);
      }
    }
    process.on("exit", () => process.stdout.write(`${again.join("")}\n${passed} passed, ${failed} failed\n`));
  }
}
