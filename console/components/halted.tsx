// A send that its brake stopped (F21): why, and the choice between going on and ending it.
import { useState } from "preact/hooks";
import type { Notification } from "../../sdk/src/types.gen.ts";
import { useAction } from "../app/action.ts";
import { channelName } from "../app/sentences.ts";
import { number, plural } from "../app/time.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Confirm, Time } from "./page.tsx";

type Halt = NonNullable<Notification["halted"]>;

const words: Record<Halt["reason"], string> = {
  error_rate: "were refused or got no answer",
  bounce_rate: "bounced",
  complaint_rate: "led to complaints",
  opt_out_rate: "led to opt-outs",
};

const percent = (rate: number): string => `${Number((100 * rate).toFixed(2))} %`;

const STALE = ["notifications.", "campaigns."];

export function Halted({ send, halt, children }: { send: string; halt: Halt; children?: preact.ComponentChildren }) {
  const resume = useAction("notifications.resume", { stale: STALE });
  const cancel = useAction("notifications.cancel", { stale: STALE });
  const [asking, setAsking] = useState<"resume" | "cancel">();
  const error = resume.error ?? cancel.error;
  const { channel, reason, count, tried, rate, limit, at } = halt;
  const act = async () => {
    const done = asking === "resume" ? await resume.run(send, {}) : await cancel.run(send);
    setAsking(undefined);
    if (done) say(asking === "resume" ? "The send goes on." : "The send is canceled.");
  };
  return (
    <div class="banner bad" role="status">
      <p>
        <b>Halted</b> <Time at={at} />: {number(count)} of {plural(tried, "message")} by {channelName(channel)}{" "}
        {words[reason]} ({percent(rate)}, limit {percent(limit)}). {children}
      </p>
      {error && <p>{error.message}</p>}
      <div class="row">
        <Button needs="notifications.resume" onClick={() => setAsking("resume")}>
          Resume
        </Button>
        <Button kind="danger" needs="notifications.cancel" onClick={() => setAsking("cancel")}>
          Cancel
        </Button>
      </div>
      {asking && (
        <Confirm
          title={asking === "resume" ? "Resume the send?" : "Cancel the send?"}
          act={asking === "resume" ? "Resume it" : "Cancel the send"}
          isBusy={resume.isBusy || cancel.isBusy}
          close={() => setAsking(undefined)}
          onConfirm={() => void act()}
        >
          {asking === "resume"
            ? "Everyone who is left gets it. It halts again if what follows goes wrong too."
            : "Who did not get it yet, will not. What was delivered stays delivered."}
        </Confirm>
      )}
    </div>
  );
}
