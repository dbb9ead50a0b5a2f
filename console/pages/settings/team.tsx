// Members with their roles, and open invitations.
import type { TeamCreateInvitationBody, TeamMember } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { forms } from "../../app/forms.gen.ts";
import { useRows } from "../../app/rows.ts";
import { me } from "../../app/session.ts";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { Address, Time } from "../../components/page.tsx";
import { SchemaDialog } from "../../components/schema-dialog.tsx";

const roles: Record<TeamMember["role"], string> = {
  owner: "owner: everything, the plan too",
  admin: "admin: everything but the plan",
  marketer: "marketer: writes and sends",
  developer: "developer: channels, keys, webhooks",
  analyst: "analyst: conversions and annotations",
  viewer: "viewer: reads",
};

const isOwner = (): boolean => me.value?.role === "owner";

const givenRoles = () =>
  (Object.entries(roles) as [TeamMember["role"], string][])
    .filter(([value]) => value !== "owner" || isOwner())
    .map(([value, label]) => ({ value, label }));

/** Why the user may not change or remove this member, although their role may change members. */
function refusalOf({ role }: TeamMember, all: readonly TeamMember[]): string | undefined {
  if (role !== "owner") return undefined;
  if (!isOwner()) return "Only an owner may change or remove an owner.";
  return all.filter((one) => one.role === "owner").length < 2 ? "A workspace keeps at least one owner." : undefined;
}

export function Team() {
  const rows = useRows("team.listMembers", [], ({ items }) => items);
  return (
    <>
      <Collection
        noun="member"
        caption="Members"
        rows={rows}
        usual={3}
        keyOf={({ user_id }) => user_id}
        nameOf={({ name }) => name}
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "Email", isMinor: true, cell: ({ email }) => <Address of={email} /> },
          { title: "Role", isWord: true, cell: ({ role }) => role },
          { title: "Since", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        edit={{
          operation: "team.updateMember",
          isOff: (member) => refusalOf(member, rows.items) !== undefined,
          dialog: (member, close) => <RoleDialog member={member} close={close} />,
        }}
        remove={{
          operation: "team.deleteMember",
          verb: "Remove",
          refusal: (member) => refusalOf(member, rows.items),
          about: "Access ends at once. What they made stays.",
          typed: ({ email }) => email,
          act: "Remove from the workspace",
          said: ({ name }) => `${name} no longer has access.`,
        }}
      />
      <Invitations />
    </>
  );
}

/** Asked for with a button: arrow keys change a choice step by step, and a step is no decision. */
function RoleDialog({ member: { user_id, name, role }, close }: { member: TeamMember; close: () => void }) {
  const update = useAction("team.updateMember");
  const form = useFields({ role }, update);
  return (
    <ActionDialog
      title={`Role of ${name}`}
      form={form}
      submit="Change the role"
      refusal={form.values.role === role ? "Choose another role." : undefined}
      run={() => update.run(user_id, form.values)}
      said={() => `${name} is ${form.values.role} now.`}
      close={close}
    >
      <SelectField label="Role" {...form.field("role")} options={givenRoles()} />
    </ActionDialog>
  );
}

function Invitations() {
  const rows = useRows("team.listInvitations", [], ({ items }) => items);
  return (
    <Collection
      noun="invitation"
      card="Open invitations"
      rows={rows}
      usual={1}
      keyOf={({ id }) => id}
      nameOf={({ email }) => `the invitation of ${email}`}
      empty={{ title: "There are no open invitations." }}
      columns={[
        { title: "Email", cell: ({ email }) => <Address of={email} /> },
        { title: "Role", isWord: true, cell: ({ role }) => role },
        { title: "Expires", cell: ({ expires_at }) => <Time at={expires_at} /> },
      ]}
      add={{
        operation: "team.createInvitation",
        label: "Invite",
        isMinor: true,
        by: (close) => <Invite close={close} />,
      }}
      remove={{
        operation: "team.deleteInvitation",
        verb: "Withdraw",
        about: "Its link no longer works.",
        typed: () => undefined,
        act: "Withdraw it",
        said: () => "The invitation is withdrawn.",
      }}
    />
  );
}

function Invite({ close }: { close: () => void }) {
  const create = useAction("team.createInvitation");
  const { properties, ...schema } = forms["team.createInvitation"];
  const role = { enum: givenRoles().map(({ value }) => value) };
  return (
    <SchemaDialog
      title="Invite a colleague"
      close={close}
      schema={{ ...schema, properties: { ...properties, role } }}
      texts={{ email: { label: "Email" }, role: { label: "Role", options: roles } }}
      initial={{ role: "viewer" }}
      submit="Invite"
      action={create}
      run={async (values: TeamCreateInvitationBody) => {
        const done = await create.run(values);
        if (!done) return undefined;
        const { token } = done.answer;
        if (!token) return { kind: "said", text: "The invitation is sent." };
        const about = "Send your colleague this token: it works once, for seven days.";
        return { kind: "secret", title: "The invitation", about, text: token };
      }}
    />
  );
}
