// Creates workspaces, members and tokens directly, for the control surface and the demo.
import * as v from "valibot";
import { OperatorChange } from "../functions/operator/changes.ts";
import { operator } from "../functions/operator/index.ts";
import { agentScopes, type Role, roles } from "../shared/contract/roles.ts";
import { defaultPlan, secretsMaker, tokenSigner } from "../shared/http/signing.ts";
import { timestamp } from "../shared/kernel/clock.ts";
import type { Deps } from "../shared/kernel/deps.ts";
import { conflict, notFound, requireFound } from "../shared/kernel/errors.ts";
import type { TenantId } from "../shared/kernel/ids.ts";
import type { PlanName } from "../shared/rules/plans.ts";
import { secrets } from "../shared/store/capabilities.ts";
import { absent } from "../shared/store/conditions.ts";
import { platformWrite, storeWrite } from "../shared/store/context.ts";
import { uuidOfText } from "../shared/store/hash.ts";
import { putItem } from "../shared/store/item.ts";
import type { Value } from "../shared/store/model.ts";
import { transacted } from "../shared/store/refusals.ts";
import { type Subscriber, upsertSubscriber } from "../shared/store/subscribers/subscribers.ts";
import { hashPassword, register } from "../shared/store/workspaces/identity.ts";
import { MemberItem, MembershipItem, UserItem } from "../shared/store/workspaces/identity-items.ts";
import { WorkspaceItem } from "../shared/store/workspaces/items.ts";
import { createAgentKey, createServerKey } from "../shared/store/workspaces/keys.ts";
import { listMembers } from "../shared/store/workspaces/members.ts";
import { beginSession } from "../shared/store/workspaces/refresh.ts";
import { sdkKeyFor } from "../shared/store/workspaces/sdk-keys.ts";
import type { SendingSettings } from "../shared/store/workspaces/settings.ts";
import { sendingSettingsOf, type WorkspaceRow } from "../shared/store/workspaces/workspaces.ts";

export interface NewWorkspace {
  tenant_id: string;
  name: string;
  plan: PlanName;
  owner: { user_id: string; email: string; password: string };
  access_token: string;
  refresh_token: string;
  sdk_key: string;
  server_key: string;
  server_key_id: string;
  agent_key: string;
}

export const Text = v.pipe(v.string("must be a string"), v.nonEmpty("must not be empty"));

/** What the operator may change of a workspace. */
export const WorkspaceChange = v.omit(OperatorChange, ["tenant_id"]);

export const TokenRequest = v.strictObject({
  tenant_id: Text,
  role: v.optional(v.picklist(roles, `must be one of ${roles.join(", ")}`), "owner"),
  read_only: v.optional(v.boolean("must be true or false")),
  /** The agency whose member acts in the workspace. */
  agency_id: v.optional(Text),
});

export interface Tenancy {
  /** @param request.owner the password of its owner; by default a new one */
  createWorkspace(input: {
    name?: string | undefined;
    plan?: PlanName | undefined;
    owner?: OwnerPassword | undefined;
  }): Promise<NewWorkspace>;
  /** @throws 404. */
  changeWorkspace(tenant: string, change: v.InferOutput<typeof WorkspaceChange>): Promise<Record<string, Value>>;
  /** An access token of a member with the role. The member is created if there is none. @throws 404. */
  issueToken(input: v.InferOutput<typeof TokenRequest>): Promise<string>;
  upsertSubscriber(tenant: string, externalId: string, attributes: Record<string, Value>): Promise<Subscriber>;
  /** The quiet hours of a workspace; `null` if it has none. @throws 404. */
  quietHours(tenant: string): Promise<SendingSettings["quiet_hours"]>;
}

const SALT_BYTES = 16;
const PASSWORD_BYTES = 12;
const NAME_BYTES = 6;
const AGENT_KEY_DAYS = 365;
const NOBODY = "" as TenantId;

export interface OwnerPassword {
  password: string;
  /**
   * The password as it is stored. A start begins with the hashing, which takes a fifth of a second on another thread.
   */
  secret: Promise<string>;
}

export function newOwnerPassword(bytes: (count: number) => Buffer): OwnerPassword {
  const password = bytes(PASSWORD_BYTES).toString("base64url");
  return { password, secret: hashPassword(password, bytes(SALT_BYTES)) };
}

