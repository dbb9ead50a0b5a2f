// One journey: its steps with the people on each, its editor, its simulations and its versions.
import { type ComponentChildren, Fragment } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ServiceError } from "../../../sdk/src/errors.ts";
import type { Journey } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { isSame } from "../../app/merge.ts";
import { useLead } from "../../app/places.ts";
import { useQuery } from "../../app/query.ts";
import { pathText } from "../../app/refusal.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { daysAgo, number, plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { FunnelOf } from "../../components/funnel-of.tsx";
import { HaltedStep } from "../../components/halted.tsx";
import { Card, Figure, Page, Time } from "../../components/page.tsx";
import { Failure, Led, Loaded, Skeleton } from "../../components/states.tsx";
import { nameOf } from "../../components/step-words.ts";
import { draftOf, Graph, type JourneyDraft, type Shown, useEdit } from "./graph.tsx";
import { History } from "./history.tsx";
import { Moves, useMoves } from "./moves.tsx";
import { Simulate, type WalkAnswer } from "./simulate.tsx";
import { hasUnfinished, saidGraph, stepAt } from "./steps.ts";
import { Versions } from "./versions.tsx";

const EVERY_MS = 5_000;

const allJourneys = () => ({ href: pathTo("journeys"), label: "Journeys" });

export function JourneyView({ id }: { id: string }) {
  const journey = useQuery("journeys.get", [id]);
  // Versions that are what stands here already: nothing is opened anew, and what is open stays.
  const own = useRef(new Set<number>());
  const begunAt = (version: number): number => (own.current.has(version) ? begunAt(version - 1) : version);
  const shown = (
    <Loaded query={journey} skeleton={<Skeleton rows={8} />}>
      {(found) => <Opened key={begunAt(found.version)} journey={found} isOwn={(version) => own.current.add(version)} />}
    </Loaded>
  );
  // Its page has its name.
  return journey.data ? (
    shown
  ) : (
    <Page title="Journey" back={allJourneys()}>
      {shown}
    </Page>
  );
}

type Body = Pick<Journey, "name" | "trigger" | "entry_rules" | "steps">;

const bodyOf = ({ name, trigger, entry_rules, steps }: Body): Body => ({ name, trigger, entry_rules, steps });

interface OpenedProps {
  journey: Journey;
  isOwn: (version: number) => void;
}

function Opened({ journey, isOwn }: OpenedProps) {
  const { id, status } = journey;
  const stats = useQuery("journeys.getStats", [id], { every: EVERY_MS });
  const edit = useEdit(journey);
  const save = useAction("journeys.replace");
  const moves = useMoves();
  const [shown, show] = useState<Shown>({ kind: "now" });
  const [walk, setWalk] = useState<WalkAnswer>();
  const error = [save, ...Object.values(moves)].find((action) => action.error)?.error;
  const running = stats.data?.runs.active ?? 0;
  const halts = useHalts(id);
  const written = ({ graph, ...rest }: JourneyDraft): Body => bodyOf({ ...rest, steps: saidGraph(graph) });
  const guard = useGuard(written(edit.begun), () => seenBy((options) => call("journeys.get", [id, options]), bodyOf));
  const saveIt = async () => {
    const mine = await guard.settle(written(edit));
    const done = mine && (await save.run(id, mine.body, mine.over));
    if (!done) return;
    const isWhole = !hasUnfinished(edit.graph);
    if (!isWhole || isSame(draftOf(done.answer), draftOf({ ...edit, steps: edit.graph }))) isOwn(done.answer.version);
    guard.saved(bodyOf(done.answer));
    edit.pause();
    if (!isWhole) return say("Saved without the unfinished conditions.");
    edit.accepted();
    say(
      running > 0
        ? `Saved. ${plural(running, "run stays", "runs stay")} on version ${journey.version}.`
        : "The journey is saved.",
    );
  };
  const discard = () => {
    edit.discard();
    guard.saved(bodyOf(journey));
  };
  return (
    <Page
      title={journey.name}
      back={allJourneys()}
      about={
        <>
          <Badge state={status} /> version {journey.version}, updated <Time at={journey.updated_at} />
        </>
      }
      actions={<Moves journey={journey} moves={moves} isChanged={edit.isChanged} running={running} />}
    >
      {guard.question}
      {error && <Fault error={error} graph={edit.graph} />}
      {halts.map(({ version, step, halted }) => {
        const found = journey.steps.steps?.[step];
        const name = found ? nameOf(found) : step;
        return (
          <HaltedStep key={`${version} ${step}`} journey={id} step={{ version, step }} name={name} halt={halted} />
        );
      })}
      <Loaded query={stats} skeleton={<Skeleton rows={2} />}>
        {({ runs }) => <Runs journey={id} runs={runs} />}
      </Loaded>
      <Graph
        journey={journey}
        edit={{ ...edit, discard }}
        stats={stats.data}
        halted={new Set(halts.map(({ step }) => step))}
        faults={error?.fields ?? {}}
        every={EVERY_MS}
        shown={shown}
        show={show}
        walk={walk}
        saving={{ isBusy: save.isBusy, run: () => void saveIt() }}
      />
      <Drawer
        panels={{
          results: (
            <Card title="The last 90 days">
              <FunnelOf group="journey" source={id} start={daysAgo(90)} />
            </Card>
          ),
          person: <Simulate id={id} walk={walk} onWalk={setWalk} />,
          past: <History id={id} show={(simulation) => show({ kind: "simulation", simulation })} />,
          versions: (
            <Versions
              id={id}
              chosen={shown.kind === "version" ? shown.version.version : undefined}
              choose={(version) => show(version ? { kind: "version", version } : { kind: "now" })}
            />
          ),
        }}
      />
    </Page>
  );
}

