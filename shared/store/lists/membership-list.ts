// The members of a list or segment as a client pages through them (AMB-72, LIM-8).
import * as v from "valibot";
import { MAX_PER_PAGE, openCursor, sealCursor } from "../../http/paging.ts";
import { Uuid } from "../../http/schemas.ts";
import type { StoreReader } from "../../resources.ts";
import type { RootSecrets } from "../secrets.ts";
import { getProfiles } from "../subscribers/subscribers.ts";
import { type Group, memberPage } from "./memberships.ts";

/** A page in the order of their ids; whoever is being erased at the moment is left out. @throws 422 for a bad cursor. */
export async function membersOf(store: StoreReader, secrets: RootSecrets, group: Group, cursor: string | undefined) {
  const scope = `members:${store.tenant}:${group.id}`;
  const after = cursor === undefined ? undefined : v.parse(Uuid, openCursor(secrets, scope, cursor));
  const { members, next } = await memberPage(store, group, { after, limit: MAX_PER_PAGE });
  const profiles = await getProfiles(
    store,
    members.map(({ subscriber }) => subscriber),
  );
  return {
    items: members.flatMap(({ subscriber, entered_at }, i) => {
      const profile = profiles[i];
      return profile ? [{ subscriber_id: subscriber, external_id: String(profile.external_id), entered_at }] : [];
    }),
    next_cursor: next === undefined ? "" : sealCursor(secrets, scope, next),
  };
}
