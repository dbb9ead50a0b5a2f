// Channels, templates, segments and topics are deleted, unless something active depends on them (AMB-119).
import { type Operation, ok, read, write } from "./access.ts";
import { pauseByForce } from "./campaign-actions.ts";
import { pause } from "./experiences.ts";
import { pauseJourney } from "./journeys.ts";
import { type Body, conflict, notFound, type Request, Unordered } from "./kit.ts";
import { existing, found, type World } from "./world.ts";

interface Uses {
  /** Of a schedule, or of a step that sends. */
  sends?: (spec: Body) => boolean;
  journey?: (definition: Body) => boolean;
  campaign?: (spec: Body, messages: Body[]) => boolean;
}

const stepsOf = ({ steps }: Body): Body[] => Object.values<Body>(steps?.steps ?? {}).flatMap(({ send }) => send ?? []);

function usersOf(world: World, { sends = () => false, journey, campaign }: Uses) {
  return {
    journeys: world.journeys.filter(({ status, definitions }) => {
      const definition = definitions.at(-1)!;
      return status === "active" && (journey?.(definition) || stepsOf(definition).some(sends));
    }),
    // The return of its campaign switches one on that was switched off with it (AMB-67).
    schedules: world.schedules.filter(
      ({ active, switched_off_by, spec }) => (active || switched_off_by !== null) && sends(spec),
    ),
    campaigns: world.campaigns.filter(
      ({ status, spec, messages }) => ["scheduled", "live"].includes(status) && campaign?.(spec, messages),
    ),
  };
}

/** Refuses, or pauses what depends on it. */
function release(world: World, uses: Uses, { query }: Request): void {
  const { journeys, schedules, campaigns } = usersOf(world, uses);
  if (query.force !== "true" && journeys.length + schedules.length + campaigns.length > 0) conflict();
  for (const campaign of campaigns) pauseByForce(world, campaign);
  for (const schedule of schedules)
    Object.assign(schedule, { active: false, switched_off_by: null, next_run_at: null });
  for (const journey of journeys) pauseJourney(world, journey);
}

/** CHN-17: stored credentials hold it too. */
function removeChannel(world: World, request: Request, { id }: Record<string, string>) {
  const channel = existing(world.channels, id);
  if (channel.credentials && request.query.force !== "true") conflict();
  const sends = ({ channel_ids }: Body) => channel_ids?.includes(id);
  const toCome = world.experiences.filter(({ status, job_id }) => {
    const job = found(world.jobs, job_id);
    return status === "live" && job?.status === "scheduled" && sends(job.spec);
  });
  if (request.query.force !== "true" && toCome.length > 0) conflict();
  release(world, { sends, campaign: (_, messages) => messages.some(sends) }, request);
  for (const experience of toCome) pause(world, experience);
  channel.deleted_at = world.now;
  world.channels = world.channels.filter((other) => other !== channel);
  return { status: 204 };
}

/** TPL-8: a scheduled job that names it fails to send. */
function removeTemplate(world: World, request: Request, { id }: Record<string, string>) {
  const template = existing(world.templates, id);
  release(world, { sends: ({ template_id }) => template_id === id }, request);
  world.templates = world.templates.filter((other) => other !== template);
  return { status: 204 };
}

/** SEG-9. A scheduled send cannot be paused: it fails at its time. */
function removeSegment(world: World, request: Request, { id }: Record<string, string>) {
  const segment = existing(world.segments, id);
  const isTarget = ({ target }: Body) => target?.segment_id === id;
  const jobs = world.jobs.filter(({ status, spec }) => status === "scheduled" && isTarget(spec));
  const experiences = world.experiences.filter(
    ({ status, spec }) => ["live", "paused"].includes(status) && spec.audience?.segment_id === id,
  );
  if (request.query.force !== "true" && jobs.length + experiences.length > 0) conflict();
  release(world, { journey: ({ trigger }) => trigger.segment_id === id, campaign: isTarget }, request);
  for (const experience of experiences)
    if (experience.status === "live" && jobs.some((job) => job.id === experience.job_id)) pause(world, experience);
  world.segments = world.segments.filter((other) => other !== segment);
  world.members = world.members.filter(({ of }) => of !== id);
  return { status: 204 };
}

/** TPC-1. */
function removeTopic(world: World, request: Request, { key }: Record<string, string>) {
  const topic = world.topics.find((one) => one.key === key) ?? notFound();
  const names = (spec: Body) => spec.topic === key;
  release(world, { sends: names, campaign: names }, { ...request, query: {} });
  world.topics = world.topics.filter((other) => other !== topic);
  return { status: 204 };
}

/** What would send a template now. */
function templateUsage(world: World, _: Request, { id }: Record<string, string>) {
  const { id: template_id } = existing(world.templates, id);
  const sends = (spec: Body) => spec.template_id === template_id;
  const { campaigns, schedules, journeys } = usersOf(world, {
    ...{ sends, campaign: (spec, messages) => messages.some((message) => sends({ ...spec, ...message })) },
  });
  const named = (things: Body[]) => new Unordered(things.map(({ id, name }) => ({ id, name })));
  const recurring = schedules.map(({ id, spec }) => ({ id, cron_expression: spec.cron_expression }));
  const used_by = { campaigns: named(campaigns), schedules: new Unordered(recurring), journeys: named(journeys) };
  return ok({ used_by });
}

export const removalOperations: Operation[] = [
  read("GET /api/v1/templates/:id/usage", templateUsage),
  write("DELETE /api/v1/channels/:id", "channels:write", removeChannel),
  write("DELETE /api/v1/templates/:id", "content:write", removeTemplate),
  write("DELETE /api/v1/segments/:id", "content:write", removeSegment),
  write("DELETE /api/v1/topics/:key", "content:write", removeTopic),
];
