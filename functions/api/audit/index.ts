// The audit trail: who changed what, and the proof that no entry was rewritten (RDA-23).
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, limit } from "../../../shared/contract/paging.ts";
import { said, TimestampInput } from "../../../shared/contract/schemas.ts";
import { requirePeriod } from "../../../shared/contract/window.ts";
import { requireUser } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { AuditEntryShape, AuditPosition, listAudit } from "../../../shared/store/audit/list.ts";
import { auditKey } from "../../../shared/store/audit/macs.ts";
import { AuditVerdict, VerifyPosition, verifyAudit } from "../../../shared/store/audit/verify.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformRead, storeRead } from "../../../shared/store/context.ts";
import { invitedPeople } from "../../../shared/store/workspaces/invitations.ts";
import { memberName } from "../../../shared/store/workspaces/members.ts";

const MAX_FILTER_CHARACTERS = 128;

const filterField = (sentence: string) =>
  said(sentence, v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_FILTER_CHARACTERS))));

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeRead, secrets] });

export const audit = group("audit", "The audit trail: who changed what.", [
  endpoint(
    "GET /api/v1/audit",
    { uses: [platformRead] },
    {
      summary: "List the recorded calls, newest first",
      description:
        "Calls of users, of agent keys and of server keys that change something, with their outcomes: what is sent, " +
        "released, created, changed and deleted, consents, credentials, keys and the team. The sends of a server key are one " +
        "entry a quarter-hour, written when it is settled. Of clients, and of upserts by server keys, what states a " +
        "consent is in it; events are not. Bodies " +
        "are never recorded. Calls that a check refuses before they begin are not either. Entries are kept as long as " +
        "the workspace. A page may be short.",
      query: v.object({
        actor: filterField("Only calls of this user or key, by id"),
        action: filterField("Only this operation (`campaigns.release`), or all of a group (`campaigns`)"),
        from: said("Begun at this time or later", v.optional(TimestampInput)),
        to: said("Begun at this time or earlier", v.optional(TimestampInput)),
        limit: limit(50, 100),
        cursor,
      }),
      returns: cursorPage(AuditEntryShape),
    },
    async ({ store, secrets, platform, tenant, caller, query: { limit, cursor, ...filter } }) => {
      requirePeriod(filter);
      const { agency } = requireUser(caller);
      const cursors = cursorsOf(await secrets.root(), `audit:${store.tenant}`, AuditPosition);
      const { items, next } = await listAudit(store, filter, {
        position: cursors.open(cursor),
        limit,
        memberName: (user) => memberName(platform, { tenant, agency }, user),
        invited: () => invitedPeople(platform, tenant),
      });
      return { items, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "POST /api/v1/audit/verify",
    { effect: "read" },
    {
      summary: "Verify that no entry was changed or removed",
      description:
        "Each entry holds the MAC of the one before it, and the ends are sealed. A call verifies 10,000 entries, and fewer " +
        "where they seal sends; while `next_cursor` is not empty, call again with it. Verification stops at the first " +
        "broken entry.",
      body: v.strictObject({
        cursor: said("`next_cursor` of the call before", cursor),
      }),
      returns: AuditVerdict,
      example: { body: {} },
    },
    async ({ store, secrets, body: { cursor } }) => {
      const root = await secrets.root();
      const cursors = cursorsOf(root, `audit-verify:${store.tenant}`, VerifyPosition);
      const from = cursors.open(cursor || undefined);
      const { verified, broken, next } = await verifyAudit(store, auditKey(root, store.tenant), from);
      return { valid: broken === null, verified, broken, next_cursor: cursors.seal(next) };
    },
  ),
]);
