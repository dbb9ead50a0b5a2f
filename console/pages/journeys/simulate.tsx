// Simulate: a person walks the saved steps, with what each condition says and what each message would be.
import type { JourneysSimulateAnswer } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { fullTime } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card } from "../../components/page.tsx";
import { PersonField, usePicked } from "../../components/person-picker.tsx";
import { Failure } from "../../components/states.tsx";
import { outcomeText, stepNames, ways } from "../../components/step-words.ts";

/** What is asked about one person, not about the events of the past. */
export type WalkAnswer = Extract<JourneysSimulateAnswer, { steps: unknown }>;

interface SimulateProps {
  id: string;
  walk: WalkAnswer | undefined;
  onWalk: (walk: WalkAnswer) => void;
}

export function Simulate({ id, walk, onWalk }: SimulateProps) {
  const simulate = useAction("journeys.simulate", { stale: [] });
  const picked = usePicked();
  const { person, reason } = picked;
  const run = async () => {
    const done = await simulate.run(id, person ? { subscriber_id: person.id } : { sample: { attributes: {} } });
    if (done && "steps" in done.answer) onWalk(done.answer);
  };
  return (
    <Card>
      <p class="dim">What would happen to one person, from now on. Nothing is sent.</p>
      <div class="row">
        <PersonField label="Person" picked={picked} hasButton hint="Empty: a sample person without attributes." />
        <Button isBusy={simulate.isBusy} refusal={reason} onClick={() => void run()}>
          Simulate
        </Button>
      </div>
      {simulate.error && <Failure error={simulate.error} />}
      {walk && <Walk walk={walk} />}
    </Card>
  );
}

/** The way out of the last step, which its own line says in words. */
const saidByStep = (reason: string | null): boolean =>
  reason === "exit" || Object.values(ways).some((all) => all.some(({ outcome }) => outcome === reason));

function Walk({ walk: { steps, ended } }: { walk: WalkAnswer }) {
  return (
    <ol class="stack tight" aria-live="polite">
      {steps.map(({ step, type, at, outcome, clauses, rendering, deferred_until }) => (
        <li key={`${step}${at}`}>
          <b>{stepNames[type]}</b> <span class="dim">{fullTime(at)}</span> {outcomeText(outcome)}
          {deferred_until && ` after quiet hours, ${fullTime(deferred_until)}`}
          {rendering && (
            <p>
              {rendering.title}: {rendering.body}
            </p>
          )}
          <ul class="conditions">
            {clauses.map(({ path, matched, actual }) => (
              <li key={path} class={matched ? "met" : "unmet"}>
                <Icon name={matched ? "check" : "cross"} />
                <span>
                  {path.replace(/^attribute\./, "")} is {JSON.stringify(actual) ?? "unknown"}
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
      <li>
        <Badge state={ended.status} /> <span class="dim">{fullTime(ended.at)}</span>{" "}
        {!saidByStep(ended.reason) && ended.reason?.replaceAll("_", " ")}
      </li>
    </ol>
  );
}
