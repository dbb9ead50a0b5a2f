// The operator of a local service: workspaces, dead letters, the clock, faults and what AWS would be asked for.
import { useEffect, useState } from "preact/hooks";
import { Card, type Fact, Facts, Page } from "../../components/page.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Clock, Faults, Meter } from "./machine.tsx";
import { Workspaces } from "./workspaces.tsx";

export function View() {
  return (
    <Page
      title="Operator"
      about={
        <>
          This service as its operator sees it. For a deployment, run <code>npm run operate -- console</code>.
        </>
      }
    >
      <Workspaces />
      <DeadLetters />
      <div class="grid">
        <Clock />
        <Faults />
        <Version />
      </div>
      <Meter />
    </Page>
  );
}

/** As Git shows a commit. */
const SHORT_COMMIT = 12;

function Version() {
  const [facts, setFacts] = useState<[string, unknown][]>([]);
  useEffect(() => {
    void fetch("/healthz").then(async (response) => setFacts(Object.entries((await response.json()) as object)));
  }, []);
  return (
    <Card title="Version">
      <Facts
        of={facts.map(
          ([name, value]): Fact => [
            name.charAt(0).toUpperCase() + name.slice(1),
            name === "commit" ? String(value).slice(0, SHORT_COMMIT) : String(value),
          ],
        )}
      />
    </Card>
  );
}
