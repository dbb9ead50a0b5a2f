// Sign-in, registration and invitations; on this machine also the demo workspace with one click.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ServiceError } from "../../../sdk/src/errors.ts";
import type { Session } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { go, place, signInPath, workspacePath } from "../../app/router.ts";
import { begin, continueAsDemo, isLocal } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { FormFault, useFaultFocus } from "../../components/form.tsx";

/** Opens the workspace, on the page that the address asked for. */
async function enter(session: Session): Promise<void> {
  const tenant = await begin(session);
  if (place.value.tenant !== tenant) go(workspacePath(tenant, "home"), { replace: true });
}

const FORMS = {
  "sign-in": Login,
  register: Register,
  invitation: Accept,
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
        {reason && <p class="banner">{reason}</p>}
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
      setFailure(error instanceof Error ? error.message : String(error));
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

interface EntryProps {
  title: string;
  about: string;
  action: { isBusy: boolean; error: ServiceError | undefined };
  placed: readonly string[];
  submit: string;
  onSubmit: () => void;
  children: ComponentChildren;
}

function Entry({ title, about, action, placed, submit, onSubmit, children }: EntryProps) {
  const form = useFaultFocus(action.error);
  return (
    <form
      ref={form}
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <div>
        <h1>{title}</h1>
        <p class="dim">{about}</p>
      </div>
      {children}
      <FormFault error={action.error} placed={placed} />
      <Button kind="primary" type="submit" wide isBusy={action.isBusy}>
        {submit}
      </Button>
    </form>
  );
}

function Login() {
  const login = useAction("auth.login");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const submit = async () => {
    const { tenant } = place.value;
    const done = await login.run({ email, password, ...(tenant && { tenant_id: tenant }) });
    if (done) await enter(done.answer);
  };
  return (
    <>
      <Entry
        title="Sign in"
        about="Go on where you left off."
        action={login}
        placed={["email", "password"]}
        submit="Sign in"
        onSubmit={() => void submit()}
      >
        <TextField
          label="E-mail"
          type="email"
          autocomplete="username"
          required
          value={email}
          onInput={setEmail}
          fault={login.error?.fields?.email}
        />
        <TextField
          label="Password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={setPassword}
          fault={login.error?.fields?.password}
        />
      </Entry>
      <p class="dim">
        New here? <a href="/console/register">Create a workspace</a>
      </p>
    </>
  );
}

function Register() {
  const register = useAction("auth.register");
  const [values, setValues] = useState({ name: "", workspace_name: "", email: "", password: "" });
  const set = (name: keyof typeof values) => (value: string) => setValues({ ...values, [name]: value });
  const fields = register.error?.fields;
  const submit = async () => {
    const done = await register.run(values);
    if (done) await enter(done.answer);
  };
  return (
    <>
      <Entry
        title="Create a workspace"
        about="A workspace holds your subscribers, channels and messages."
        action={register}
        placed={Object.keys(values)}
        submit="Create the workspace"
        onSubmit={() => void submit()}
      >
        <TextField
          label="Your name"
          autocomplete="name"
          required
          value={values.name}
          onInput={set("name")}
          fault={fields?.name}
        />
        <TextField
          label="Name of the workspace"
          autocomplete="organization"
          required
          value={values.workspace_name}
          onInput={set("workspace_name")}
          fault={fields?.workspace_name}
        />
        <TextField
          label="E-mail"
          type="email"
          autocomplete="username"
          required
          value={values.email}
          onInput={set("email")}
          fault={fields?.email}
        />
        <TextField
          label="Password"
          type="password"
          autocomplete="new-password"
          required
          value={values.password}
          onInput={set("password")}
          fault={fields?.password}
          hint="At least 12 characters; a few words are good."
        />
      </Entry>
      <p class="dim">
        Registered already? <a href={signInPath()}>Sign in</a>
      </p>
    </>
  );
}

function Accept() {
  const accept = useAction("auth.acceptInvitations");
  const [values, setValues] = useState({ name: "", password: "", token: place.value.query.get("token") ?? "" });
  const set = (name: keyof typeof values) => (value: string) => setValues({ ...values, [name]: value });
  const fields = accept.error?.fields;
  const submit = async () => {
    const done = await accept.run(values);
    if (done) await enter(done.answer);
  };
  return (
    <Entry
      title="Join the workspace"
      about="With your own password if you have an account here, else with a new one."
      action={accept}
      placed={Object.keys(values)}
      submit="Join"
      onSubmit={() => void submit()}
    >
      <TextField label="Invitation" required value={values.token} onInput={set("token")} fault={fields?.token} />
      <TextField
        label="Your name"
        autocomplete="name"
        required
        value={values.name}
        onInput={set("name")}
        fault={fields?.name}
      />
      <TextField
        label="Password"
        type="password"
        autocomplete="current-password"
        required
        value={values.password}
        onInput={set("password")}
        fault={fields?.password}
      />
    </Entry>
  );
}
