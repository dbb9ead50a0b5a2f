// Members with their roles, and open invitations.
import { useState } from "preact/hooks";
import type { Invitation, TeamMember } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { may } from "../../app/may.ts";
import { useQuery } from "../../app/query.ts";
import { me } from "../../app/session.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Card, Code, Confirm, Dialog, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const STALE = ["team."];
type Role = TeamMember["role"];

const roles: readonly { value: Role; label: string }[] = [
  { value: "owner", label: "owner: everything, the plan too" },
  { value: "admin", label: "admin: everything but the plan" },
  { value: "marketer", label: "marketer: writes and sends" },
  { value: "developer", label: "developer: channels, keys, webhooks" },
  { value: "analyst", label: "analyst: conversions and annotations" },
  { value: "viewer", label: "viewer: reads" },
];

const roleLabels = Object.fromEntries(roles.map(({ value, label }) => [value, label]));
const schema = forms["team.createInvitation"];

const isOwner = (): boolean => me.value?.role === "owner";

/** The roles that the user may give. */
const givenRoles = () => roles.filter(({ value }) => value !== "owner" || isOwner());

/** Why the user may not change or remove this member, although their role may change members. */
function refusalOf({ role }: TeamMember, all: readonly TeamMember[]): string | undefined {
  if (role !== "owner") return undefined;
  if (!isOwner()) return "Only an owner may change or remove an owner.";
  return all.filter((one) => one.role === "owner").length < 2 ? "A workspace keeps at least one owner." : undefined;
}

export function Team() {
  const members = useQuery("team.listMembers", []);
  const update = useAction("team.updateMember", { stale: STALE });
  const remove = useAction("team.deleteMember", { stale: STALE });
  const [leaving, setLeaving] = useState<TeamMember>();
  const error = update.error ?? remove.error;
  const mayChange = may("team.updateMember").allowed;
  return (
    <>
      {error && <Failure error={error} />}
      <Loaded query={members} skeleton={<Skeleton table rows={3} />}>
        {({ items }) => (
          <Table
            caption="Members"
            rows={items}
            keyOf={({ user_id }) => user_id}
            columns={[
              { title: "Name", cell: ({ name }: TeamMember) => name },
              { title: "Email", cell: ({ email }: TeamMember) => email },
              {
                title: "Role",
                cell: (member: TeamMember) => {
                  const { user_id, name, role } = member;
                  const refusal = refusalOf(member, items);
                  return mayChange && !refusal ? (
                    <select
                      class="role"
                      aria-label={`Role of ${name}`}
                      value={role}
                      onInput={async (event) => {
                        const select = event.currentTarget;
                        const chosen = select.value as Role;
                        if (await update.run(user_id, { role: chosen })) say(`${name} is ${chosen} now.`);
                        else select.value = role;
                      }}
                    >
                      {givenRoles().map(({ value, label }) => (
                        <option key={value} value={value}>
                          {label}
                        </option>
                      ))}
                    </select>
                  ) : (
                    <span title={refusal}>{role}</span>
                  );
                },
              },
              { title: "Since", cell: ({ created_at }: TeamMember) => <Time at={created_at} /> },
              {
                title: "",
                cell: (member: TeamMember) => (
                  <Button
                    kind="quiet"
                    icon="trash"
                    label={`Remove ${member.name}`}
                    needs="team.deleteMember"
                    refusal={refusalOf(member, items)}
                    onClick={() => setLeaving(member)}
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <Invitations />
      {leaving && (
        <Confirm
          title={`Remove ${leaving.name}?`}
          name={leaving.email}
          act="Remove from the workspace"
          isBusy={remove.isBusy}
          close={() => setLeaving(undefined)}
          onConfirm={async () => {
            const done = await remove.run(leaving.user_id);
            setLeaving(undefined);
            if (done) say(`${leaving.name} has no access any more.`);
          }}
        >
          Access ends at once. What they made stays.
        </Confirm>
      )}
    </>
  );
}

function Invitations() {
  const open = useQuery("team.listInvitations", []);
  const create = useAction("team.createInvitation", { stale: STALE });
  const withdraw = useAction("team.deleteInvitation", { stale: STALE });
  const [isInviting, setInviting] = useState(false);
  const [leaving, setLeaving] = useState<Invitation>();
  const [token, setToken] = useState("");
  const close = () => {
    setInviting(false);
    setToken("");
  };
  return (
    <Card
      title="Open invitations"
      flush
      actions={
        <Button icon="plus" needs="team.createInvitation" onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      {withdraw.error && <Failure error={withdraw.error} />}
      <Loaded query={open} skeleton={<Skeleton table rows={1} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no open invitations." />
          ) : (
            <Table
              caption="Open invitations"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: "Email", cell: ({ email }) => email },
                { title: "Role", cell: ({ role }) => role },
                { title: "Valid until", cell: ({ expires_at }) => <Time at={expires_at} /> },
                {
                  title: "",
                  cell: (invitation) => (
                    <Button
                      kind="quiet"
                      icon="trash"
                      label={`Withdraw the invitation of ${invitation.email}`}
                      needs="team.deleteInvitation"
                      onClick={() => setLeaving(invitation)}
                    />
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {leaving && (
        <Confirm
          title={`Withdraw the invitation of ${leaving.email}?`}
          act="Withdraw it"
          isBusy={withdraw.isBusy}
          close={() => setLeaving(undefined)}
          onConfirm={async () => {
            const done = await withdraw.run(leaving.id);
            setLeaving(undefined);
            if (done) say("The invitation is withdrawn.");
          }}
        >
          Its token is no longer valid.
        </Confirm>
      )}
      {isInviting && (
        <Dialog title="Invite a colleague" close={close}>
          {token ? (
            <>
              <p>Send your colleague this token. It is shown only now, and works once, for seven days.</p>
              <Code text={token} />
            </>
          ) : (
            <SchemaForm
              cancel={close}
              schema={{
                ...schema,
                properties: { ...schema.properties, role: { enum: givenRoles().map(({ value }) => value) } },
              }}
              texts={{ email: { label: "Email" }, role: { label: "Role", options: roleLabels } }}
              initial={{ role: "viewer" }}
              submit="Invite"
              needs="team.createInvitation"
              action={create}
              onSubmit={async (values) => {
                // The schema of the API names what the form asks for, hence the cast.
                const done = await create.run(values as never);
                if (!done) return;
                if ("token" in done.answer && done.answer.token) return setToken(done.answer.token);
                say("The invitation is sent.");
                close();
              }}
            />
          )}
        </Dialog>
      )}
    </Card>
  );
}
