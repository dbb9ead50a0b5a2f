// Bundle size and load time of each function, against their budgets (docs/decisions/0016).
import { bundleFunctions, bundleSizes } from "../infra/bundle.ts";
import { contents, deployedFunctions } from "../infra/functions.ts";
import { importsOf } from "./imports.ts";
import type { Answer, Figure } from "./measure.ts";

const KB = 1_024;
const nothing = { seconds: 0, per_second: 0, cpu_us: 0, peak_mb: 0 };
const ENDPOINT_KB = 420;
const OWN_KB = { max: 90, goal: 60 };
/** The additional size of S3, which has its own protocol (docs/decisions/0016). */
const S3_KB = 120;
/** As a multiple of the load time of a bundle with only the SDK. */
const IMPORT_RATIO = { max: 1.6, goal: 1.2 };

const usesS3 = new Set(
  deployedFunctions(contents).flatMap(({ name, grants }) =>
    grants.some(({ actions }) => actions.some((action) => action.startsWith("s3:"))) ? [name] : [],
  ),
);

export async function benchWeight(): Promise<Answer> {
  const bundles = await bundleFunctions();
  const sizes = await bundleSizes();
  const imports = await importsOf(bundles);
  const figures = sizes.flatMap(({ name, bytes }) => {
    const isEndpoint = name.startsWith("api-");
    const sizeOf = (scenario: string, items: number, maxKb: number): Figure => ({
      ...nothing,
      scenario,
      items,
      budget: "",
      ...(isEndpoint && { budget: `≤ ${maxKb} KB`, kept: items <= maxKb * KB }),
    });
    const { microseconds, sdkMicroseconds } = imports.get(name)!;
    const ratio = sdkMicroseconds === undefined ? undefined : microseconds / sdkMicroseconds;
    const load: Figure = {
      ...nothing,
      scenario: `${name}, import (µs of CPU)`,
      items: microseconds,
      cpu_us: microseconds,
      budget: ratio === undefined ? "" : `${ratio.toFixed(2)} ≤ ${IMPORT_RATIO.max} × the SDK's ${sdkMicroseconds} µs`,
      ...(ratio !== undefined && isEndpoint && { kept: ratio <= IMPORT_RATIO.max }),
    };
    return [
      sizeOf(`${name} (bytes)`, bytes, ENDPOINT_KB + (usesS3.has(name) ? S3_KB : 0)),
      sizeOf(`${name}, our own (bytes)`, bundles.get(name)!.ownBytes, OWN_KB.max),
      load,
    ];
  });
  const endpoints = [...bundles].filter(([name]) => name.startsWith("api-"));
  const light = endpoints.filter(([, { ownBytes }]) => ownBytes <= OWN_KB.goal * KB).length;
  const quick = endpoints.filter(([name]) => {
    const { microseconds, sdkMicroseconds = 0 } = imports.get(name)!;
    return microseconds <= sdkMicroseconds * IMPORT_RATIO.goal;
  }).length;
  return {
    figures,
    notes: [
      `Of ${endpoints.length} endpoint functions ${light} hold ${OWN_KB.goal} KB of our own at most, the goal of docs/decisions/0016,`,
      `and ${quick} load within ${IMPORT_RATIO.goal} times the SDK they use alone.`,
    ],
  };
}
