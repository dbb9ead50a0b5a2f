// Sends the message to the test subscribers and to oneself, and says what became of it.
import { useState } from "preact/hooks";
import type { TestsTestNotificationsAnswer } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { type Draft, missingInMessage, testBodyOf } from "./draft.ts";

const states = { sent: "sent", failed: "failed", skipped: "not sent", unknown: "not confirmed" };

export function TestSend({ draft, chosen }: { draft: Draft; chosen: readonly string[] }) {
  const test = useAction("tests.testNotifications");
  const [variant, setVariant] = useState<"a" | "b">("a");
  const [results, setResults] = useState<TestsTestNotificationsAnswer["deliveries"]>([]);
  const submit = async () => {
    setResults([]);
    const done = await test.run(testBodyOf(draft, chosen, variant));
    if (!done) return;
    setResults(done.answer.deliveries);
  };
  return (
    <Card title="Test send">
      <p class="dim">Goes to the test subscribers of the workspace, and by email to you. No report counts it.</p>
      {draft.ab && <SelectField label="Variant" value={variant} options={{ a: "A", b: "B" }} onInput={setVariant} />}
      <div class="actions">
        <Button
          icon="send"
          needs="tests.testNotifications"
          refusal={missingInMessage(draft, chosen)}
          isBusy={test.isBusy}
          onClick={() => void submit()}
        >
          Send test
        </Button>
      </div>
      {test.error && <Failure error={test.error} />}
      <ul class="stack tight" aria-live="polite">
        {results.map(({ subscriber_id, channel, state, reason }, n) => (
          <li key={`${n} ${channel}`}>
            <Badge state={state} word={states[state]} /> {channelName(channel)},{" "}
            {subscriber_id === null ? "you" : "test subscriber"}
            {reason && <span class="dim"> {reasonText(reason)}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
