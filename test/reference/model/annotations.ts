// Chart annotations (ANN, D-ANNAUTO, AMB-33).
import type { Operation } from "./access.ts";
import { read, write } from "./access.ts";
import { optionalInstant, optionalOneOf, requiredText } from "./checks.ts";
import { ABSENT, type Body, instant, invalid, iso, Refusal, type Request, Unordered } from "./kit.ts";
import type { Annotation } from "./records/plans.ts";
import { existing, newId, type World } from "./world.ts";

const record = (row: Annotation): Body => ({
  ...{ id: row.id, text: row.text, source: row.source, kind: row.kind, visibility: row.visibility },
  ...{ occurred_at: iso(row.occurred_at), ends_at: row.ends_at === null ? ABSENT : iso(row.ends_at) },
  created_at: iso(row.created_at),
});

function create(world: World, { body }: Request) {
  const occurred_at = instant(body.occurred_at) ?? invalid("occurred_at");
  requiredText(body, "text", 500);
  const ends_at = optionalInstant(body, "ends_at");
  optionalOneOf(body, "visibility", ["tenant", "agency_only"]);
  if (body.visibility === "agency_only") throw new Refusal(403, { code: "FORBIDDEN" });
  const row: Annotation = {
    ...{ id: newId(world, "annotation"), occurred_at, ends_at, text: body.text, source: "manual", kind: "custom" },
    ...{ visibility: "tenant", ref_id: null, created_at: world.now },
  };
  world.annotations.push(row);
  return { status: 201, body: record(row) };
}

/** Automatic ones come with what others do; here only those written by hand are compared. */
function list(world: World, { query }: Request) {
  const [from, to] = [instant(query.from), instant(query.to)];
  if (from === undefined || to === undefined || to < from) return invalid();
  const matching = world.annotations.filter(({ occurred_at }) => occurred_at >= from && occurred_at <= to);
  return { status: 200, body: { annotations: new Unordered(matching.map(record)) } };
}

function remove(world: World, _: Request, { id }: Record<string, string>) {
  const row = existing(world.annotations, id);
  world.annotations = world.annotations.filter((other) => other !== row);
  return { status: 204 };
}

export const annotationOperations: Operation[] = [
  read("GET /api/v1/annotations", list),
  write("POST /api/v1/annotations", "insights:write", create),
  write("DELETE /api/v1/annotations/:id", "insights:write", remove),
];
