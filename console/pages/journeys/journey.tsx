// One journey: its steps as an indented list with the people on each, its editor, and its moves.
import { useState } from "preact/hooks";
import type { HistorySimulation, Journey, JourneyGraph, JourneyVersion } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useKept } from "../../app/kept.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo, place, setQuery } from "../../app/router.ts";
import { isLocal } from "../../app/session.ts";
import { dateTime, plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { HaltedStep } from "../../components/halted.tsx";
import { Card, Figure, Page, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Chart } from "./chart.tsx";
import { History } from "./history.tsx";
import { Play } from "./play.tsx";
import { Simulate, type WalkAnswer } from "./simulate.tsx";
import { Steps } from "./step-list.tsx";
import { isAbout, nameOf, triggerText } from "./steps.ts";
import { TriggerForm } from "./trigger-form.tsx";
import { Unsaved } from "./unsaved.tsx";
import { Versions } from "./versions.tsx";

const STALE = ["journeys."];
const EVERY_MS = 5_000;
const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);
/** A chart needs room: without a choice, narrow windows show the list. */
const NARROW = "(max-width: 800px)";

export function JourneyView({ id }: { id: string }) {
  const journey = useQuery("journeys.get", [id]);
  return (
    <Loaded
      query={journey}
      skeleton={
        <Page title="Journey">
          <Skeleton rows={8} />
        </Page>
      }
    >
      {(found) => <Opened key={found.version} journey={found} />}
    </Loaded>
  );
}

