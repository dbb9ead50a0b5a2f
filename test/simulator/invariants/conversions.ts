// Every purchase is counted for exactly the sends whose window holds it: in the lift of a send for both groups from the
// time of its claim, in funnels and reports from the time at which a message was handed over (D-ATTRIB).
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { isHeldOut } from "../../../shared/rules/split.ts";
import type { Invariant } from "../invariant.ts";
import type { Definition, Purchase, Send } from "../ledger.ts";
import { ask } from "../questions.ts";
import type { Tenant } from "../tenants.ts";
import { heldOutOf, type Span, type Touches, touchesOf } from "../touches.ts";
import type { SimWorld } from "../world.ts";

/** What is handed over so much later than its round began is found for the purchases in between (they are looked at for 15). */
const LATE_MS = 10 * MINUTE;

interface Bounds {
  must: number;
  may: number;
}

export const conversions: Invariant = {
  name: "conversions",
  watch: (world, broken) => {
    const touches = touchesOf(world);
    return {
      end: async () => {
        for (const [id, definition] of world.ledger.definitions) {
          const tenant = world.ledger.tenants.get(id)!;
          const check = (what: string, shown: number, { must, may }: Bounds, of: string) => {
            if (shown < must || shown > may)
              broken(`${of} shows ${what} ${shown}, the purchases ${must} to ${may}`, of);
          };
          for (const [job, send] of world.ledger.byJob)
            if (send.tenant === id) await checkLift(world, touches, { tenant, job, definition }, check);
          for (const campaign of world.ledger.campaigns.values())
            if (campaign.tenant === id) await checkReport(world, touches, { tenant, campaign, definition }, check);
        }
      },
    };
  },
};

type Check = (what: string, shown: number, bounds: Bounds, of: string) => void;

async function checkLift(
  world: SimWorld,
  touches: Touches,
  { tenant, job, definition }: { tenant: Tenant; job: string; definition: Definition },
  check: Check,
): Promise<void> {
  const send = world.ledger.byJob.get(job)!;
  const { status, body: lift } = await ask(world, tenant, "GET /api/v1/insights/lift", { query: { job_id: job } });
  const claimed = touches.claimed(job);
  if (status !== 200 || !claimed) return;
  const treated = [...touches.treated(job)];
  const lasting = treated.filter((id) => !isErased(world, id));
  /** A chunk that a crash interrupts is known to concern its remaining recipients only when it goes on. */
  const known = (person: string) => (world.profile.crash > 0 ? (touches.first(job, person) ?? claimed.to) : claimed.to);
  /** Who waits is recorded with the first claim where there is a control group to compare with (AMB-110). */
  const isRecorded = send.holdout > 0;
  const assigned = (person: string) => (isRecorded ? claimed.to : (touches.begun(job, person) ?? claimed.to));
  const spanOf = (person: string) =>
    waitedFor(world, person, { from: claimed.from, to: assigned(person), doneBy: known(person), isSure: true });
  const bounds = (people: readonly string[]) => converters(world, people, (person) => [spanOf(person)], definition);
  const { must } = bounds(lasting);
  const { may } = bounds(treated);
  // A subscriber stopped by a cap was assigned all the same.
  const { may: mayBeCapped } = bounds(
    world.ledger.manners.get(tenant.id)?.cap === undefined ? [] : everybodyOf(world, send),
  );
  check("treated converters", lift.treated.converters, { must, may: Math.max(may, mayBeCapped) }, job);
  for (const { size, converters: n } of [lift.treated, lift.holdout])
    check("converters", n, { must: 0, may: size }, job);
  const { must: sure } = bounds(heldOutOf(world, job, send));
  const { may: possible } = bounds(everybodyOf(world, send).filter((id) => isHeldOut(job, id, send.holdout)));
  check("converters held out", lift.holdout.converters, { must: sure, may: possible }, job);
}

async function checkReport(
  world: SimWorld,
  touches: Touches,
  {
    tenant,
    campaign,
    definition,
  }: { tenant: Tenant; campaign: { id: string; jobs: string[] }; definition: Definition },
  check: Check,
): Promise<void> {
  const { id, jobs } = campaign;
  const { status, body: report } = await ask(world, tenant, "GET /api/v1/campaigns/{id}/report", { params: { id } });
  if (status !== 200) return;
  const people = [...new Set(jobs.flatMap((job) => [...touches.treated(job)]))];
  const spansOf = (person: string) =>
    jobs.flatMap((job) => touches.deliveries(job, person)).map((span) => waitedFor(world, person, span));
  check("converted", report.converted, converters(world, people, spansOf, definition), id);
  const counted = ofPeople(world, people).map((purchase) => ({
    cents: purchase.cents,
    ...within(spansOf(purchase.person), purchase, definition.windowMs),
  }));
  const sum = (cents: { cents: number }[]) => cents.reduce((total, one) => total + one.cents, 0);
  const revenue = { must: sum(counted.filter(({ must }) => must)), may: sum(counted.filter(({ may }) => may)) };
  check("revenue", report.revenue_cents, revenue, id);
}

const everybodyOf = ({ ledger }: SimWorld, { tenant }: Send): string[] =>
  [...ledger.people.values()].filter((person) => person.tenant === tenant).map(({ id }) => id);

const isErased = ({ ledger }: SimWorld, person: string) => ledger.people.get(person)?.erasingSince !== undefined;

/** What somebody bought who was erased in the meantime is not looked at again. */
const waitedFor = (world: SimWorld, person: string, span: Span): Span =>
  isErased(world, person) ? span : { ...span, doneBy: span.doneBy - LATE_MS };

const ofPeople = ({ ledger }: SimWorld, people: readonly string[]): Purchase[] =>
  ledger.purchases.filter(({ person }) => people.includes(person));

/** How many bought something in the window of a touch. */
function converters(
  world: SimWorld,
  people: readonly string[],
  spansOf: (person: string) => readonly Span[],
  { windowMs }: Definition,
): Bounds {
  const bounds = { must: 0, may: 0 };
  for (const person of people) {
    const found = ofPeople(world, [person]).map((purchase) => within(spansOf(person), purchase, windowMs));
    if (found.some(({ must }) => must)) bounds.must++;
    if (found.some(({ may }) => may)) bounds.may++;
  }
  return bounds;
}

const within = (spans: readonly Span[], { at, isAnonymous }: Purchase, windowMs: number) => ({
  must: spans.some(({ from, to, doneBy, isSure }) => {
    const known = isAnonymous ? doneBy + LATE_MS : doneBy;
    return isSure && Math.max(to, known) <= at && at <= from + windowMs;
  }),
  may: spans.some(({ from, to }) => from <= at && at <= to + windowMs),
});
