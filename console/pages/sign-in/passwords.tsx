// A forgotten password, the link of its mail, and the link that confirms an address.
import { useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { workspacePath } from "../../app/router.ts";
import { lastWorkspace } from "../../app/session.ts";
import { BackToSignIn, Entry, enter, newPassword, tokenField } from "./entry.tsx";

export function Forgot() {
  const forgot = useAction("auth.forgotPassword");
  const [address, setAddress] = useState("");
  if (address)
    return (
      <>
        <h1>Check your inbox</h1>
        <p role="status">
          If {address} is known here, a link to choose a new password is on its way. It is good once, for one hour.
        </p>
        <BackToSignIn />
      </>
    );
  return (
    <Entry
      title="Forgot password"
      about="You get an email with a link to choose a new one."
      fields={{ email: { label: "Email", type: "email", autocomplete: "username" } }}
      action={forgot}
      submit="Send the email"
      onSubmit={async ({ email }) => {
        const done = await forgot.run({ email });
        if (done) setAddress(email);
      }}
    >
      <BackToSignIn />
    </Entry>
  );
}

export function Reset() {
  const reset = useAction("auth.resetPassword");
  return (
    <Entry
      title="Choose a new password"
      about="All your other sessions end."
      fields={{ token: tokenField("Token from the email"), password: newPassword }}
      action={reset}
      submit="Save and sign in"
      onSubmit={async (values) => {
        const done = await reset.run(values);
        if (done) await enter(done.answer);
      }}
    >
      <BackToSignIn />
    </Entry>
  );
}

export function Confirm() {
  const confirm = useAction("auth.confirmEmail");
  const workspace = lastWorkspace();
  const [isDone, setDone] = useState(false);
  const back = workspace ? <a href={workspacePath(workspace)}>Go on in your workspace</a> : <BackToSignIn />;
  if (isDone)
    return (
      <>
        <h1>Your address is confirmed</h1>
        <p role="status">You may now send messages, invite colleagues and add credentials.</p>
        {back}
      </>
    );
  return (
    <Entry
      title="Confirm your email address"
      about="Until then you may look around, but not send or invite."
      fields={{ token: tokenField("Token from the email") }}
      action={confirm}
      submit="Confirm the address"
      onSubmit={async (values) => {
        const done = await confirm.run(values);
        if (done) setDone(true);
      }}
    >
      {/* Where another email is asked for. */}
      {confirm.error && back}
    </Entry>
  );
}
