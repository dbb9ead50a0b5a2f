// An experience is shown while it is live and never else, its send stops with it, and one that is over has ended.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { inboxRow, isJob } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { Experience } from "../ledger.ts";
import { ask } from "../questions.ts";
import type { SimWorld } from "../world.ts";

const ROUTE = "GET /api/v1/in-app/experiences/{id}";
/** A worker that read the experience before it ended may still be at work. */
const UNDER_WAY_MS = 75 * SECOND;

type Broken = (text: string, ...entities: string[]) => void;

export const experiences: Invariant = {
  name: "experiences",
  watch: (world, broken) => {
    const { ledger, kernel } = world;
    /** The experience of each message. */
    const origins = new Map<string, { experience: string; person: string; at: number }>();
    return {
      commit: ({ pk, sk, before, after }) => {
        if (ledger.experiences.size === 0 || !after) return;
        const row = before === undefined ? inboxRow(pk, sk) : undefined;
        if (row && typeof after.experience === "string")
          origins.set(row.message, { experience: after.experience, person: row.subscriber, at: kernel.now() });
        if (!isJob(pk) || before?.status !== "scheduled" || after.status !== "queued") return;
        const endedAt = ledger.experiences.get(String(after.source_id))?.endedAt;
        if (endedAt !== undefined) broken(`${after.id} was fired after its experience ended`, String(after.id));
      },
      end: async () => {
        for (const { person, startedAt, at, ids } of ledger.peeks) {
          for (const id of ids) {
            const experience = ledger.experiences.get(origins.get(id)?.experience ?? "");
            if (experience && isHidden(world, experience, startedAt, at))
              broken(`${person} was shown ${id} of an experience that was not live`, person, experience.id);
          }
          for (const [id, origin] of origins) {
            const experience = ledger.experiences.get(origin.experience);
            if (!experience || origin.person !== person || origin.at >= startedAt || ids.includes(id)) continue;
            if (isSurelyLive(world, experience, at)) broken(`${person} was not shown ${id}`, person, experience.id);
          }
        }
        for (const experience of ledger.experiences.values()) await checkEnd(world, experience, broken);
      },
    };
  },
};

function isHidden({ profile }: SimWorld, { hidings, endedAt, endsAt }: Experience, from: number, to: number): boolean {
  if (endedAt !== undefined && endedAt < from) return true;
  if (endsAt !== undefined && profile.name === "calm" && endsAt + UNDER_WAY_MS < from) return true;
  return hidings.some((hiding) => hiding.from < from && (hiding.to === undefined || hiding.to > to));
}

const isSurelyLive = ({ profile }: SimWorld, { hidingAskedAt, endsAt }: Experience, to: number): boolean =>
  (hidingAskedAt === undefined || hidingAskedAt > to) && (endsAt === undefined || endsAt - 2 * profile.skewMs > to);

async function checkEnd(world: SimWorld, experience: Experience, broken: Broken): Promise<void> {
  const { ledger, kernel } = world;
  const { id, endedAt, endsAt } = experience;
  const tenant = ledger.tenants.get(experience.tenant)!;
  const { status, body: shown } = await ask(world, tenant, ROUTE, { params: { id } });
  if (status !== 200) return;
  const isOver = endedAt !== undefined || (endsAt !== undefined && endsAt < kernel.now());
  if (isOver && shown.status !== "ended" && shown.status !== "draft")
    broken(`experience ${id} is ${shown.status} and is over`, id);
}
