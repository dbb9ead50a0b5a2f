// Finds mails without a subject before anything is sent.
import { ownContent, saidBy } from "../../../rules/channel-content.ts";
import { isBlank } from "../../../rules/characters.ts";
import { type CompiledTemplate, compileTemplate, type RenderScope } from "../../../rules/render.ts";
import type { Job } from "../jobs/job-record.ts";
import { type Arm, attempted } from "./arms.ts";

type JobTexts = Pick<Job, "title" | "body" | "by_channel" | "variant_b">;

/**
 * Whether a mail would have no subject for a recipient, who is then skipped. It is called for many people, so nothing
 * else is rendered.
 */
export function blankSubjects(job: JobTexts): (arm: Arm, scope: RenderScope, now: number) => boolean {
  const subjects = new Map<Arm, CompiledTemplate>();
  const subjectOf = (arm: Arm): CompiledTemplate => {
    const content = saidBy(job, arm);
    const mail = ownContent(content.by_channel, "email");
    const subject =
      subjects.get(arm) ?? compileTemplate((mail.kind === "mail" && mail.content?.subject) || content.title);
    subjects.set(arm, subject);
    return subject;
  };
  return (arm, scope, now) => {
    const subject = subjectOf(arm);
    if (subject.isStatic) return false;
    // A subject that cannot be rendered fails, and is not skipped.
    return attempted(() => isBlank(subject.render(scope, { now, escape: "none" }).text)) ?? false;
  };
}
