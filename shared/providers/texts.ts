// What a send says by a provider: title, body and custom data.
import { compileTemplate } from "../rules/render.ts";
import { compileData } from "../rules/render-data.ts";
import type { Job } from "../store/sends/jobs.ts";
import { type ArmRenderer, armRenderer, type Event, isTooLarge } from "./arms.ts";
import { isHtml, textOfHtml } from "./mail-body.ts";

export interface Texts {
  title: string;
  body: string;
  /** Absent where the send has none. */
  data?: NonNullable<Job["data"]>;
}

export type Renderer = ArmRenderer<Texts>;

export function rendererOf(job: Job, now: number, event: Event): Renderer {
  const a = compile(job);
  const b = job.variant_b && compile(job.variant_b);
  const data = job.data ? compileData(job.data) : undefined;
  const isStatic = data?.isStatic !== false && [a, b].every((arm) => !arm || (arm.title.isStatic && arm.body.isStatic));
  return armRenderer({ job, event, isStatic }, (arm, scope, asHtml) => {
    const { title, body, isHtml } = (arm === "b" && b) || a;
    const rendered = body.render(scope, { now, escape: isHtml ? "html" : "none" }).text;
    const texts = {
      title: title.render(scope, { now, escape: "none" }).text,
      // Only a mail shows HTML (AMB-121).
      body: isHtml && !asHtml ? textOfHtml(rendered) : rendered,
    };
    if (isTooLarge(texts, texts.title.length + texts.body.length)) return undefined;
    return data ? { ...texts, data: data.render(scope, { now }).data } : texts;
  });
}

const compile = ({ title, body }: { title: string | null; body: string | null }) => ({
  title: compileTemplate(title ?? ""),
  body: compileTemplate(body ?? ""),
  isHtml: isHtml(body ?? ""),
});
