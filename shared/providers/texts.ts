// The texts of a send: title and body.
import { compileTemplate } from "../rules/render.ts";
import type { Job } from "../store/sends/jobs.ts";
import { type ArmRenderer, armRenderer, type Event, isTooLarge } from "./arms.ts";

export interface Texts {
  title: string;
  body: string;
}

export type Renderer = ArmRenderer<Texts>;

export function rendererOf(job: Job, now: number, event: Event): Renderer {
  const a = compile(job);
  const b = job.variant_b && compile(job.variant_b);
  const isStatic = [a, b].every((arm) => !arm || (arm.title.isStatic && arm.body.isStatic));
  return armRenderer({ job, event, isStatic }, (arm, scope, asHtml) => {
    const { title, body, isHtml } = (arm === "b" && b) || a;
    const texts = {
      title: title.render(scope, { now, escape: "none" }).text,
      body: body.render(scope, { now, escape: asHtml && isHtml ? "html" : "none" }).text,
    };
    return isTooLarge(texts, texts.title.length + texts.body.length) ? undefined : texts;
  });
}

const compile = ({ title, body }: { title: string | null; body: string | null }) => ({
  title: compileTemplate(title ?? ""),
  body: compileTemplate(body ?? ""),
  isHtml: /^\s*</.test(body ?? ""),
});
