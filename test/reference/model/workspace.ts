// Settings, plan, quota and keys of the workspace (AMB-85, D-BILL, D-WHOAMI).
import { type Operation, ok, read, write } from "./access.ts";
import { note } from "./annotations.ts";
import { ABSENT, ANY, type Body, iso, MINUTE, OneOf, type Request } from "./kit.ts";
import { inPeriod, leavesLate, limits, periodOf, usedSends } from "./plans.ts";
import { recompute } from "./segments.ts";
import { at, type World } from "./world.ts";

const SETTINGS = [
  "timezone",
  "email_consent_mode",
  "quiet_hours",
  "frequency_caps",
  "double_opt_in",
  "approval_required",
];

const settings = (world: World): Body => ({
  ...Object.fromEntries(SETTINGS.map((name) => [name, world.settings[name]])),
  test_subscriber_ids: world.settings.test_subscriber_ids ?? new OneOf([[], null, ABSENT]),
});

function change(world: World, { body }: Request) {
  Object.assign(world.settings, structuredClone(body));
  // AMB-137: a day begins at another time.
  if (body.timezone !== undefined)
    at(world, world.now, () => {
      for (const segment of world.segments) if (segment.is_dynamic) recompute(world, segment);
    });
  return ok(settings(world));
}

const isSettling = (world: World) =>
  world.jobs.some((job) => leavesLate(job) && world.now < job.taken!.at + 45 * MINUTE) || countsInEitherMonth(world);

/** In a storm a worker may take up late, in this month, what was due in the last minutes of the month before. */
function countsInEitherMonth({ now, isStorm, spent }: World): boolean {
  const [start] = periodOf(now);
  return isStorm === true && spent.some(({ at, sends }) => sends > 0 && at < start && at >= start - 5 * MINUTE);
}

function forecastOf(world: World): number {
  const [start, end] = periodOf(world.now);
  return Math.round((usedSends(world) * (end - start)) / Math.max(world.now - start, 1));
}

/** D-BILL. */
const billing = (world: World): Body => ({
  plan: world.plan,
  ...{ period_start: iso(periodOf(world.now)[0]), period_end: iso(periodOf(world.now)[1]) },
  monthly_send_cap: world.monthly_send_cap,
  // F25: as in what has passed of the month.
  forecast: { sends_at_period_end: isSettling(world) ? ANY : forecastOf(world) },
  usage: {
    sends: isSettling(world) ? ANY : usedSends(world),
    ...{
      events: inPeriod(
        world,
        world.events.map(({ received_at }) => received_at),
      ),
      subscribers: world.subscribers.length,
    },
    dynamic_segments: world.segments.filter(({ is_dynamic }) => is_dynamic).length,
  },
  limits: limits(world.plan),
});

/** AMB-87: 0 is allowed and stops sending. */
function cap(world: World, { body }: Request) {
  world.monthly_send_cap = body.monthly_send_cap;
  return ok(billing(world));
}

/** AMB-87: never refused. */
function changePlan(world: World, { body }: Request) {
  if (body.plan !== world.plan) {
    note(world, "plan_change");
    world.plan_changed_at = world.now;
  }
  world.plan = body.plan;
  return ok(billing(world));
}

export const workspaceOperations: Operation[] = [
  read("GET /api/v1/workspace", (world) => ok(settings(world))),
  write("PATCH /api/v1/workspace", "team:manage", change),
  read("GET /api/v1/billing", (world) => ok(billing(world))),
  write("PATCH /api/v1/billing", "billing:manage", cap),
  write("PUT /api/v1/billing/plan", "billing:manage", changePlan),
];
