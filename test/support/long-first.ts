// The order of test files: by size, as without it, but those first that take longest for their size. At the end of a run
// one of them alone would keep one core, and leave the other idle.
import { BaseSequencer, type TestSpecification } from "vitest/node";

const LONG =
  /\/test\/(?:simulator|reference)\/|\/test\/(?:console\/(?:demo|browser)|simulator|planted-channel|mutants)\.test\.ts$|-crash\.test\.ts$/;

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
