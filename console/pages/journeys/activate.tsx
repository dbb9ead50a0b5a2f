// The activation of a journey: its audience from now on, its messages, and what they lack.
import { useState } from "preact/hooks";
import type { Journey, JourneyStep, NotificationsCreateBody } from "../../../sdk/src/types.gen.ts";
import type { Action } from "../../app/action.ts";
import { durationText } from "../../app/duration.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import type { Fact } from "../../components/page.tsx";
import { MeansOf } from "../../components/release-facts.tsx";
import { MissingIn, Problem } from "../../components/release-reach.tsx";
import { ReleaseSheet } from "../../components/release-sheet.tsx";
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

function Who({ journey: { trigger, entry_rules } }: { journey: Journey }) {
  const { segment_id = "" } = trigger;
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

function Missing({ step }: { step: JourneyStep }) {
  const { content, template_id, channel_ids = [], category = "marketing", topic } = sendOf(step);
  if (channel_ids.length === 0) return <Problem text={`${nameOf(step)}: no channel is chosen.`} path={placeOf(step)} />;
  const body: NotificationsCreateBody = {
    target: { type: "all" },
    ...(template_id ? { template_id } : { content }),
    channel_ids,
    category,
    ...(topic && { topic }),
  };
  return <MissingIn name={stepText(step) || "A message"} body={body} at={placeOf(step)} />;
}

function stopsOf(sends: readonly JourneyStep[]): string {
  const braked = sends.filter((step) => sendOf(step).safety !== undefined).length;
  if (sends.length === 0) return "Pause keeps everybody where they are.";
  return braked === 0
    ? "No step has a brake. Pause keeps everybody where they are."
    : `Messages with a brake: ${braked} of ${sends.length}. Pause keeps everybody where they are.`;
}
