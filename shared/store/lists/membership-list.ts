// The members of a list or segment as a client pages through them (AMB-72, LIM-8).
import * as v from "valibot";
import { cursorsOf, MAX_PER_PAGE } from "../../contract/paging.ts";
import { Timestamp, Uuid } from "../../contract/schemas.ts";
import type { StoreReader } from "../context.ts";
import type { RootSecrets } from "../secrets.ts";
import { listSubscribers } from "../subscribers/list.ts";
import { getProfiles, nameOf, PersonName } from "../subscribers/subscribers.ts";
import { type Group, Member, memberKey } from "./items.ts";
import { memberPage } from "./memberships.ts";

/** The schema of a page of members; each group of endpoints has its own, as the reference names them apart. */
export const memberList = () =>
  v.object({
    items: v.array(
      v.object({
        subscriber_id: v.string(),
        external_id: v.string(),
        name: PersonName,
        entered_at: Timestamp,
      }),
    ),
    next_cursor: v.string(),
  });
type MemberList = v.InferOutput<ReturnType<typeof memberList>>;

/** The members of a list among the results of a search. A page may be short. @throws 422 for an invalid cursor. */
export async function findMembers(
  store: StoreReader,
  secrets: RootSecrets,
  list: string,
  query: { q: string; cursor?: string | undefined },
  region: () => Promise<string | null | undefined>,
): Promise<MemberList> {
  const { items, next_cursor } = await listSubscribers(store, secrets, { ...query, limit: MAX_PER_PAGE }, region);
  const keys = items.map(({ id }) => memberKey({ kind: "list", id: list }, id));
  const rows = await store.getAll(Member, keys);
  const members = items.flatMap(({ id: subscriber }, i) => {
    const row = rows[i];
    return row ? [{ subscriber, entered_at: row.entered_at }] : [];
  });
  return { items: await named(store, members), next_cursor };
}

/** A page in the order of the ids, without subscribers that are being erased. @throws 422 for an invalid cursor. */
export async function listMembers(
  store: StoreReader,
  secrets: RootSecrets,
  group: Group,
  cursor: string | undefined,
): Promise<MemberList> {
  const cursors = cursorsOf(secrets, `members:${store.tenant}:${group.id}`, Uuid);
  const { members, next } = await memberPage(store, group, { after: cursors.open(cursor), limit: MAX_PER_PAGE });
  return { items: await named(store, members), next_cursor: cursors.seal(next) };
}

async function named(
  store: StoreReader,
  members: readonly { subscriber: string; entered_at: string }[],
): Promise<MemberList["items"]> {
  const ids = members.map(({ subscriber }) => subscriber);
  const profiles = await getProfiles(store, ids);
  return members.flatMap(({ subscriber, entered_at }, i) => {
    const profile = profiles[i];
    return profile
      ? [{ subscriber_id: subscriber, external_id: profile.external_id, name: nameOf(profile), entered_at }]
      : [];
  });
}
