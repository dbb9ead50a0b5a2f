// The user's own account: the password, and the sessions that are open.
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { useRows } from "../../app/rows.ts";
import { me } from "../../app/session.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Act } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Card, Time } from "../../components/page.tsx";
import { SecondFactor } from "../../components/second-factor.tsx";
import { Failure } from "../../components/states.tsx";

const BLANK = { current_password: "", password: "" };

export function Account() {
  return (
    <>
      <div class="grid">
        <Password />
        <SecondFactor />
      </div>
      <Sessions />
    </>
  );
}

function Password() {
  const change = useAction("auth.changePassword");
  const { values, set, field, placed } = useFields(BLANK, change);
  const save = async () => {
    const done = await change.run(values);
    if (!done) return;
    set(BLANK);
    say("The password is changed. Your other sessions have ended.");
  };
  return (
    <Card title="Password">
      <p class="dim">For {me.value?.user.email}. All your other sessions end.</p>
      <Form error={change.error} onSubmit={save}>
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
          {...field("current_password")}
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          required
          {...field("password")}
          hint="At least 12 characters; a few words are good."
        />
        <FormEnd action={change} placed={placed} submit="Change the password" isMinor />
      </Form>
    </Card>
  );
}

function Sessions() {
  const rows = useRows("auth.listSessions", [], ({ items }) => items);
  const end = useAction("auth.deleteSession");
  return (
    <Collection
      noun="session"
      card="Sessions"
      rows={rows}
      usual={2}
      keyOf={({ id }) => id}
      columns={[
        { title: "Device", cell: ({ device }) => device || <span class="dim">unknown</span> },
        { title: "Address", isMinor: true, cell: ({ address }) => address || <span class="dim">unknown</span> },
        { title: "Signed in", isMinor: true, cell: ({ created_at }) => <Time at={created_at} /> },
        { title: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
      ]}
      actions={({ id, device, current }) =>
        current ? (
          <Badge state="active" word="this one" />
        ) : (
          <Act
            kind="quiet"
            icon="leave"
            label={`End the session of ${device || "an unknown device"}`}
            action={end}
            given={[id]}
            said="The session has ended."
          />
        )
      }
    >
      {end.error && <Failure error={end.error} />}
    </Collection>
  );
}
