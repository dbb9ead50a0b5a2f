// The recipients' choices about the topic of a send, made after its audience was planned.
import type { SendOutcome } from "../../../shared/rules/progress.ts";
import { isInTopic } from "../../../shared/rules/topics.ts";
import type { Job } from "../../../shared/store/sends/jobs/job-record.ts";
import { contactOf } from "../../../shared/store/subscribers/contacts.ts";
import { getProfiles, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import type { Work } from "./work.ts";

/** A choice made after the audience was planned counts too (TPC-2). */
export const topicRefusal = ({ topic }: Job, profile: LivingProfile | undefined): SendOutcome | undefined =>
  topic && profile && !isInTopic(contactOf(profile, []).consents, topic)
    ? { kind: "skipped", reason: "topic_opt_out" }
    : undefined;

export async function leftTopic({ store, job }: Work, subscribers: readonly string[]): Promise<ReadonlySet<string>> {
  if (job.topic === undefined || subscribers.length === 0) return new Set();
  const profiles = await getProfiles(store, subscribers);
  return new Set(subscribers.filter((_, i) => topicRefusal(job, profiles[i]) !== undefined));
}