function Opened({ journey }: { journey: Journey }) {
  const { id, status } = journey;
  const stats = useQuery("journeys.getStats", [id], { every: EVERY_MS });
  const brakes = useQuery("brakes.list", [id], { every: EVERY_MS });
  const start = () => ({ graph: journey.steps, trigger: journey.trigger });
  const { value: edited, keep, drop, discard } = useKept(`journey.${id}.${journey.updated_at}`, start);
  const { graph, trigger } = edited;
  const [past, setPast] = useState<readonly JourneyGraph[]>([]);
  /** Instead of the journey as it is now: an activated version with its numbers, or a simulation on history. */
  const [version, setVersion] = useState<JourneyVersion>();
  const [replay, setReplay] = useState<HistorySimulation>();
  const ofVersion = useQuery("journeys.getStats", [id, { version: String(version?.version) }], {
    when: version !== undefined,
    every: EVERY_MS,
  });
  const [walk, setWalk] = useState<WalkAnswer>();
  const [asking, setAsking] = useState<"activate" | "delete">();
  const save = useAction("journeys.replace", { stale: STALE });
  const activate = useAction("journeys.activate", { stale: STALE });
  const pause = useAction("journeys.pause", { stale: STALE });
  const archive = useAction("journeys.archive", { stale: STALE });
  const duplicate = useAction("journeys.duplicate", { stale: STALE });
  const remove = useAction("journeys.delete", { stale: STALE });
  const error = [save, activate, pause, archive, duplicate, remove].find((action) => action.error)?.error;
  const mayEdit = status === "draft" || status === "paused";
  const isChanged = !isSame(graph, journey.steps) || !isSame(trigger, journey.trigger);
  const running = stats.data?.runs.active ?? 0;
  const faults = error?.fields ?? {};
  const unplaced = Object.entries(faults).filter(
    ([path]) => !path.startsWith("trigger.") && !Object.keys(graph.steps ?? {}).some((step) => isAbout(path, step)),
  );
  const view = place.value.query.get("view");
  const isList = view ? view === "list" : matchMedia(NARROW).matches;
  const change = (next: JourneyGraph) => {
    setPast([...past, graph]);
    keep({ ...edited, graph: next });
  };
  const saveIt = async () => {
    const { name, entry_rules } = journey;
    const done = await save.run(id, { name, trigger, entry_rules, steps: graph });
    if (!done) return;
    drop();
    say(running > 0 ? `Saved. ${plural(running, "run")} stay on version ${journey.version}.` : "The journey is saved.");
  };
  const halts = (brakes.data?.items ?? []).flatMap(({ halted, ...brake }) =>
    brake.status === "halted" && halted ? [{ ...brake, halted }] : [],
  );
  const last = past.at(-1);
  const undo = () => {
    setPast(past.slice(0, -1));
    keep({ ...edited, graph: last ?? graph });
  };
  const counted = replay?.result ?? (version ? ofVersion.data : stats.data);
  const shown = {
    journey: replay ? undefined : id,
    halted: new Set(replay ? [] : halts.map(({ step }) => step)),
    graph: version?.steps ?? (replay ? journey.steps : graph),
    stats: counted,
    faults,
    change: mayEdit && !version && !replay ? change : undefined,
  };
  return (
    <Page
      title={journey.name}
      back={{ href: pathTo("journeys"), label: "Journeys" }}
      about={
        <>
          <Badge state={status} /> version {journey.version}, updated <Time at={journey.updated_at} />
        </>
      }
      actions={
        <>
          {isLocal && status === "active" && <Play />}
          <Button
            needs="journeys.duplicate"
            onClick={async () => {
              const copy = await duplicate.run(id);
              if (copy) go(pathTo("journeys", copy.answer.id));
            }}
          >
            Duplicate
          </Button>
          {status !== "archived" && (
            <Button needs="journeys.archive" onClick={() => void archive.run(id)}>
              Archive
            </Button>
          )}
          <Button kind="danger" needs="journeys.delete" onClick={() => setAsking("delete")}>
            Delete
          </Button>
          {status === "active" && (
            <Button needs="journeys.pause" isBusy={pause.isBusy} onClick={() => void pause.run(id)}>
              Pause
            </Button>
          )}
          {mayEdit && (
            <Button
              kind="primary"
              icon="play"
              needs="journeys.activate"
              refusal={isChanged ? "Save the changes first." : undefined}
              onClick={() => setAsking("activate")}
            >
              Activate
            </Button>
          )}
        </>
      }
    >
      {error && (
        <div class="banner bad" role="alert">
          <span>
            <b>{error.message}</b> {unplaced.map(([path, reason]) => `${path}: ${reason}`).join("; ")}
          </span>
        </div>
      )}
      {halts.map(({ version, step, halted }) => {
        const found = journey.steps.steps?.[step];
        const name = found ? nameOf(found) : step;
        return (
          <HaltedStep key={`${version} ${step}`} journey={id} step={{ version, step }} name={name} halt={halted} />
        );
      })}
      <Loaded query={stats} skeleton={<Skeleton rows={2} />}>
        {({ runs }) => (
          <Card>
            <div class="figures">
              <Figure value={runs.active ?? 0} label="in the journey now" />
              <Figure value={runs.completed ?? 0} label="completed" />
              <Figure value={runs.exited ?? 0} label="left early" />
              <Figure value={runs.canceled ?? 0} label="canceled" />
            </div>
            <p>
              <a href={pathTo("insights", "", { by: "journey", source: id })}>Funnel and cost</a>
            </p>
          </Card>
        )}
      </Loaded>
      {mayEdit && isChanged && (
        <Unsaved isBusy={save.isBusy} save={() => void saveIt()} undo={last && undo} discard={discard} />
      )}
      <Card
        title={shown.change ? "Trigger and steps" : `Trigger: ${triggerText((version ?? journey).trigger)}`}
        actions={<Views isList={isList} />}
      >
        {(version || replay) && (
          <div class="banner">
            <span>
              {replay
                ? `Counts of the simulation from ${dateTime(replay.from)} to ${dateTime(replay.to)}.`
                : `Version ${version?.version} with its numbers${ofVersion.data?.exact === false ? ", estimated from a sample" : ""}.`}
            </span>
            <Button
              onClick={() => {
                setVersion(undefined);
                setReplay(undefined);
              }}
            >
              Show the journey as it is now
            </Button>
          </div>
        )}
        {shown.change && (
          <TriggerForm trigger={trigger} onInput={(next) => keep({ ...edited, trigger: next })} faults={faults} />
        )}
        {isList ? (
          <Steps {...shown} />
        ) : (
          <Chart
            {...shown}
            begin={triggerText(version?.trigger ?? trigger)}
            entered={Object.values(counted?.runs ?? {}).reduce((sum, one) => sum + one, 0)}
            walked={new Set(walk?.steps.flatMap(({ step, outcome }) => [step, `${step} ${outcome}`]))}
          />
        )}
      </Card>
      <Simulate id={id} walk={walk} onWalk={setWalk} />
      <History
        id={id}
        show={(simulation) => {
          setVersion(undefined);
          setReplay(simulation);
        }}
      />
      <Versions
        id={id}
        chosen={version?.version}
        choose={(one) => {
          setReplay(undefined);
          setVersion(one);
        }}
      />
      {asking === "activate" && (
        <Confirm
          title={`Activate ${journey.name}?`}
          act="Activate it"
          kind="primary"
          isBusy={activate.isBusy}
          close={() => setAsking(undefined)}
          onConfirm={async () => {
            const done = await activate.run(id);
            setAsking(undefined);
            if (done) say("The journey is active.");
          }}
        >
          From now on, a run begins whenever {triggerText(trigger)}. Its messages are sent without asking again.
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm
          title={`Delete ${journey.name}?`}
          name={journey.name}
          act="Delete the journey"
          isBusy={remove.isBusy}
          close={() => setAsking(undefined)}
          onConfirm={async () => {
            const done = await remove.run(id);
            setAsking(undefined);
            if (!done) return;
            say(`${journey.name} is deleted.`);
            go(pathTo("journeys"));
          }}
        >
          All its runs are deleted as well: {plural(running, "person", "people")} would leave it now.
        </Confirm>
      )}
    </Page>
  );
}

function Views({ isList }: { isList: boolean }) {
  return (
    <>
      <Button kind="quiet" pressed={!isList} onClick={() => setQuery({ view: "chart" })}>
        Chart
      </Button>
      <Button kind="quiet" pressed={isList} onClick={() => setQuery({ view: "list" })}>
        List
      </Button>
    </>
  );
}
