// Sign-in, registration, invitations and the links of mails; on this machine also the demo workspace with one click.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { go, place, signInPath, workspacePath } from "../../app/router.ts";
import { continueAsDemo, isLocal, sentenceOf } from "../../app/session.ts";
import { zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Entry, enter, newPassword, tokenField } from "./entry.tsx";
import { Confirm, Forgot, Reset } from "./passwords.tsx";
import { Company, SignedIn } from "./provider.tsx";

const FORMS = {
  "sign-in": Begin,
  register: Register,
  invitation: Accept,
  forgot: Forgot,
  reset: Reset,
  confirm: Confirm,
  company: Company,
  "signed-in": SignedIn,
} as const;

export function SignIn({ reason }: { reason?: string | undefined }) {
  const { page } = place.value;
  const name = Object.hasOwn(FORMS, page) ? (page as keyof typeof FORMS) : "sign-in";
  const Form = FORMS[name];
  useEffect(() => {
    document.title = "Sign in · Console";
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <img src="/console/icon.svg" alt="" width="40" height="40" />
        {reason && (
          <p class="banner" role="alert">
            {reason}
          </p>
        )}
        <Form />
        {isLocal && name === "sign-in" && <Demo />}
      </div>
    </main>
  );
}

function Demo() {
  const [failure, setFailure] = useState("");
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      const tenant = await continueAsDemo();
      if (place.value.tenant !== tenant) go(workspacePath(tenant, "home"), { replace: true });
    } catch (error) {
      setFailure(sentenceOf(error));
      setBusy(false);
    }
  };
  useEffect(() => {
    if (place.value.hash === "#demo") void start();
  }, []);
  return (
    <>
      <p class="or">or, on this machine</p>
      <Button wide isBusy={isBusy} onClick={() => void start()}>
        Continue as demo owner
      </Button>
      {failure && <p class="fault">{failure}</p>}
    </>
  );
}

/** Over the page on which a session ended, which stays as it was. */
export function Again({ goOn }: { goOn: (token: string) => void }) {
  const leave = () => goOn("");
  return (
    <Dialog title="Sign in again" class="again" close={leave}>
      <p>Your session has ended. The page goes on where it was.</p>
      <Login />
      {isLocal && <Demo />}
      <Button kind="quiet" onClick={leave}>
        Sign in another way
      </Button>
    </Dialog>
  );
}

function Login({ title, children }: { title?: string; children?: ComponentChildren }) {
  const login = useAction("auth.login");
  return (
    <Entry
      title={title}
      about="Continue where you left off."
      fields={{
        email: { label: "Email", type: "email", autocomplete: "username" },
        password: { label: "Password", type: "password", autocomplete: "current-password" },
      }}
      action={login}
      submit="Sign in"
      onSubmit={async (values) => {
        const { tenant } = place.value;
        const done = await login.run({ ...values, ...(tenant && { tenant_id: tenant }) });
        if (done) await enter(done.answer);
      }}
    >
      {children}
    </Entry>
  );
}

function Begin() {
  return (
    <Login title="Sign in">
      <p class="dim">
        <a href="/console/company">Sign in with your company</a>
      </p>
      <p class="dim">
        <a href="/console/forgot">Forgot password</a>
      </p>
      <p class="dim">
        New here? <a href="/console/register">Create a workspace</a>
      </p>
    </Login>
  );
}

function Register() {
  const register = useAction("auth.register");
  const update = useAction("account.updateWorkspace");
  return (
    <Entry
      title="Create a workspace"
      about="A workspace holds your subscribers, channels and messages."
      fields={{
        name: { label: "Your name", autocomplete: "name" },
        workspace_name: { label: "Name of the workspace", autocomplete: "organization" },
        email: { label: "Email", type: "email", autocomplete: "username" },
        password: { ...newPassword, label: "Password" },
      }}
      action={register}
      submit="Create the workspace"
      onSubmit={async (values) => {
        const done = await register.run(values);
        if (!done) return;
        await enter(done.answer);
        const isZoned = zone === "UTC" || (await update.run({ timezone: zone }));
        if (!isZoned) say("The workspace has the time zone UTC. Another one can be set in its settings.");
        say("An email with a link asks you to confirm your address.");
      }}
    >
      <p class="dim">
        Already registered? <a href={signInPath()}>Sign in</a>
      </p>
    </Entry>
  );
}

function Accept() {
  const accept = useAction("auth.acceptInvitations");
  return (
    <Entry
      title="Join the workspace"
      about="With your own password if you have an account here, else with a new one."
      fields={{
        token: tokenField("Invitation"),
        name: { label: "Your name", autocomplete: "name" },
        password: { label: "Password", type: "password", autocomplete: "current-password" },
      }}
      action={accept}
      submit="Join"
      onSubmit={async (values) => {
        const done = await accept.run(values);
        if (done) await enter(done.answer);
      }}
    />
  );
}
