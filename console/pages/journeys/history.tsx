// Simulates the saved journey on what has happened: a window of days, the share of people, counts for the chart.
import { useState } from "preact/hooks";
import type { HistorySimulation } from "../../../sdk/src/types.gen.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { fromLocalInput, now, number, plural, share, toLocalInput } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Act, Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormEnd, FormFault } from "../../components/form.tsx";
import { Card, type Fact, Facts, Figure } from "../../components/page.tsx";
import { Slider } from "../../components/pickers.tsx";
import { Loaded } from "../../components/states.tsx";

const EVERY_MS = 2_000;
const WEEK_MS = 7 * DAY;

interface HistoryProps {
  id: string;
  /** Shows its counts on the chart. */
  show: (simulation: HistorySimulation) => void;
}

export function History({ id, show }: HistoryProps) {
  const [from, setFrom] = useState(() => toLocalInput(now() - WEEK_MS));
  const [to, setTo] = useState(() => toLocalInput(now()));
  const [sample, setSample] = useState(100);
  const [simulation, setSimulation] = useState<string>();
  const simulate = useAction("journeys.simulate", { stale: [] });
  const { from: fromFault, to: toFault } = simulate.error?.fields ?? {};
  const submit = async () => {
    const done = await simulate.run(id, { from: fromLocalInput(from), to: fromLocalInput(to), sample });
    if (done && "progress" in done.answer) setSimulation(done.answer.id);
  };
  return (
    <Card>
      <p class="dim">What the journey would have done with past events. Nothing is sent.</p>
      <Form error={simulate.error} onSubmit={submit}>
        <div class="row">
          <TextField label="Since" type="datetime-local" required value={from} onInput={setFrom} fault={fromFault} />
          <TextField label="Until" type="datetime-local" required value={to} onInput={setTo} fault={toFault} />
        </div>
        <Slider label="Sample of people" value={sample} min={1} max={100} onInput={setSample} />
        <FormEnd action={simulate} placed={["from", "to"]} submit="Simulate" isMinor />
      </Form>
      {simulation && <Progress key={simulation} id={id} simulation={simulation} show={show} />}
    </Card>
  );
}

const isRunning = ({ status }: HistorySimulation): boolean => status === "pending" || status === "processing";

function Progress({ id, simulation, show }: HistoryProps & { simulation: string }) {
  const found = useQuery("journeys.getSimulation", [id, simulation], {
    every: (known) => (!known || isRunning(known) ? EVERY_MS : undefined),
  });
  const cancel = useAction("journeys.cancelSimulation", { stale: ["journeys.getSimulation"] });
  return (
    <Loaded query={found}>
      {(one) => (
        <div class="stack">
          <p role="status">
            <Badge state={one.status} /> {isRunning(one) && `${share(one.progress, 1)} of the period is simulated.`}
          </p>
          {isRunning(one) ? (
            <div class="actions">
              <Act action={cancel} given={[id, simulation]}>
                Cancel the simulation
              </Act>
            </div>
          ) : (
            <Result simulation={one} show={show} />
          )}
          <FormFault error={cancel.error} placed={[]} />
        </div>
      )}
    </Loaded>
  );
}

function Result({ simulation, show }: Pick<HistoryProps, "show"> & { simulation: HistorySimulation }) {
  const { subscribers, entered, runs, sends, skipped, deferred, dead } = simulation.result;
  const byChannel = new Map<string, number>();
  for (const { channel, sent } of sends) byChannel.set(channel, (byChannel.get(channel) ?? 0) + sent);
  return (
    <>
      <div class="figures">
        <Figure value={number(subscribers)} label="people" />
        <Figure value={number(entered)} label="runs" />
        <Figure value={number(runs.completed)} label="completed" />
        <Figure value={number(runs.exited)} label="left early" />
        <Figure value={number(runs.active)} label="still active" />
      </div>
      <Facts
        of={[
          ...[...byChannel].map(([channel, sent]): Fact => [channelName(channel), plural(sent, "message")]),
          ...Object.entries(skipped).map(
            ([reason, count]): Fact => ["Not sent", `${plural(count, "message")}: ${reasonText(reason)}`],
          ),
          deferred > 0 && ["Waits for the end of quiet hours", plural(deferred, "message")],
          dead.length > 0 && ["Paths never taken", plural(dead.length, "path")],
        ]}
      />
      <div class="actions">
        <Button onClick={() => show(simulation)}>Show on the chart</Button>
      </div>
    </>
  );
}
