// What each function weighs as shipped, against its budget.
import { bundleFunctions, bundleSizes } from "../infra/bundle.ts";
import type { Figure } from "./measure.ts";
import type { Answer } from "./product.ts";

const KB = 1_024;
const ENDPOINT_KB = 420;

export async function benchWeight(): Promise<Answer> {
  await bundleFunctions();
  const sizes = await bundleSizes();
  const figures = sizes.map(({ name, bytes }): Figure => {
    const nothing = { seconds: 0, per_second: 0, wcu: 0, rcu: 0, requests: 0, messages: 0, cpu_us: 0, peak_mb: 0 };
    const isEndpoint = name.startsWith("api-");
    return {
      ...nothing,
      scenario: `${name} (bytes)`,
      items: bytes,
      budget: isEndpoint ? `≤ ${ENDPOINT_KB} KB` : "",
      ...(isEndpoint && { kept: bytes <= ENDPOINT_KB * KB }),
    };
  });
  return { figures, notes: [] };
}
