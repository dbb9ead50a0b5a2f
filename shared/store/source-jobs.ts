// Jobs found by what they belong to: a campaign, journey, schedule or experience.
import type { Store, StoreReader } from "../resources.ts";
import { findJobs, type JobItem, type JobSpec } from "./jobs.ts";
import { keys } from "./keys.ts";
import type { Key } from "./model.ts";
import type { Step } from "./table.ts";

const kinds = ["campaign", "journey", "schedule", "experience"] as const;

/** The step that goes along with a job's own row; none for a send of the API. */
export function sourceSteps({ tenant }: Pick<Store, "tenant">, job: string, { type, id }: JobSpec["source"]): Step[] {
  const kind = kinds.find((known) => known === type);
  return kind && id !== null ? [{ put: { ...keys.jobOf(tenant, kind, id, job) } }] : [];
}

/** Every job of a source, oldest first. */
export async function jobsOfSource(
  store: StoreReader,
  { type, id }: { type: (typeof kinds)[number]; id: string },
): Promise<JobItem[]> {
  const { pk, sk } = keys.jobOf(store.tenant, type, id, "");
  const ids: string[] = [];
  let after: Key | undefined;
  do {
    const page = await store.query({ pk, prefix: sk, after });
    ids.push(...page.items.map((row) => row.sk.slice(sk.length)));
    after = page.next;
  } while (after);
  return (await findJobs(store, ids)).filter((job) => job !== undefined);
}
