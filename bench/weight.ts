// What each function weighs as shipped, against its budget.
import { bundleFunctions, bundleSizes } from "../infra/bundle.ts";
import { contents, deployedFunctions } from "../infra/functions.ts";
import type { Figure } from "./measure.ts";
import type { Answer } from "./product.ts";

const KB = 1_024;
const nothing = { seconds: 0, per_second: 0, wcu: 0, rcu: 0, requests: 0, messages: 0, cpu_us: 0, peak_mb: 0 };
const ENDPOINT_KB = 420;
/** docs/decisions/0016-what-an-endpoint-weighs.md */
const OWN_KB = 90;
/** What S3 adds where it is used: a protocol of its own (decision 33). */
const S3_KB = 120;

const usesS3 = new Set(
  deployedFunctions(contents).flatMap(({ name, grants }) =>
    grants.some(({ actions }) => actions.some((action) => action.startsWith("s3:"))) ? [name] : [],
  ),
);

export async function benchWeight(): Promise<Answer> {
  const own = await bundleFunctions();
  const sizes = await bundleSizes();
  const figureOf = (scenario: string, bytes: number, most: number | undefined): Figure => ({
    ...{ ...nothing, scenario, items: bytes },
    budget: most === undefined ? "" : `≤ ${most} KB`,
    ...(most !== undefined && { kept: bytes <= most * KB }),
  });
  const figures = sizes.flatMap(({ name, bytes }) => {
    const isEndpoint = name.startsWith("api-");
    const most = ENDPOINT_KB + (usesS3.has(name) ? S3_KB : 0);
    return [
      figureOf(`${name} (bytes)`, bytes, isEndpoint ? most : undefined),
      figureOf(`${name}, our own (bytes)`, own.get(name)!, isEndpoint ? OWN_KB : undefined),
    ];
  });
  return { figures, notes: [] };
}
