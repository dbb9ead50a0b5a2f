// Journeys: the resource, its states and its numbers (JNY, JST, D-JNY-ARCHIVE, AMB-8, AMB-9, AMB-12, AMB-74).
import { created, type Operation, ok, read, write } from "./access.ts";
import { note } from "./annotations.ts";
import { listing, requiredText } from "./checks.ts";
import { standing } from "./entries.ts";
import { needChannels } from "./gates.ts";
import { hasFault, isActivatable, isMalformed } from "./graph.ts";
import {
  ABSENT,
  ANY,
  type Body,
  conflict,
  duration,
  invalid,
  isOwnName,
  iso,
  isoOrNull,
  isRecord,
  isUuid,
  OneOf,
  OrderedBy,
  type Request,
  together,
  Unordered,
} from "./kit.ts";
import type { Journey, Run } from "./records/plans.ts";
import { isWithinPlan, treeOf } from "./rules.ts";
import { cancelRuns, resumeRun } from "./runs.ts";
import { needTemplate } from "./templates.ts";
import { existing, found, newId, type World } from "./world.ts";

const runsOf = (world: World, { id }: Journey): Run[] => world.runs.filter(({ journey_id }) => journey_id === id);

/** JNY-1, JNY-6: entered and completed only in the list. */
function record(world: World, journey: Journey, isListed = false): Body {
  const { trigger, entry_rules, steps } = journey.definitions.at(-1)!;
  const runs = runsOf(world, journey);
  return {
    ...{ id: journey.id, name: journey.name, status: journey.status, version: journey.version },
    ...{ trigger, entry_rules: entry_rules ?? null, steps },
    entered: isListed ? runs.length : 0,
    completed: isListed ? runs.filter(({ status }) => status === "completed").length : 0,
    ...{ created_at: iso(journey.created_at), updated_at: iso(journey.updated_at) },
  };
}

/** JNY-9, JND-2, AMB-61. */
function checkDefinition({ trigger, entry_rules, steps }: Body): void {
  if (!isRecord(trigger) || !["segment_entered", "segment_exited", "event"].includes(trigger.type)) invalid();
  if (trigger.type === "event" && (!trigger.event_name || isOwnName(trigger.event_name))) invalid();
  if (trigger.type !== "event" && !isUuid(trigger.segment_id)) invalid();
  if (steps === undefined || isMalformed(steps)) invalid();
  if (!isRecord(entry_rules)) return;
  const { eligibility, reentry_window } = entry_rules;
  if (eligibility !== undefined && !treeOf(eligibility)) invalid();
  if (reentry_window !== undefined && duration(reentry_window) === undefined) invalid();
}

/** AMB-61: what is missing or dangling, references to others too, is a matter of a draft's activation. */
function needRunnable(world: World, { trigger, entry_rules, steps }: Body): void {
  if (!isActivatable(steps)) invalid();
  const rules = [
    entry_rules?.eligibility,
    ...Object.values<Body>(steps.steps).map(({ branch }) => branch?.condition),
    ...(steps.exit_conditions ?? []).map(({ rule }: Body) => rule),
  ];
  if (!rules.every((rule) => rule === undefined || isWithinPlan(world, treeOf(rule)!))) invalid();
  if (trigger.type !== "event" && !found(world.segments, trigger.segment_id)) invalid();
  for (const node of Object.values<Body>(steps.steps ?? {})) {
    together(
      () => needTemplate(world, node.send?.template_id),
      () => needChannels(world, node.send?.channel_ids, "steps"),
    );
  }
}

const definitionFrom = ({ trigger, entry_rules = null, steps }: Body): Body =>
  structuredClone({ trigger, entry_rules, steps });

function add(world: World, name: string, definition: Body): Journey {
  const journey: Journey = {
    ...{ id: newId(world, "journey"), name, status: "draft", version: 1, definitions: [definition] },
    ...{ created_at: world.now, updated_at: world.now, paused_at: 0, resumed_at: 0, active: null, refused: {} },
    activated: new Set(),
  };
  world.journeys.push(journey);
  return journey;
}

function create(world: World, { body }: Request) {
  requiredText(body, "name");
  checkDefinition(body);
  return created(record(world, add(world, body.name, definitionFrom(body))));
}

