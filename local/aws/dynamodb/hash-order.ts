// The order in which the real service lists a set of names: that of a Java hash table.

const MIN_BUCKETS = 16;
const LOAD = 0.75;

/** Texts by bucket; those of one bucket in their original order. */
export function inHashOrder(texts: readonly string[]): string[] {
  let buckets = MIN_BUCKETS;
  while (texts.length > buckets * LOAD) buckets *= 2;
  return texts.toSorted((a, b) => bucketOf(a, buckets) - bucketOf(b, buckets));
}

function bucketOf(text: string, buckets: number): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 16)) & (buckets - 1);
}
