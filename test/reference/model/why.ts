// Why one person got a send, a campaign or a journey, or did not (F2): what the answers about each of them say, in one call.
import { type Operation, ok, read } from "./access.ts";
import { explain } from "./explanations.ts";
import { journeyOfPerson } from "./journeys.ts";
import { ANY, type Body, invalid, type Request } from "./kit.ts";
import { existing, type World } from "./world.ts";

const SENDS: Record<string, (world: World, id: string) => string[]> = {
  send: (world, id) => [existing(world.jobs, id).id],
  campaign: (world, id) => existing(world.campaigns, id).messages.flatMap(({ job_id }) => job_id || []),
};

/** Of a person by id or external id. */
function why(world: World, { query: { person, ...asked } }: Request) {
  const [about, ...more] = Object.entries(asked);
  if (!about || more.length > 0) invalid("send");
  const subscriber = world.subscribers.find(({ id, external_id }) => [id, external_id].includes(person!));
  if (!subscriber) return invalid("person");
  const [kind, id] = about as [string, string];
  const of = { subscriber: { id: subscriber.id, name: subscriber.external_id }, about: { kind, id, name: ANY } };
  if (kind === "journey") return ok({ ...of, journey: journeyOfPerson(world, id, subscriber.id) });
  const sends: Body[] = SENDS[kind]!(world, id).map((job) => explain(world, existing(world.jobs, job), subscriber.id));
  return ok({ ...of, sends, journey: null });
}

export const whyOperations: Operation[] = [read("GET /api/v1/why", why)];
