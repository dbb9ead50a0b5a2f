// The user's own account: the password, and the sessions that are open.
import { useState } from "preact/hooks";
import type { AuthListSessionsAnswer } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { me } from "../../app/session.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

type Session = AuthListSessionsAnswer["items"][number];

const STALE = ["auth.listSessions"];
const BLANK = { current_password: "", password: "" };

export function Account() {
  return (
    <>
      <Password />
      <Sessions />
    </>
  );
}

function Password() {
  const change = useAction("auth.changePassword", { stale: STALE });
  const [values, setValues] = useState(BLANK);
  const fields = change.error?.fields ?? {};
  return (
    <Card title="Password">
      <p class="dim">For {me.value?.user.email}. All your other sessions end.</p>
      <Form
        error={change.error}
        onSubmit={async () => {
          if (!(await change.run(values))) return;
          setValues(BLANK);
          say("The password is changed. Your other sessions have ended.");
        }}
      >
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
          value={values.current_password}
          onInput={(current_password) => setValues((old) => ({ ...old, current_password }))}
          fault={fields.current_password}
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          required
          value={values.password}
          onInput={(password) => setValues((old) => ({ ...old, password }))}
          fault={fields.password}
          hint="At least 12 characters; a few words are good."
        />
        <FormFault error={change.error} placed={["current_password", "password"]} />
        <div class="actions">
          <Button type="submit" needs="auth.changePassword" isBusy={change.isBusy}>
            Change the password
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function Sessions() {
  const sessions = useQuery("auth.listSessions", []);
  const end = useAction("auth.deleteSession", { stale: STALE });
  return (
    <Card title="Sessions" flush>
      {end.error && <Failure error={end.error} />}
      <Loaded query={sessions} skeleton={<Skeleton table rows={2} />}>
        {({ items }) => (
          <Table
            caption="Sessions"
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { title: "Device", cell: ({ device }: Session) => device || <span class="dim">unknown</span> },
              { title: "Address", cell: ({ address }: Session) => address || <span class="dim">unknown</span> },
              { title: "Signed in", cell: ({ created_at }: Session) => <Time at={created_at} /> },
              { title: "Last used", cell: ({ last_used_at }: Session) => <Time at={last_used_at} /> },
              {
                title: "",
                cell: ({ id, device, current }: Session) =>
                  current ? (
                    <Badge state="active" word="this one" />
                  ) : (
                    <Button
                      kind="quiet"
                      icon="leave"
                      label={`End the session of ${device || "an unknown device"}`}
                      needs="auth.deleteSession"
                      isBusy={end.isBusy}
                      onClick={async () => {
                        if (await end.run(id)) say("The session has ended.");
                      }}
                    />
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
