// A send, or a step of a journey, that its brake stopped (F21): why, and the choice between going on and ending it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { BrakesResumeBody, Notification } from "../../sdk/src/types.gen.ts";
import { type RunningAction, useAction } from "../app/action.ts";
import { channelName } from "../app/sentences.ts";
import { number, percent, plural } from "../app/time.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Confirm } from "./dialog.tsx";
import { Time } from "./page.tsx";
import { type Safety, SafetyPicker } from "./safety.tsx";

type Halt = NonNullable<Notification["halted"]>;

const words: Record<Halt["reason"], string> = {
  error_rate: "were refused or got no answer",
  bounce_rate: "bounced",
  complaint_rate: "led to complaints",
  opt_out_rate: "led to opt-outs",
};

const limitOf = {
  error_rate: "max_error_rate",
  bounce_rate: "max_bounce_rate",
  complaint_rate: "max_complaint_rate",
  opt_out_rate: "max_opt_out_rate",
} as const satisfies Record<Halt["reason"], keyof Safety>;

const STALE = ["notifications.", "campaigns."];

export function Halted({ send, halt, children }: { send: string; halt: Halt; children?: ComponentChildren }) {
  const resume = useAction("notifications.resume", { stale: STALE });
  const cancel = useAction("notifications.cancel", { stale: STALE });
  return (
    <Banner
      halt={halt}
      what="send"
      resume={{ ...resume, run: (safety) => resume.run(send, { safety }) }}
      cancel={{ ...cancel, run: () => cancel.run(send) }}
      onResume="Everyone who is still waiting gets it. It halts again if the rest goes wrong too."
      onCancel="Anyone who has not received it yet will not. What was delivered stays delivered."
    >
      {children}
    </Banner>
  );
}

interface HaltedStepProps {
  journey: string;
  step: StepOf;
  /** What a reader calls the step. */
  name: string;
  halt: Halt;
}

/** A send step at which runs wait. */
export function HaltedStep({ journey, step, name, halt }: HaltedStepProps) {
  const resume = useAction("brakes.resume", { stale: ["brakes.", "journeys."] });
  const cancel = useAction("brakes.cancel", { stale: ["brakes.", "journeys."] });
  return (
    <Banner
      halt={halt}
      what="step"
      resume={{ ...resume, run: (safety) => resume.run(journey, { ...step, safety }) }}
      cancel={{ ...cancel, run: () => cancel.run(journey, step) }}
      onResume="Everyone who waits at the step goes on. It halts again if the rest goes wrong too."
      onCancel="The runs that wait at the step are canceled, and those that arrive later, until a new version is active."
    >
      People wait at “{name}” of version {step.version}.
    </Banner>
  );
}

type StepOf = Pick<BrakesResumeBody, "version" | "step">;

interface Choice extends RunningAction {
  run: (safety: Safety | null | undefined) => Promise<unknown>;
}

interface BannerProps {
  halt: Halt;
  what: "send" | "step";
  resume: Choice;
  cancel: Choice;
  /** What each of them does. */
  onResume: string;
  onCancel: string;
  children?: ComponentChildren;
}

function Banner({ halt, what, resume, cancel, onResume, onCancel, children }: BannerProps) {
  const [asking, setAsking] = useState<"resume" | "cancel">();
  const [safety, setSafety] = useState<Safety | null>();
  const error = resume.error ?? cancel.error;
  const { channel, reason, count, tried, rate, limit, at } = halt;
  const fields = resume.error?.fields ?? {};
  const act = async () => {
    const done = await (asking === "resume" ? resume : cancel).run(safety);
    if (done || asking === "cancel") setAsking(undefined);
    if (done) say(asking === "resume" ? `The ${what} goes on.` : `The ${what} is canceled.`);
  };
  return (
    <div class="banner bad" role="status">
      <p>
        <b>Halted</b> <Time at={at} />: {number(count)} of {plural(tried, "message")} by {channelName(channel)}{" "}
        {words[reason]} ({percent(rate)}, limit {percent(limit)}). {children}
      </p>
      {error && !asking && <p>{error.message}</p>}
      <div class="row">
        <Button needs={resume.operation} onClick={() => setAsking("resume")}>
          Resume
        </Button>
        <Button kind="danger" needs={cancel.operation} onClick={() => setAsking("cancel")}>
          Cancel
        </Button>
      </div>
      {asking && (
        <Confirm
          title={asking === "resume" ? `Resume the ${what}?` : `Cancel the ${what}?`}
          act={asking === "resume" ? "Resume it" : `Cancel the ${what}`}
          kind={asking === "resume" ? "primary" : "danger"}
          isBusy={resume.isBusy || cancel.isBusy}
          close={() => setAsking(undefined)}
          onConfirm={() => void act()}
        >
          {asking === "cancel" ? (
            onCancel
          ) : (
            <>
              <p>{onResume}</p>
              <SafetyPicker
                safety={safety}
                onInput={setSafety}
                faultAt={(path) => fields[`safety${path}`]}
                exceeded={{ [limitOf[reason]]: limit }}
              />
              {error && <p class="fault">{error.message}</p>}
            </>
          )}
        </Confirm>
      )}
    </div>
  );
}
