// What happened when, noted by users and by the service itself (ANN, D-ANNAUTO).
import { created, type Operation, ok, read, write } from "./access.ts";
import { requiredText } from "./checks.ts";
import { ABSENT, ANY, type Body, instant, invalid, iso, notFound, OrderedBy, Refusal, type Request } from "./kit.ts";
import { limits, periodOf, usedSends } from "./plans.ts";
import { newId, type World } from "./world.ts";

/** Of what the service notes by itself: what no program makes, and why a send failed, has tests of its own. */
export const NOTED = [
  ...["plan_change", "campaign_released", "campaign_paused", "journey_activated", "journey_paused", "custom"],
  ...["experience_published", "experience_ended", "import_completed", "webhook_disabled"],
];

/** What it says is not promised. */
export function note(world: World, kind: string, ref_id: Body = ABSENT, at = world.now): void {
  const said = { source: "auto", kind, ref_id, text: ANY, created_by: null };
  world.annotations.push({ at, record: recordOf(world, said, at) });
}

const recordOf = (world: World, said: Body, at = world.now): Body => ({
  ...{ id: newId(world, "note"), visibility: "tenant", ends_at: ABSENT, created_at: iso(world.now), ...said },
  occurred_at: iso(at),
});

const SHARES = [95, 80];

/** F25: once in a period for each limit, and each share of it. A higher limit is another one. */
export function warnOfSends(world: World): void {
  const used = usedSends(world);
  for (const [of, max] of Object.entries({ plan: limits(world.plan).sends, cap: world.monthly_send_cap })) {
    const from = SHARES.map((share) => (max * share) / 100).find((share) => max > 0 && used >= share);
    const name = `${of} ${periodOf(world.now)[0]}`;
    if (from === undefined || (world.warned[name] ?? 0) >= from) continue;
    world.warned[name] = from;
    note(world, "quota_warning");
  }
}

/** ANN-2: what begins within it or reaches into it, oldest first, both ends included. */
function list(world: World, { query }: Request) {
  const [from, to] = [instant(query.from) ?? invalid("from"), instant(query.to) ?? invalid("to")];
  if (to < from) invalid("to");
  const kinds = query.kinds?.split(",");
  const rows = world.annotations.filter(
    ({ at, record }) =>
      at <= to && Math.max(at, instant(record.ends_at) ?? at) >= from && (!kinds || kinds.includes(record.kind)),
  );
  const items = rows.map(({ record }) => record);
  return ok({
    annotations: new OrderedBy(
      items.toSorted((a, b) => Date.parse(a.occurred_at) - Date.parse(b.occurred_at)),
      ({ occurred_at }) => occurred_at,
    ),
  });
}

/** ANN-3. */
function create(world: World, { body }: Request) {
  const at = instant(body.occurred_at) ?? invalid("occurred_at");
  if (at < 0) invalid("occurred_at");
  const ends = body.ends_at === undefined ? null : (instant(body.ends_at) ?? invalid("ends_at"));
  const text = requiredText(body, "text", 500);
  if (ends !== null && ends < at) invalid("ends_at");
  const said = { source: "manual", kind: "custom", text, created_by: ANY, ref_id: ABSENT };
  const record = recordOf(world, { ...said, ends_at: ends === null ? ABSENT : iso(ends) }, at);
  world.annotations.push({ at, record });
  return created(record);
}

/** ANN-5, AMB-33. */
function remove(world: World, _: Request, { id }: Record<string, string>) {
  const row = world.annotations.find(({ record }) => record.id === id) ?? notFound();
  if (row.record.source === "auto") throw new Refusal(403, { code: "FORBIDDEN" });
  world.annotations = world.annotations.filter((other) => other !== row);
  return { status: 204 };
}

export const annotationOperations: Operation[] = [
  read("GET /api/v1/annotations", list),
  write("POST /api/v1/annotations", "insights:write", create),
  write("DELETE /api/v1/annotations/:id", "insights:write", remove),
];