export function openTenancy(deps: Deps): Tenancy {
  const { ids, clock } = deps;
  const platform = platformWrite.open(deps)(NOBODY);
  const storeOf = storeWrite.open(deps);
  const signer = tokenSigner.open(deps)(NOBODY);
  const operate = operator.create(deps);
  const usualPlan = defaultPlan.open(deps)(NOBODY);
  const maker = secretsMaker.open(deps)(NOBODY);
  const root = () => secrets.open(deps)(NOBODY).root();
  const randomName = () => ids.bytes(NAME_BYTES).toString("hex");

  const requireWorkspace = async (tenant: string): Promise<WorkspaceRow> => {
    return requireFound(await platform.get(WorkspaceItem, { tenant }), "workspace");
  };

  const findMember = async (tenant: TenantId, role: Role): Promise<string | undefined> =>
    (await listMembers(platform, tenant)).find((member) => member.role === role)?.user_id;

  /** The id is derived from workspace and role, so that concurrent calls create one user. */
  const makeMember = async (tenant: TenantId, role: Role): Promise<string> => {
    const user = uuidOfText(`local member ${tenant} ${role}`);
    const email = `${role}-${user.slice(0, 8)}@example.com`;
    const created_at = timestamp(clock.now());
    const member = { user_id: user, tenant, role, email, name: role, created_at };
    await transacted(platform, [
      putItem(UserItem, { email }, { id: user, email, name: role, password: "", created_at }, absent()),
      putItem(MemberItem, { tenant, user }, member),
      putItem(MembershipItem, { user, tenant }, member),
    ]);
    return user;
  };

  return {
    createWorkspace: async ({ name = `Workspace ${randomName()}`, plan = usualPlan, owner }) => {
      await maker.ensure();
      const email = `owner-${randomName()}@example.com`;
      const { password, secret } = owner ?? newOwnerPassword(ids.bytes);
      const account = { email, secret: await secret, name: "Owner" };
      const registration = { ...account, workspace_name: name, plan, isConfirmed: true };
      const { user, tenant } = await register(platform, storeOf, registration);

      const agentKey = { name: "default", scopes: agentScopes, days: AGENT_KEY_DAYS };
      const [access_token, session, key, sdk_key, agent] = await Promise.all([
        signer.accessToken({ user: user.id, tenant, role: "owner" }),
        beginSession(platform, { user: user.id, tenant }),
        createServerKey(storeOf(tenant), platform, { name: "default" }),
        root().then((found) => sdkKeyFor(found, tenant)),
        createAgentKey(storeOf(tenant), platform, agentKey),
      ]);

      return {
        tenant_id: tenant,
        name,
        plan,
        owner: { user_id: user.id, email, password },
        access_token,
        refresh_token: session?.token ?? "",
        sdk_key,
        server_key: key.key,
        server_key_id: key.id,
        agent_key: agent.key,
      };
    },

    changeWorkspace: async (tenant, change) => {
      const answer = await operate({ tenant_id: tenant, ...change });
      if ("message" in answer) throw conflict(answer.message);
      if (!("workspace" in answer)) throw notFound("workspace");
      const { id, name, plan, kind, status, monthly_send_cap } = answer.workspace;
      return { tenant_id: id, name, plan, kind, status, monthly_send_cap, usage: answer.usage };
    },

    issueToken: async ({ tenant_id, role, read_only = false, agency_id }) => {
      const [, employer] = await Promise.all([requireWorkspace(tenant_id), requireWorkspace(agency_id ?? tenant_id)]);
      const user = (await findMember(employer.id, role)) ?? (await makeMember(employer.id, role));
      const subject = { user, tenant: tenant_id, role, readOnly: read_only || role === "viewer" };
      return signer.accessToken(agency_id === undefined ? subject : { ...subject, agency: agency_id });
    },

    upsertSubscriber: async (tenant, external_id, attributes) =>
      upsertSubscriber(storeOf(tenant as TenantId), await root(), { external_id, attributes }),

    quietHours: async (tenant) => sendingSettingsOf(await requireWorkspace(tenant)).quiet_hours,
  };
}
