// The operator page of a deployment, which `npm run operate -- console` serves without a session.
import { Page } from "../../components/page.tsx";
import { Toasts } from "../../components/toasts.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Workspaces } from "./workspaces.tsx";

export function Alone() {
  return (
    <main class="main">
      <Page title="Operator" about="This deployment, through its operator function and with your AWS credentials.">
        <Workspaces />
        <DeadLetters />
      </Page>
      <Toasts />
    </main>
  );
}
