// What each function weighs as shipped, against its budget.
import { bundleFunctions, bundleSizes } from "../infra/bundle.ts";
import { contents, deployedFunctions } from "../infra/functions.ts";
import type { Figure } from "./measure.ts";
import type { Answer } from "./product.ts";

const KB = 1_024;
const ENDPOINT_KB = 420;
/** What S3 adds where it is used: a protocol of its own (decision 33). */
const S3_KB = 120;

const usesS3 = new Set(
  deployedFunctions(contents).flatMap(({ name, grants }) =>
    grants.some(({ actions }) => actions.some((action) => action.startsWith("s3:"))) ? [name] : [],
  ),
);

export async function benchWeight(): Promise<Answer> {
  await bundleFunctions();
  const sizes = await bundleSizes();
  const figures = sizes.map(({ name, bytes }): Figure => {
    const nothing = { seconds: 0, per_second: 0, wcu: 0, rcu: 0, requests: 0, messages: 0, cpu_us: 0, peak_mb: 0 };
    const isEndpoint = name.startsWith("api-");
    const most = ENDPOINT_KB + (usesS3.has(name) ? S3_KB : 0);
    return {
      ...nothing,
      scenario: `${name} (bytes)`,
      items: bytes,
      budget: isEndpoint ? `≤ ${most} KB` : "",
      ...(isEndpoint && { kept: bytes <= most * KB }),
    };
  });
  return { figures, notes: [] };
}
