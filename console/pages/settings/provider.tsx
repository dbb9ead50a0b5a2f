// The identity provider of the workspace: where it is, which domains it speaks for, and who becomes what.
import { useState } from "preact/hooks";
import type { IdentityProvider } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { type Fields, useFields } from "../../app/fields.ts";
import { useQuery } from "../../app/query.ts";
import { place } from "../../app/router.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Ask } from "../../components/dialog.tsx";
import { Check, SelectField, TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Card, Code } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";

type Role = NonNullable<IdentityProvider["default_role"]>;
const ROLES: readonly Role[] = ["admin", "marketer", "developer", "analyst", "viewer"];

export function Provider() {
  const found = useQuery("auth.getIdentityProvider", []);
  if (found.error?.status === 404)
    return (
      <>
        <Card title="At the provider">
          <BackTo address={`${location.origin}/console/signed-in/${place.value.tenant}`} />
        </Card>
        <Settings found={undefined} />
      </>
    );
  return (
    <Loaded query={found} skeleton={<Skeleton rows={6} />}>
      {(provider) => (
        <>
          <Domains found={provider} />
          <Settings found={provider} />
        </>
      )}
    </Loaded>
  );
}

const BackTo = ({ address }: { address: string }) => (
  <>
    <p>At the provider, allow this redirect address for the client, and no other:</p>
    <Code text={address} />
  </>
);

function Domains({ found: { domains, redirect_uri } }: { found: IdentityProvider }) {
  const open = domains.filter(({ proven }) => !proven);
  return (
    <Card title="At the provider and in the DNS">
      <BackTo address={redirect_uri} />
      {open.map(({ domain, record_name, record_value }) => (
        <div key={domain}>
          <p>{domain} is not proven yet. Add a TXT record with this name and this text to its DNS, then save again:</p>
          <Code text={record_name} />
          <Code text={record_value} />
        </div>
      ))}
      {open.length === 0 && <p class="dim">Proven: {domains.map(({ domain }) => domain).join(", ")}.</p>}
    </Card>
  );
}

function Settings({ found }: { found: IdentityProvider | undefined }) {
  const set = useAction("auth.replaceIdentityProvider");
  const [isRemoving, setRemoving] = useState(false);
  const form = useFields(() => draftOf(found), set);
  const save = async () => {
    const { client_secret, domains, default_role, groups_claim, group_roles, ...rest } = form.values;
    const body = {
      ...rest,
      ...(client_secret && { client_secret }),
      domains: domains.split(/[\s,]+/).filter(Boolean),
      default_role: default_role === "none" ? null : default_role,
      groups_claim: groups_claim || null,
      group_roles: group_roles.split("\n").filter(Boolean).map(groupOf),
    };
    const done = await set.run(body);
    if (done) say("Saved.");
  };
  return (
    <>
      <Form error={set.error} kind="settings" onSubmit={save}>
        <div class="grid">
          <Client form={form} isStored={found?.has_client_secret ?? false} />
          <Roles form={form} />
        </div>
        <FormEnd action={set} placed={form.placed} submit="Save">
          {found && (
            <Button needs="auth.deleteIdentityProvider" onClick={() => setRemoving(true)}>
              Remove the provider
            </Button>
          )}
        </FormEnd>
      </Form>
      {isRemoving && (
        <Ask
          title="Remove the identity provider?"
          operation="auth.deleteIdentityProvider"
          given={[]}
          act="Remove the provider"
          said="Removed. Members sign in with passwords."
          close={() => setRemoving(false)}
        >
          Sessions that began there end. Members sign in with passwords. Anyone without one asks for it on the sign-in
          page.
        </Ask>
      )}
    </>
  );
}

interface PartProps {
  form: Fields<Draft>;
}

/** @param isStored whether the service has a secret already */
function Client({ form: { field }, isStored }: PartProps & { isStored: boolean }) {
  return (
    <Card title="Identity provider">
      <p class="dim">Members sign in at your company's provider, by OpenID Connect. Only owners change this.</p>
      <TextField label="Issuer" {...field("issuer")} required placeholder="https://login.example.com" />
      <TextField label="Client ID" {...field("client_id")} required />
      <TextField
        label="Client secret"
        type="password"
        autocomplete="off"
        {...field("client_secret")}
        hint={isStored ? "Stored. Leave it empty to keep the stored one." : "As the provider shows it."}
      />
      <TextField
        label="Domains of your members' addresses"
        {...field("domains")}
        required
        hint="With commas between."
      />
    </Card>
  );
}

function Roles({ form: { values, set, field } }: PartProps) {
  return (
    <Card title="Who becomes what">
      <SelectField
        label="New members become"
        {...field("default_role")}
        options={[
          { value: "none" as const, label: "none: they need an invitation or a group" },
          ...ROLES.map((value) => ({ value, label: value })),
        ]}
      />
      <TextField label="Claim with the groups (optional)" {...field("groups_claim")} />
      <TextField
        label="Roles of groups (optional)"
        rows={3}
        {...field("group_roles")}
        hint="A line for each: group = role. The first that fits counts."
      />
      <Check
        label="Members need the provider"
        note="Passwords no longer open the workspace, except for owners with a second factor. Sign in there first."
        checked={values.required}
        onInput={(required) => set({ required })}
      />
    </Card>
  );
}

const draftOf = (found: IdentityProvider | undefined) => ({
  issuer: found?.issuer ?? "",
  client_id: found?.client_id ?? "",
  client_secret: "",
  scope: found?.scope ?? "openid email profile",
  domains: (found?.domains ?? []).map(({ domain }) => domain).join(", "),
  default_role: found?.default_role ?? ("none" as Role | "none"),
  groups_claim: found?.groups_claim ?? "",
  group_roles: (found?.group_roles ?? []).map(({ group, role }) => `${group} = ${role}`).join("\n"),
  required: found?.required ?? false,
});

type Draft = ReturnType<typeof draftOf>;

/** The service says what is wrong with a role that there is not. */
function groupOf(line: string): { group: string; role: Role } {
  const at = line.lastIndexOf("=");
  return { group: line.slice(0, at).trim(), role: line.slice(at + 1).trim() as Role };
}