/** JNY-13, AMB-8, AMB-12: a new version; runs stay on theirs. */
function put(world: World, { body }: Request, { id }: Record<string, string>) {
  requiredText(body, "name");
  const journey = existing(world.journeys, id);
  checkDefinition(body);
  if (hasFault(body.steps)) invalid();
  if (journey.status === "active" || journey.status === "archived") conflict();
  if (journey.status === "paused") needRunnable(world, body);
  journey.definitions.push(definitionFrom(body));
  Object.assign(journey, { name: body.name, version: journey.version + 1, updated_at: world.now });
  return ok(record(world, journey));
}

/** JNY-14 to JNY-16. A pause stops the time of the runs (AMB-136), which take what happened in it (AMB-73). */
function activate(world: World, _: Request, { id }: Record<string, string>) {
  const journey = existing(world.journeys, id);
  if (journey.status !== "draft" && journey.status !== "paused") conflict();
  needRunnable(world, journey.definitions.at(-1)!);
  const pause = journey.status === "paused" ? world.now - journey.paused_at : 0;
  note(world, "journey_activated", id);
  if (journey.status === "paused") journey.resumed_at = world.now;
  Object.assign(journey, { status: "active", updated_at: world.now, active: journey.definitions.at(-1) });
  journey.activated.add(journey.version);
  for (const run of runsOf(world, journey)) resumeRun(world, run, pause);
  return ok(record(world, journey));
}

export function pauseJourney(world: World, journey: Journey): void {
  note(world, "journey_paused", journey.id);
  Object.assign(journey, { status: "paused", updated_at: world.now, paused_at: world.now });
}

function pause(world: World, _: Request, { id }: Record<string, string>) {
  const journey = existing(world.journeys, id);
  if (journey.status !== "active") conflict();
  pauseJourney(world, journey);
  return ok(record(world, journey));
}

function archive(world: World, _: Request, { id }: Record<string, string>) {
  const journey = existing(world.journeys, id);
  if (journey.status === "active") conflict();
  if (journey.status !== "archived") {
    Object.assign(journey, { status: "archived", updated_at: world.now });
    cancelRuns(world, ({ journey_id }) => journey_id === id);
  }
  return ok(record(world, journey));
}

/** What the copy is called is not said. */
function duplicate(world: World, { given }: Request, { id }: Record<string, string>) {
  const journey = existing(world.journeys, id);
  return created(record(world, add(world, given.name, structuredClone(journey.definitions.at(-1)))));
}

/** JNY-19. */
function remove(world: World, _: Request, { id }: Record<string, string>) {
  const journey = existing(world.journeys, id);
  world.journeys = world.journeys.filter((other) => other !== journey);
  world.runs = world.runs.filter(({ journey_id }) => journey_id !== id);
  world.outcomes = world.outcomes.filter(({ journey_id }) => journey_id !== id);
  return { status: 204 };
}

/** JST-1 to JST-3. Only steps that a run has come to are compared. A refused person is counted for no version. */
function stats(world: World, { query }: Request, { id }: Record<string, string>) {
  const journey = existing(world.journeys, id);
  const isAsked = ({ version }: { version: number }) =>
    query.version === undefined || version === Number(query.version);
  const runs = runsOf(world, journey).filter(isAsked);
  const count = (status: string) => runs.filter((run) => run.status === status).length;
  const outcomes = world.outcomes.filter((outcome) => outcome.journey_id === id && isAsked(outcome));
  const steps: Record<string, Body> = {};
  for (const step of new Set([...outcomes.map((outcome) => outcome.step), ...runs.flatMap((run) => run.step ?? [])])) {
    const own = outcomes.filter((outcome) => outcome.step === step).map(({ outcome }) => outcome);
    const active = runs.filter((run) => run.status === "active" && run.step === step).length;
    steps[step] = { active, outcomes: talliesOf(own) };
  }
  const states = Object.fromEntries(["active", "completed", "exited", "canceled"].map((one) => [one, count(one)]));
  const own = query.version === undefined ? { refused: journey.refused } : { refused: ABSENT, exact: true };
  return ok({ runs: states, steps, ...own });
}

/** `skipped:a|b` stands for either reason. */
function talliesOf(outcomes: string[]): Body {
  const tally: Record<string, number> = {};
  for (const outcome of outcomes) tally[outcome] = (tally[outcome] ?? 0) + 1;
  if (outcomes.some((outcome) => outcome.includes("|"))) return ANY;
  return tally;
}

