// A closer look at one entry of the timeline: the message as it was seen and why, and the walk through a journey.
import { useQuery } from "../../app/query.ts";
import { channelName } from "../../app/sentences.ts";
import { momentText, plural } from "../../app/time.ts";
import { InWords } from "../../components/in-words.tsx";
import { SeenAs } from "../../components/seen.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { nameOf, outcomeText } from "../../components/step-words.ts";
import type { Entry } from "./story.ts";

interface MessageProps {
  person: string;
  send: string;
}

export function MessageSeen({ person, send }: MessageProps) {
  const recipient = useQuery("recipients.getNotificationsRecipient", [send, person]);
  return (
    <Loaded query={recipient} skeleton={<Skeleton rows={2} />}>
      {({ in_words, messages }) => (
        <>
          <InWords text={in_words} />
          {messages.map(({ channel, title, body, html, attributes_changed }) => (
            <div key={channel} class="stack tight">
              <h4>{channelName(channel)}</h4>
              <SeenAs channel={channel} title={title ?? ""} body={body ?? ""} html={html ?? undefined} />
              {attributes_changed && (
                <p class="hint">Attributes have changed since: the text may have been different.</p>
              )}
            </div>
          ))}
        </>
      )}
    </Loaded>
  );
}

interface WalkProps {
  person: string;
  entry: Extract<Entry, { kind: "journey" }>;
}

export function JourneyWalk({ person, entry: { ref, data } }: WalkProps) {
  const whole = useQuery("journeys.getSubscriber", [ref, person]);
  const journey = useQuery("journeys.get", [ref]);
  // A step that later versions lack has no other name than its ID.
  const nameOfStep = (id: string) => {
    const step = journey.data?.steps.steps?.[id];
    return step ? nameOf(step) : id;
  };
  return (
    <>
      <ul class="walk">
        {data.steps.map(({ step, outcome, count }) => (
          <li key={`${step} ${outcome}`}>
            <b>{nameOfStep(step)}</b> <span class="dim">{outcomeText(outcome)}</span>
            {count > 1 && <span class="dim"> ({plural(count, "time")})</span>}
          </li>
        ))}
      </ul>
      <Loaded query={whole} skeleton={<Skeleton rows={2} />}>
        {({ in_words, runs, assumes }) => (
          <>
            <InWords text={in_words} />
            {runs.map(
              ({ id, waiting_until, current_step }) =>
                waiting_until && (
                  <p key={id} class="dim">
                    Waits at “{nameOfStep(current_step)}” until {momentText(waiting_until)}.
                  </p>
                ),
            )}
            {assumes.map((text) => (
              <p key={text} class="hint">
                {text}
              </p>
            ))}
          </>
        )}
      </Loaded>
    </>
  );
}
