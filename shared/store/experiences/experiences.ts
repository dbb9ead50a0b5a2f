// In-app experiences as they are authored (INX): a draft may change, whatever was published stays as it was.
import { timestamp } from "../../clock.ts";
import { ApiError, notFound } from "../../http/errors.ts";
import type { PageQuery } from "../../http/paging.ts";
import type { Store, StoreReader } from "../../resources.ts";
import type { ExperienceStatus } from "../../rules/experience-states.ts";
import { MAX_ENTRIES } from "../catalogue.ts";
import { absent, all, is } from "../conditions.ts";
import { keys } from "../keys.ts";
import { groupOf, targetExists } from "../lists/targets.ts";
import type { Item } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { countListed, listPage, statusIndexWrite } from "../roster.ts";
import type { InAppContent, Target } from "../sends/jobs.ts";

export const MAX_NAME_CHARACTERS = 200;
const DEFAULT_SPLIT = 50;
const MAX_ATTEMPTS = 10;

interface Arm {
  title: string;
  body?: string | undefined;
  image_url?: string | undefined;
}

/** What a person writes of an experience. */
export interface Authored {
  name: string;
  format: string;
  content: Arm & Pick<InAppContent, "actions">;
  display?: InAppContent["display"] | undefined;
  audience?: Target | undefined;
  start_at?: string | undefined;
  end_at?: string | undefined;
  variant_b?: Arm | undefined;
  split_percentage?: number | undefined;
  holdout_percentage: number;
}

export interface Experience extends Authored {
  id: string;
  status: ExperienceStatus;
  notification_id?: string | undefined;
  created_at: string;
  updated_at: string;
  archived_at?: string | undefined;
  /** Counts the changes, so that a move concerns what was looked at before it. */
  rev: number;
  /** A pause canceled its send: resuming sends anew (AMB-6). */
  canceled_send?: boolean | undefined;
}

type Maybe<T> = { [K in keyof T]?: T[K] | undefined };

type Input = Maybe<Authored> & Pick<Authored, "name" | "format" | "content">;

export interface ExperienceChange extends Maybe<Authored> {
  remove_variant_b?: boolean | undefined;
}

