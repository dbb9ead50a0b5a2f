// A slice of `npm run parity`: random operations on our DynamoDB and on Amazon's own local one.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compare } from "./parity/compare.ts";
import { type Engine, hasDynamoDbLocal, startDynamoDbLocal } from "./parity/engines.ts";

const OPERATIONS = 3000;
const PATIENCE_MS = 120_000;

describe.skipIf(!hasDynamoDbLocal())("beside DynamoDB Local (skipped until tools/install-parity.sh has run)", () => {
  let local: Engine;
  beforeAll(async () => {
    local = await startDynamoDbLocal();
  }, PATIENCE_MS);
  afterAll(() => local.close());

  it(
    `${OPERATIONS} operations have no difference that is not explained`,
    async () => {
      const { operations, agreed, unexplained } = await compare(local, { operations: OPERATIONS, seed: 42 });
      expect(unexplained).toEqual([]);
      expect(operations).toBe(OPERATIONS);
      expect(agreed).toBeGreaterThan(OPERATIONS / 2);
    },
    PATIENCE_MS,
  );
});
