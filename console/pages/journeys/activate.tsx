// The activation of a journey: its audience from now on, its messages, and what they lack.
import { useContext, useState } from "preact/hooks";
import type { Journey, JourneyStep, NotificationsCreateBody, RuleNode } from "../../../sdk/src/types.gen.ts";
import type { Action } from "../../app/action.ts";
import { durationText } from "../../app/duration.ts";
import { Cover } from "../../app/places.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { type Fact, Money } from "../../components/page.tsx";
import { MeansOf } from "../../components/release-facts.tsx";
import { MissingIn, Problem, SuchAs } from "../../components/release-reach.tsx";
import { Cost, ReleaseSheet } from "../../components/release-sheet.tsx";
import { Failure, Skeleton } from "../../components/states.tsx";
import { nameOf, settingsOf, stepText } from "../../components/step-words.ts";
import { DEFAULT_MAX_AGE, type SendSettings, triggerText } from "./steps.ts";

interface ActivateProps {
  journey: Journey;
  activate: Action<"journeys.activate">;
  /** What is edited is not saved yet. */
  isChanged: boolean;
}

/** What is refused stands at the steps, behind the sheet. */
export function Activate({ journey, activate, isChanged }: ActivateProps) {
  const [isAsking, setAsking] = useState(false);
  const act = async () => {
    const done = await activate.run(journey.id);
    setAsking(false);
    if (done) say("The journey is active.");
  };
  const open = Object.values(journey.steps.steps ?? {}).filter(isOpen);
  const sends = Object.values(journey.steps.steps ?? {}).filter(({ type }) => type === "send");
  return (
    <>
      <Button
        kind="primary"
        icon="play"
        needs="journeys.activate"
        refusal={isChanged ? "Save the changes first." : undefined}
        onClick={() => setAsking(true)}
      >
        Activate
      </Button>
      {isAsking && (
        <ReleaseSheet
          title={`Activate ${journey.name}?`}
          act="Activate it"
          action={activate}
          who={<Who journey={journey} />}
          when={[{ at: undefined, words: "From now on, whenever it is triggered" }]}
          by={sends.length === 0 ? [["Messages", "None"]] : meansOf(sends)}
          gaps={
            <>
              {open.map((step) => (
                <Problem
                  key={step.id}
                  text={step.type === "branch" ? "A branch has no condition." : "A wait has no event."}
                  path={placeOf(step)}
                />
              ))}
              {sends.length === 0
                ? "No step sends a message."
                : sends.map((step) => <Missing key={step.id} step={step} />)}
            </>
          }
          cost={sends.length > 0 && <RunCost journey={journey} sends={sends} />}
          refusal={open.length > 0 ? "Finish the steps first." : undefined}
          stops={<p>{stopsOf(sends)}</p>}
          onRelease={act}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}

const placeOf = ({ id, type }: JourneyStep): string => `steps.steps.${id}.${type}.`;

/** A step that lacks what it decides by. */
const isOpen = (step: JourneyStep): boolean =>
  (step.type === "branch" && step.branch?.condition === undefined) ||
  (step.type === "wait_for_event" && !step.wait_for_event?.event_name);

const LATELY = "30d";

/** Who had its event lately and matches its entry rule: nobody knows who will. Of a segment there is no such number. */
function useLately({ trigger: { event_name = "" }, entry_rules }: Journey) {
  const event: RuleNode = { event: { name: event_name, within: LATELY } };
  const eligible = entry_rules?.eligibility;
  // A rule of the flat form is a node as well, where nothing is beside it.
  const rule = eligible ? { group: { op: "and" as const, nodes: [event, eligible as RuleNode] } } : event;
  return useQuery("segments.preview", [rule], { when: event_name !== "" });
}

function Who({ journey }: { journey: Journey }) {
  const { trigger, entry_rules } = journey;
  const { segment_id = "" } = trigger;
  const { data: lately, error, refresh } = useLately(journey);
  const segment = useQuery("segments.get", [segment_id], { when: segment_id !== "" }).data;
  return (
    <>
      <p>
        Everyone for whom <b>{triggerText(trigger)}</b>
        {segment && (
          <>
            : <a href={pathTo("segments", segment.id)}>{segment.name}</a> has{" "}
            {plural(segment.count, "person", "people")} now
          </>
        )}
        .
      </p>
      {error && <Failure error={error} retry={refresh} />}
      {lately && (
        <p>
          In the last {durationText(LATELY)} it happened for {!lately.exact && "about "}
          <b>{plural(lately.estimated_count, "person", "people")}</b>
          <SuchAs of={lately.estimated_count} people={lately.sample_subscriber_ids} />.
        </p>
      )}
      {trigger.type === "event" && <p class="dim">{ageText(trigger.max_age)}</p>}
      <p class="dim">{againText(entry_rules)}</p>
    </>
  );
}

const ageText = (age = DEFAULT_MAX_AGE): string =>
  age === "none"
    ? "Events of any age start a run, imported ones too."
    : `Events that arrive more than ${durationText(age)} late start no run.`;

function againText(rules: Journey["entry_rules"]): string {
  const only = rules?.eligibility ? "Only people who match its entry rule enter. " : "";
  if (!rules?.allow_reentry) return `${only}Each person enters once.`;
  const { reentry_window: window } = rules;
  return `${only}A person may enter again${window ? `, at most once in ${durationText(window)}` : ""}.`;
}

const sendOf = (step: JourneyStep) => settingsOf(step) as SendSettings;

const meansOf = (sends: readonly JourneyStep[]): readonly Fact[] =>
  sends.map((step): Fact => {
    const { channel_ids = [], category = "marketing", topic } = sendOf(step);
    return [stepText(step) || "A message", <MeansOf key="means" {...{ channel_ids, category, topic }} />];
  });

/** Its message as one to everybody. */
function bodyOf(step: JourneyStep): NotificationsCreateBody {
  const { content, template_id, channel_ids = [], category = "marketing", topic } = sendOf(step);
  return {
    target: { type: "all" },
    ...(template_id ? { template_id } : { content }),
    channel_ids,
    category,
    ...(topic && { topic }),
  };
}

function Missing({ step }: { step: JourneyStep }) {
  const body = bodyOf(step);
  if (body.channel_ids?.length === 0)
    return <Problem text={`${nameOf(step)}: no channel is chosen.`} path={placeOf(step)} />;
  return <MissingIn name={stepText(step) || "A message"} body={body} at={placeOf(step)} />;
}

const NOTHING_YET = { dollars: 0, provider_dollars: 0, unpriced: [] as string[] };

interface RunCostProps {
  journey: Journey;
  sends: readonly JourneyStep[];
  /** Of the messages before them, of one person. */
  before?: typeof NOTHING_YET;
}

/** Of one person who gets every message, summed up message by message: each is asked for as one to everybody. */
function RunCost({ journey, sends: [step, ...rest], before = NOTHING_YET }: RunCostProps) {
  const { data, error } = useQuery("recipients.previewNotifications", [bodyOf(step!)]);
  const lately = useLately(journey).data;
  const uncover = useContext(Cover);
  // Of a message that reaches nobody there is no share.
  if (error || data?.counts.sent === 0) return <p>Not known while a message reaches nobody or cannot be previewed.</p>;
  if (!data) return <Skeleton rows={1} />;
  const { cost, counts } = data;
  const share = 1 / counts.sent;
  const sum = {
    dollars: before.dollars + cost.dollars * share,
    provider_dollars: before.provider_dollars + cost.provider_dollars * share,
    unpriced: [...before.unpriced, ...cost.unpriced],
  };
  if (rest.length > 0) return <RunCost journey={journey} sends={rest} before={sum} />;
  return (
    <>
      <Cost cost={sum} each=" for a person who gets every message" />
      {lately && lately.estimated_count > 0 && (
        <p>
          For {plural(lately.estimated_count, "person", "people")}: <Money of={sum.dollars * lately.estimated_count} />.
        </p>
      )}
      <p>
        <a href={pathTo("journeys", journey.id, { drawer: "past" })} onClick={uncover}>
          Simulate on history
        </a>
      </p>
    </>
  );
}

function stopsOf(sends: readonly JourneyStep[]): string {
  const braked = sends.filter((step) => sendOf(step).safety !== undefined).length;
  if (sends.length === 0) return "Pause keeps everybody where they are.";
  return braked === 0
    ? "No step has a brake. Pause keeps everybody where they are."
    : `Messages with a brake: ${braked} of ${sends.length}. Pause keeps everybody where they are.`;
}
