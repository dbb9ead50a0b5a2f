// In-app experiences that are published, paused, resumed and ended while readers look.
import { MINUTE, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { insist, populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { Experience, Person } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 14 * MINUTE;
const ROUTE = "/api/v1/in-app/experiences";
const LIST = "GET /v1/in-app/messages";

export const experiences: Scenario = {
  name: "experiences",
  start: async (world) => {
    const { random } = world;
    const tenant = await world.tenant();
    const people = await populate(world, tenant, random.between(2, 9));
    for (let n = random.between(1, 2); n > 0; n--)
      world.act(random.between(0, 5 * MINUTE), () => lifeOfAnExperience(world, tenant));
    for (let n = random.between(6, 14); n > 0; n--)
      world.act(random.between(MINUTE, BUSY_MS + 6 * MINUTE), () => look(world, tenant, random.pick(people)));
  },
};

async function lifeOfAnExperience(world: SimWorld, tenant: Tenant): Promise<void> {
  const { random, kernel, ledger } = world;
  const startsIn = random.chance(0.4) ? random.between(SECOND, 4 * MINUTE) : undefined;
  const endsIn = random.chance(0.4) ? random.between(5, 15) * MINUTE : undefined;
  const body = {
    name: `Sale ${random.bytes(4).toString("hex")}`,
    format: "banner",
    content: { title: "Sale", body: "20% off" },
    audience: { type: "all" },
    ...(startsIn !== undefined && { start_at: timestamp(kernel.now() + startsIn) }),
    ...(endsIn !== undefined && { end_at: timestamp(kernel.now() + endsIn) }),
  };
  const { status, body: made } = await insist(world, tenant, "dashboard", `POST ${ROUTE}`, { body });
  if (status !== 201) return;
  const params = { id: String(made.id) };
  world.name(made.id, `experience-${ledger.experiences.size + 1}`);
  const record: Experience = {
    ...{ tenant: tenant.id, id: made.id },
    endsAt: endsIn === undefined ? undefined : Date.parse(made.end_at),
    hidings: [],
  };
  ledger.experiences.set(made.id, record);
  /** Requests to publish or resume it: how many are unanswered, and how many were begun. */
  const showing = { open: 0, begun: 0 };
  const act = async (action: string) => {
    const isHiding = action !== "resume" && action !== "publish";
    // From the request on, nothing is certain until the answer.
    const hiding = record.hidings.at(-1);
    if (hiding && !isHiding) hiding.to ??= kernel.now();
    if (isHiding) record.hidingAskedAt ??= kernel.now();
    else {
      showing.open++;
      showing.begun++;
    }
    const { open, begun } = showing;
    const answer = await insist(world, tenant, "dashboard", `POST ${ROUTE}/{id}/${action}`, { params });
    if (!isHiding) showing.open--;
    // If such a request overlaps with a pause, either of them may have been carried out last.
    const isLast = open === 0 && begun === showing.begun;
    if (answer.status === 200 && isHiding && isLast) record.hidings.push({ from: kernel.now(), to: undefined });
    if (answer.status === 200 && action === "end") record.endedAt ??= kernel.now();
  };
  await act("publish");
  for (let n = random.between(0, 2); n > 0; n--) {
    const at = random.between(0, 6 * MINUTE);
    world.act(at, () => act("pause"));
    world.act(at + random.between(SECOND, 5 * MINUTE), () => act("resume"));
  }
  if (random.chance(0.6)) world.act(random.between(0, BUSY_MS - 5 * MINUTE), () => act("end"));
}

/** A reader opens the app. */
async function look(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  const { kernel, ledger } = world;
  const startedAt = kernel.now();
  const query = { subscriber_id: person.id, limit: "200" };
  const { status, body } = await world.call(tenant, "sdk", LIST, { query });
  if (status !== 200) return;
  const messages = body.messages as { id: string; notification_id: string }[];
  ledger.peeks.push({ person: person.id, startedAt, at: kernel.now(), ids: messages.map(({ id }) => id) });
}
