// Signing in at a workspace's identity provider: the way there, and the way back.
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { go, place, workspacePath } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { FormFault } from "../../components/form.tsx";
import { BackToSignIn, Entry, enter } from "./entry.tsx";

const KEPT = "sign-in";

/** What only this tab has, until the browser is back. */
interface SignInState {
  state: string;
  binding: string;
}

/** Sends the browser to the provider of an address, or of a workspace. */
function useProvider() {
  const begin = useAction("auth.beginSignIn");
  const leave = async (request: { email: string } | { tenant_id: string }) => {
    const done = await begin.run(request);
    if (!done) return;
    const { url, state, binding } = done.answer;
    sessionStorage.setItem(KEPT, JSON.stringify({ state, binding } satisfies SignInState));
    location.assign(url);
  };
  return { begin, leave };
}

export function Company() {
  const { begin, leave } = useProvider();
  return (
    <Entry
      title="Sign in with your company"
      about="You go to your company's identity provider, and come back signed in."
      fields={{ email: { label: "Email", type: "email", autocomplete: "username" } }}
      action={begin}
      submit="Continue"
      onSubmit={({ email }) => leave({ email })}
    >
      <BackToSignIn />
    </Entry>
  );
}

/** For a workspace that its provider alone opens, to somebody who came otherwise. */
export function ProviderMissing() {
  const { begin, leave } = useProvider();
  const { tenant: tenant_id } = place.value;
  return (
    <>
      <FormFault error={begin.error} placed={[]} />
      <Button kind="primary" isBusy={begin.isBusy} onClick={() => void leave({ tenant_id })}>
        Sign in with your company
      </Button>
    </>
  );
}

export function SignedIn() {
  const finish = useAction("auth.finishSignIn");
  const [refusal, setRefusal] = useState("");
  useEffect(() => {
    const { query } = place.value;
    const kept = takeKept();
    const [code, state, iss] = ["code", "state", "iss"].map((name) => query.get(name));
    const redirect_uri = `${location.origin}${location.pathname}`;
    // The code is of no use in the history of the browser.
    go(`/console/signed-in`, { replace: true });
    if (!code) setRefusal(query.get("error_description") ?? "The identity provider sent no code.");
    else if (!kept || kept.state !== state) setRefusal("This sign-in began in another tab. Begin again.");
    else
      void finish.run({ ...kept, code, redirect_uri, ...(iss && { iss }) }).then(async (done) => {
        if (!done) return;
        await enter(done.answer);
        go(workspacePath(done.answer.tenant.id, "home"), { replace: true });
      });
  }, []);
  return (
    <>
      <h1>Signing you in</h1>
      <FormFault error={finish.error} placed={[]} />
      {refusal && <p class="fault">{refusal}</p>}
      {(refusal || finish.error) && <BackToSignIn />}
    </>
  );
}

function takeKept(): SignInState | undefined {
  const text = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  return text === null ? undefined : (JSON.parse(text) as SignInState);
}
