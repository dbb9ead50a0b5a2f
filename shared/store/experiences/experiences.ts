// In-app experiences as authored (INX). Only a draft can be changed.
import { inOneAnswer, type PageQuery } from "../../contract/paging.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, conflict, malformed, requireFound } from "../../kernel/errors.ts";
import { withoutUndefined } from "../../kernel/objects.ts";
import type { ExperienceStatus } from "../../rules/experience-states.ts";
import type { Interaction } from "../../rules/interactions.ts";
import { absent, all, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { type EditResult, edited, outdated } from "../edits.ts";
import { type NewRowOf, putItem } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { groupOf, targetExists } from "../lists/targets.ts";
import { busy, contended, done, transacted, untilUncontended } from "../refusals.ts";
import { type InteractionTotals, interactionTotals } from "../sends/interactions/totals.ts";
import { listPage, removeListed, requireRoom, statusWrite } from "../status-index.ts";
import { ExperienceItem, type ExperienceRow } from "./items.ts";
import type { Experience } from "./shown.ts";

export const MAX_NAME_CHARACTERS = 200;
const DEFAULT_SPLIT = 50;

/** All fields but those that the service sets. */
type AuthoredFields = Omit<
  Experience,
  "id" | "status" | "notification_id" | "last_error" | "created_at" | "updated_at" | "archived_at"
>;

/** An experience with the fields that the API does not return. */
export interface ExperienceRecord extends Experience {
  version: number;
  canceled_send?: boolean | undefined;
}

type Maybe<T> = { [K in keyof T]?: T[K] | undefined };

type NewExperience = Maybe<AuthoredFields> & Pick<AuthoredFields, "name" | "format" | "content">;

interface ExperienceChange extends Maybe<AuthoredFields> {
  remove_variant_b?: boolean | undefined;
}

/**
 * Creates an experience. @param change its new fields; none for a copy @throws 400 naming the field, 429 beyond 10,000
 * experiences
 */
export async function createExperience(
  store: Store,
  input: NewExperience,
  change: ExperienceChange = input,
): Promise<ExperienceRecord> {
  await requireRoom(store, ExperienceItem, "experiences");
  const now = store.clock.now();
  const [created_at, updated_at] = [timestamp(now), timestamp(now)];
  const whole = { ...input, holdout_percentage: input.holdout_percentage ?? 0 };
  const authored = await checkAcrossFields(store, whole, change);
  const id = store.ids.uuidAt(now);
  const experience: ExperienceRecord = { ...authored, id, status: "draft", created_at, updated_at, version: 1 };
  await store.transact([
    putItem(ExperienceItem, { id }, newRowOf(experience), absent()),
    statusWrite(ExperienceItem, id, experience.status),
  ]);
  return experience;
}

/** Gets an experience. @throws 404, also for another workspace's experience */
export async function getExperience(store: StoreReader, id: string): Promise<ExperienceRecord> {
  return requireFound(await findExperience(store, id), "experience");
}

export async function findExperience(store: StoreReader, id: string): Promise<ExperienceRecord | undefined> {
  const row = await store.get(ExperienceItem, { id });
  return row && experienceOf(row);
}

/** Lists experiences, newest first (INX-23). */
export async function listExperiences(
  store: StoreReader,
  query: PageQuery & { status?: ExperienceStatus | undefined },
): Promise<{ items: ExperienceRecord[]; total: number }> {
  const { rows, total } = await listPage(store, ExperienceItem, query);
  return { items: inOneAnswer(rows.map(experienceOf)), total };
}

/**
 * Changes an experience (INX-25 to INX-29): each given block replaces the whole stored block. @param seen only if it
 * still has this version @throws 400 naming the field, 404, 422
 */
export async function updateExperience(
  store: Store,
  id: string,
  change: ExperienceChange,
  seen?: number,
): Promise<EditResult<ExperienceRecord>> {
  return untilUncontended<EditResult<ExperienceRecord>>(changedByOthers, async () => {
    const current = await getExperience(store, id);
    if (seen !== undefined && current.version !== seen) return done(outdated);
    if (current.status !== "draft")
      throw new ApiError("VALIDATION_ERROR", `The experience is ${current.status}: only a draft can be changed.`);
    const authored = await checkAcrossFields(store, changed(current, change), change);
    const next = { ...current, ...authored, updated_at: timestamp(store.clock.now()), version: current.version + 1 };
    const isUnchanged = all(is("rev", current.version), is("status", "draft"));
    const isWritten = await transacted(store, [putItem(ExperienceItem, { id }, newRowOf(next), isUnchanged)]);
    return isWritten ? done(edited(next)) : contended;
  });
}

/**
 * Copies the authored fields into a new draft, without the live window and the send (INX-39, INX-40). @throws 404, 429
 */
export async function duplicateExperience(
  store: Store,
  id: string,
  name: string | undefined,
): Promise<ExperienceRecord> {
  const original = await getExperience(store, id);
  const authored = {
    name: name ?? [...`Copy of ${original.name}`].slice(0, MAX_NAME_CHARACTERS).join(""),
    format: original.format,
    content: original.content,
    display: original.display,
    audience: original.audience,
    variant_b: original.variant_b,
    split_percentage: original.split_percentage,
    holdout_percentage: original.holdout_percentage,
  };
  return createExperience(store, authored, {});
}

/** Deletes a draft. @throws 404, 409 if it is not a draft */
export async function deleteDraft(store: Store, id: string): Promise<void> {
  const removed = await removeListed(store, ExperienceItem, id, is("status", "draft"));
  if (removed === "removed") return;
  const { status } = await getExperience(store, id);
  throw conflict(`The experience is ${status}: only a draft can be deleted.`);
}

export const changedByOthers = busy.unavailable("Somebody else is changing this at the moment. Try again.");

/** The faulty field if the audience is a list or segment that does not exist. */
export async function missingAudience(
  store: StoreReader,
  audience: Experience["audience"],
): Promise<Record<string, string> | undefined> {
  const group = audience && groupOf(audience);
  if (!group || (await targetExists(store, audience))) return undefined;
  return { [`audience.${group.kind}_id`]: `no such ${group.kind} in this workspace` };
}

/** Applies a change: an empty time clears it, and removing the B arm removes its share too (INX-26, INX-27). */
const changed = (current: Experience, { remove_variant_b = false, ...change }: ExperienceChange): AuthoredFields => ({
  ...current,
  ...(remove_variant_b && { variant_b: undefined, split_percentage: undefined }),
  ...withoutUndefined(change),
});

/** Checks the rules across fields on the result of a change. @throws 400 naming the field. */
async function checkAcrossFields(
  store: StoreReader,
  whole: AuthoredFields,
  change: ExperienceChange,
): Promise<AuthoredFields> {
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

const newRowOf = ({
  content,
  display,
  audience,
  variant_b,
  version,
  ...plain
}: ExperienceRecord): NewRowOf<typeof ExperienceItem> => ({
  ...plain,
  rev: version,
  content: toJson(content),
  display: display && toJson(display),
  audience: audience && toJson(audience),
  variant_b: variant_b && toJson(variant_b),
});

const experienceOf = ({
  pk,
  sk,
  content,
  display,
  audience,
  variant_b,
  rev,
  ...plain
}: ExperienceRow): ExperienceRecord => ({
  ...plain,
  version: rev,
  content: fromJson(content),
  display: display && fromJson(display),
  audience: audience && fromJson(audience),
  variant_b: variant_b && fromJson(variant_b),
});

const ARMS = ["a", "b"] as const;

/**
 * The statistics of the send that publishing started, whose audience is the experience's (INX-41). Rates are 0 without
 * impressions. @throws 404
 */
export async function experienceStats(store: StoreReader, id: string) {
  const { status, notification_id, variant_b } = await getExperience(store, id);
  const totals = notification_id === undefined ? undefined : await interactionTotals(store, notification_id);
  const whole = countsOf(totals?.interactions);
  return {
    experience_id: id,
    status,
    ...whole,
    unique_reach: totals?.recipients.reached ?? 0,
    dismiss_rate: share(whole.dismissals, whole.impressions),
    ...(variant_b && { by_variant: ARMS.map((arm) => ({ variant_id: arm, ...countsOf(armOf(totals, arm)) })) }),
  };
}

const armOf = (totals: InteractionTotals | undefined, arm: string) => totals?.variants[arm]?.interactions;

function countsOf(reports: Record<Interaction, number> | undefined) {
  const impressions = reports?.inapp_impression ?? 0;
  const clicks = reports?.inapp_click ?? 0;
  return { impressions, clicks, dismissals: reports?.inapp_dismiss ?? 0, ctr: share(clicks, impressions) };
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
