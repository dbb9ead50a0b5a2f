// Upserts of subscribers: by the client itself, and by the workspace's backend.
import * as v from "valibot";
import { said } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { type Call, endpoints, type Shape } from "../../../shared/http/endpoint.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { plans } from "../../../shared/rules/plans.ts";
import { audienceSize, secrets, workspaceRead } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { refuseLargeProfile } from "../../../shared/store/subscribers/profile-sizes.ts";
import { Subscriber, upsertSubscriber } from "../../../shared/store/subscribers/subscribers.ts";
import { userHash } from "../../../shared/store/workspaces/identity-keys.ts";
import { changeOf, consentOf, Upsert } from "./input.ts";

/** Whether an upsert records a consent as well. */
const statesConsent = (body: unknown): boolean => typeof body === "object" && body !== null && "consent" in body;

const upserting = {
  summary: "Create or update a subscriber by external_id",
  body: Upsert,
  example: {
    body: { external_id: "ada", email: "ada@example.com", attributes: { first_name: "Ada", plan: "pro" } },
  },
  returns: Subscriber,
  errors: ["QUOTA_EXCEEDED"],
} as const satisfies Shape;

const upsertUses = [storeWrite, secrets, audienceSize, workspaceRead] as const;

/** A backend does not know the id of the service, so the signed external id is replaced by its hash. */
const ownUpserting = {
  ...upserting,
  returns: v.object({
    ...Subscriber.entries,
    user_hash: said("`X-User-Hash` of `id`, where the workspace demands signed ids", v.optional(v.string())),
  }),
} as const satisfies Shape;

type UpsertCall = Context<typeof upsertUses> & Pick<Call<typeof upserting>, "caller" | "body">;

/**
 * Creates the subscriber of an external id, or changes it.
 * @throws 402 beyond the plan's subscribers, 422 for an invalid consent, or a profile too large for the publishable key
 */
async function upsert({ store, secrets, audienceSize, workspace, caller, body }: UpsertCall) {
  const { external_id, consent, ...change } = body;
  const asserted = consent && (await consentOf({ store, workspace }, consent, "consent."));
  const isPublishable = caller.kind === "sdk";
  const input = { external_id, ...changeOf(change), consent: asserted, isPublishable };
  if (isPublishable) refuseLargeProfile(input.attributes);
  const cap = await audienceSize.capOf(plans[workspaceOf(caller).plan].subscribers);
  return upsertSubscriber(store, await secrets.root(), input, cap);
}

const endpoint = endpoints({ credentials: ["sdk"], uses: upsertUses });

export const upserts = [
  endpoint("POST /api/v1/subscribers/upsert", { consents: statesConsent }, ownUpserting, async (call) => {
    const subscriber = await upsert(call);
    const { tenant, identity } = workspaceOf(call.caller);
    const key = identity.isDemanded ? identity.keys.at(-1) : undefined;
    return key === undefined
      ? subscriber
      : { ...subscriber, user_hash: userHash(await call.secrets.root(), tenant, key, subscriber.id) };
  }),

  endpoint(
    "POST /v1/subscribers/upsert",
    {
      credentials: ["server"],
      scope: "subscribers:write",
      unaudited: ["server"],
      consents: statesConsent,
    },
    upserting,
    upsert,
  ),
];
