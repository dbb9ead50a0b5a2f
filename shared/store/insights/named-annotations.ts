// Annotations with the names of their authors and of their subjects (F2).
import * as v from "valibot";
import { Named, NamedPerson } from "../../contract/named.ts";
import { said } from "../../contract/schemas.ts";
import type { StoreReader } from "../context.ts";
import { type NamedKind, namedKinds, namesOf } from "../names.ts";
import { Annotation } from "./annotations.ts";

export const NamedAnnotation = v.object({
  ...Annotation.entries,
  creator: said("Who wrote it; `null` for one of the service itself", v.nullable(NamedPerson)),
  subject: said(
    "What the service noted it of, with its kind and name; `null` for one that a user wrote",
    v.nullable(v.object({ kind: v.picklist(namedKinds), ...Named.entries })),
  ),
});
export type NamedAnnotation = v.InferOutput<typeof NamedAnnotation>;

/**
 * The kind of resource in `ref_id`, by the beginning of the annotation's kind. A brake halts a send, or a step of a
 * journey.
 */
const KINDS: readonly (readonly [string, readonly NamedKind[]])[] = [
  ["campaign_", ["campaign"]],
  ["journey_", ["journey"]],
  ["experience_", ["experience"]],
  ["channel_", ["channel"]],
  ["schedule_", ["schedule"]],
  ["webhook_", ["webhook"]],
  ["blast_", ["notification", "journey"]],
];

const wantedOf = ({ kind, ref_id: id }: Annotation): { kind: NamedKind; id: string }[] =>
  id === undefined ? [] : (KINDS.find(([start]) => kind.startsWith(start))?.[1] ?? []).map((of) => ({ kind: of, id }));

/** Adds names. @param memberName the name of a member; undefined for one who has left */
export async function withNames(
  store: StoreReader,
  annotations: readonly Annotation[],
  memberName: (user: string) => Promise<string | undefined>,
): Promise<NamedAnnotation[]> {
  const users = [...new Set(annotations.flatMap(({ created_by }) => created_by ?? []))];
  const [names, members] = await Promise.all([
    namesOf(store, annotations.flatMap(wantedOf)),
    Promise.all(users.map(async (id): Promise<[string, string | undefined]> => [id, await memberName(id)])),
  ]);
  const byUser = new Map(members);
  return annotations.map((annotation) => {
    const { created_by: by } = annotation;
    const found = wantedOf(annotation).map((annotated) => ({
      ...annotated,
      name: names.of(annotated.kind, annotated.id),
    }));
    return {
      ...annotation,
      creator: by === null ? null : { id: by, name: byUser.get(by) ?? null },
      subject: found.find(({ name }) => name !== null) ?? found[0] ?? null,
    };
  });
}
