// Sends the message to the test subscribers and to oneself, and says what became of it.
import { useState } from "preact/hooks";
import type { TestsTestNotificationsAnswer, TestsTestNotificationsBody } from "../../sdk/src/types.gen.ts";
import { useAction } from "../app/action.ts";
import { channelName, reasonText } from "../app/sentences.ts";
import { Badge } from "./badge.tsx";
import { Button } from "./button.tsx";
import { SelectField } from "./field.tsx";
import { Card } from "./page.tsx";
import { PersonLink } from "./person.tsx";
import { Failure } from "./states.tsx";

const states = { sent: "sent", failed: "failed", skipped: "not sent", unknown: "not confirmed" };

interface TestSendProps {
  /** What is sent: as a whole, or of its second arm. */
  bodyOf: (variant: "a" | "b") => TestsTestNotificationsBody;
  /** Why it cannot be sent yet. */
  missing: string | undefined;
  hasVariants?: boolean;
}

export function TestSend({ bodyOf, missing, hasVariants = false }: TestSendProps) {
  const test = useAction("tests.testNotifications");
  const [variant, setVariant] = useState<"a" | "b">("a");
  const [results, setResults] = useState<TestsTestNotificationsAnswer["deliveries"]>([]);
  const submit = async () => {
    setResults([]);
    const done = await test.run(bodyOf(variant));
    if (!done) return;
    setResults(done.answer.deliveries);
  };
  return (
    <Card title="Test send">
      <p class="dim">
        Goes to the test subscribers of the workspace, and by email to you. It is not counted in reports.
      </p>
      {hasVariants && <SelectField label="Variant" value={variant} options={{ a: "A", b: "B" }} onInput={setVariant} />}
      <div class="actions">
        <Button
          icon="send"
          needs="tests.testNotifications"
          refusal={missing}
          isBusy={test.isBusy}
          onClick={() => void submit()}
        >
          Send test
        </Button>
      </div>
      {test.error && <Failure error={test.error} />}
      <ul class="stack tight results" aria-live="polite">
        {results.map(({ subscriber_id, channel, state, reason }, n) => (
          <li key={`${n} ${channel}`}>
            <Badge state={state} word={states[state]} /> {channelName(channel)},{" "}
            {subscriber_id === null ? "you" : <PersonLink id={subscriber_id} />}
            {reason && <span class="dim"> {reasonText(reason)}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