/** @throws 400 naming the field, 429 beyond 10,000 experiences. */
export async function createExperience(store: Store, input: Input): Promise<Experience> {
  if ((await countListed(store, "experience")) >= MAX_ENTRIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTRIES} experiences.`);
  const now = store.clock.now();
  const [created_at, updated_at] = [timestamp(now), timestamp(now)];
  const authored = await checked(store, { ...input, holdout_percentage: input.holdout_percentage ?? 0 });
  const id = store.ids.uuidAt(now);
  const experience: Experience = { ...authored, id, status: "draft", created_at, updated_at, rev: 1 };
  await store.transact([
    { put: itemOf(store, experience), when: absent() },
    statusIndexWrite(store, "experience", id, experience.status),
  ]);
  return experience;
}

/** @throws 404, also for another workspace's experience. */
export async function getExperience(store: StoreReader, id: string): Promise<Experience> {
  const item = await store.get(keys.entity(store.tenant, "experience", id));
  if (!item) throw notFound("experience");
  return experienceOf(item);
}

/** INX-23: newest first. */
export async function listExperiences(
  store: StoreReader,
  query: PageQuery & { status?: ExperienceStatus | undefined },
): Promise<{ items: Experience[]; total: number }> {
  const { items, total } = await listPage(store, "experience", query);
  return { items: items.map(experienceOf), total };
}

/** INX-25 to INX-29: each block that is given replaces its whole block. @throws 400 naming the field, 404, 422. */
export async function updateExperience(store: Store, id: string, change: ExperienceChange): Promise<Experience> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const current = await getExperience(store, id);
    if (current.status !== "draft")
      throw new ApiError("VALIDATION_ERROR", `The experience is ${current.status}: only a draft can be changed.`);
    const authored = await checked(store, changed(current, change), change);
    const next = { ...current, ...authored, updated_at: timestamp(store.clock.now()), rev: current.rev + 1 };
    const isWritten = await store.put(itemOf(store, next), all(is("rev", current.rev), is("status", "draft"))).then(
      () => true,
      onConditionFailed(() => false),
    );
    if (isWritten) return next;
  }
  throw busy();
}

/** INX-39, INX-40: a new draft with what was authored, without the live window and the send. @throws 404, 429. */
export async function duplicateExperience(store: Store, id: string, name: string | undefined): Promise<Experience> {
  const { name: original, format, content, display, audience, ...rest } = await getExperience(store, id);
  const { variant_b, split_percentage, holdout_percentage } = rest;
  const copy = name ?? [...`Copy of ${original}`].slice(0, MAX_NAME_CHARACTERS).join("");
  const authored = { format, content, display, audience, variant_b, split_percentage, holdout_percentage };
  return createExperience(store, { ...authored, name: copy });
}

export const busy = () =>
  new ApiError("SERVICE_UNAVAILABLE", "Somebody else is changing this at the moment. Try again.");

/** A 400 that names the fields at fault (AMB-3). */
export function malformed(fields: Record<string, string>): ApiError {
  const [[name, reason] = ["body", "is invalid"]] = Object.entries(fields);
  return new ApiError("BAD_REQUEST", `${name}: ${reason}`, { fields });
}

/** The field to blame where the audience is a list or segment that is not there. */
export async function missingAudience(
  store: StoreReader,
  audience: Target | undefined,
): Promise<Record<string, string> | undefined> {
  const group = audience && groupOf(audience);
  if (!group || (await targetExists(store, audience))) return undefined;
  return { [`audience.${group.kind}_id`]: `no such ${group.kind} in this workspace` };
}

/** INX-26, INX-27: an empty time clears it; removing the B arm takes its share along. */
function changed(current: Experience, { remove_variant_b: removes = false, ...change }: ExperienceChange): Authored {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const { name, format, content, display, audience, start_at, end_at, variant_b, ...shares } = {
    ...current,
    ...(removes && { variant_b: undefined, split_percentage: undefined }),
    ...given,
  };
  const { split_percentage, holdout_percentage } = shares;
  const texts = { name, format, content, display, audience, variant_b };
  return {
    ...texts,
    split_percentage,
    holdout_percentage,
    start_at: start_at || undefined,
    end_at: end_at || undefined,
  };
}

/** What concerns more than one field, on the whole that a change would lead to. @throws 400 naming the field. */
async function checked(store: StoreReader, whole: Authored, change: ExperienceChange = whole): Promise<Authored> {
  const { start_at, end_at, variant_b, split_percentage } = whole;
  if (change.remove_variant_b && change.variant_b)
    throw malformed({ remove_variant_b: "must not be combined with variant_b" });
  if (start_at && end_at && end_at <= start_at) throw malformed({ end_at: "must be after start_at" });
  const missing = change.audience && (await missingAudience(store, whole.audience));
  if (missing) throw malformed(missing);
  return {
    ...whole,
    start_at: start_at || undefined,
    end_at: end_at || undefined,
    split_percentage: split_percentage ?? (variant_b && DEFAULT_SPLIT),
  };
}

const BLOCKS = ["content", "display", "audience", "variant_b"] as const;

/** Blocks are JSON text, the rest lies open (rule 13). */
function itemOf({ tenant }: Pick<Store, "tenant">, experience: Experience): Item {
  const blocks = BLOCKS.map((name) => [name, experience[name] && JSON.stringify(experience[name])]);
  const { content, display, audience, variant_b, ...plain } = experience;
  return { ...keys.entity(tenant, "experience", experience.id), ...plain, ...Object.fromEntries(blocks) };
}

export function experienceOf({ pk, sk, ...item }: Item): Experience {
  const blocks = BLOCKS.flatMap((name) => (item[name] === undefined ? [] : [[name, JSON.parse(String(item[name]))]]));
  return { ...item, ...Object.fromEntries(blocks) } as unknown as Experience;
}