/** In a storm nothing tells two runs of one person from each other. */
const runRecord = (world: World, run: Run): Body => ({
  id: world.isStorm ? ANY : run.id,
  ...{ journey_id: run.journey_id, version: run.version, subscriber_id: run.subscriber_id, status: run.status },
  ...{ entered_at: iso(run.entered_at), ended_at: isoOrNull(run.ended_at) },
  current_step: run.status === "active" ? run.step : new OneOf([run.step, null]),
});

function runs(world: World, { query }: Request, { id }: Record<string, string>) {
  const matching = runsOf(world, existing(world.journeys, id)).filter(
    (run) =>
      found(world.subscribers, run.subscriber_id) &&
      [undefined, run.status].includes(query.status) &&
      [undefined, run.subscriber_id].includes(query.subscriber_id) &&
      (query.step === undefined || (run.status === "active" && run.step === query.step)),
  );
  return listing("items", new Unordered(matching.map((run) => runRecord(world, run))), 100);
}

/** One that was canceled stays so. */
function cancelRun(world: World, _: Request, { id, runId }: Record<string, string>) {
  const run = existing(runsOf(world, existing(world.journeys, id)), runId);
  if (run.status !== "active" && run.status !== "canceled") conflict();
  cancelRuns(world, (one) => one === run);
  return ok(runRecord(world, run));
}

/** AMB-147: the runs of one person, what the last one waits for, and whether a trigger would start one now. */
export function journeyOfPerson(world: World, id: string | undefined, person: string | undefined): Body {
  const journey = existing(world.journeys, id);
  const subscriber = existing(world.subscribers, person);
  const own = runsOf(world, journey).filter(({ subscriber_id }) => subscriber_id === person);
  const run = own.find(({ status }) => status === "active");
  // A pause stops the time of a run.
  const until = run && journey.status === "active" && Number.isFinite(run.until) ? isoOrNull(run.until) : ANY;
  const reason = standing(world, journey, subscriber);
  const newest = new OrderedBy(
    own.toReversed().map((run) => runRecord(world, run)),
    ({ entered_at }) => entered_at,
  );
  const said = { runs: newest, waiting: run ? { step: run.step, until } : null };
  return { ...said, now: { would_enter: reason === null, reason } };
}

/** Those that were activated, newest first. */
function versions(world: World, _: Request, { id }: Record<string, string>) {
  const { definitions, activated } = existing(world.journeys, id);
  const items = [...activated].map((version) => ({ version, ...definitions[version - 1] }));
  return listing("items", new OrderedBy(items.toReversed(), ({ version }) => version), 100);
}

const counts = (world: World) => {
  const active = world.journeys.filter(({ status }) => status === "active").length;
  const total = world.journeys.filter(({ status }) => status !== "archived").length;
  return ok({ active, total });
};

export const journeyOperations: Operation[] = [
  read("GET /api/v1/journeys", (world) =>
    listing("journeys", new Unordered(world.journeys.map((journey) => record(world, journey, true))), 100),
  ),
  write("POST /api/v1/journeys", "content:write", create),
  read("GET /api/v1/journeys/counts", counts),
  read("GET /api/v1/journeys/:id", (world, _, { id }) => ok(record(world, existing(world.journeys, id)))),
  write("PUT /api/v1/journeys/:id", "content:write", put),
  write("DELETE /api/v1/journeys/:id", "content:write", remove),
  write("POST /api/v1/journeys/:id/activate", "send", activate),
  write("POST /api/v1/journeys/:id/pause", "send", pause),
  write("POST /api/v1/journeys/:id/archive", "send", archive),
  write("POST /api/v1/journeys/:id/duplicate", "content:write", duplicate),
  read("GET /api/v1/journeys/:id/versions", versions),
  read("GET /api/v1/journeys/:id/stats", stats),
  read("GET /api/v1/journeys/:id/runs", runs),
  write("POST /api/v1/journeys/:id/runs/:runId/cancel", "send", cancelRun),
  read("GET /api/v1/journeys/:id/subscribers/:subscriberId", (world, _, { id, subscriberId }) =>
    ok(journeyOfPerson(world, id, subscriberId)),
  ),
];