/** The steps that their brake stopped. */
function useHalts(journey: string) {
  const brakes = useQuery("brakes.list", [journey], { every: EVERY_MS });
  return (brakes.data?.items ?? []).flatMap(({ halted, ...brake }) =>
    brake.status === "halted" && halted ? [{ ...brake, halted }] : [],
  );
}

/** What was refused, at which step: its name leads there. */
function Fault({ error, graph }: { error: ServiceError; graph: Journey["steps"] }) {
  const lead = useLead();
  const nameAt = (path: string): string => {
    const step = graph.steps?.[stepAt(graph, path) ?? ""];
    if (step) return nameOf(step);
    return path.startsWith("trigger.") ? "Trigger" : path;
  };
  const fields = Object.entries(error.fields ?? {});
  if (fields.length === 0) return <Failure error={error} />;
  return (
    <div class="banner bad" role="alert">
      <span class="stack tight">
        {fields.map(([path, reason]) => (
          <span key={path}>
            <Led to={lead(path)}>{nameAt(path)}</Led>: {pathText(path.slice(path.lastIndexOf(".") + 1))}: {reason}.
          </span>
        ))}
      </span>
    </div>
  );
}

function Runs({ journey, runs }: { journey: string; runs: Record<string, number> }) {
  return (
    <div class="figures strip">
      <Figure value={number(runs.active ?? 0)} label="in the journey now" />
      <Figure value={number(runs.completed ?? 0)} label="completed" />
      <Figure value={number(runs.exited ?? 0)} label="left early" />
      <Figure value={number(runs.canceled ?? 0)} label="canceled" />
      <p>
        <a href={pathTo("journeys", journey, { drawer: "results" })}>Funnel and cost</a>
      </p>
    </div>
  );
}

const DRAWERS = {
  results: "Funnel and cost",
  person: "Simulate one person",
  past: "Simulate on history",
  versions: "Versions",
};

/** Below the chart: its outcome, what would happen, what would have happened, and what was activated. */
function Drawer({ panels }: { panels: Record<keyof typeof DRAWERS, ComponentChildren> }) {
  const open = place.value.query.get("drawer");
  return (
    <section class="journey-drawer" aria-label="Results, simulation and versions">
      <div class="actions">
        {Object.entries(DRAWERS).map(([id, name]) => (
          <Button
            key={id}
            kind="quiet"
            pressed={id === open}
            onClick={() => setQuery({ drawer: id === open ? "" : id })}
          >
            {name}
          </Button>
        ))}
      </div>
      {Object.entries(panels).map(([id, panel]) => id === open && <Fragment key={id}>{panel}</Fragment>)}
    </section>
  );
}
