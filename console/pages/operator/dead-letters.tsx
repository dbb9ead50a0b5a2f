// Messages that used up their attempts, by queue, and the way to send them again.
import { useEffect, useState } from "preact/hooks";
import { useLocalCall } from "../../app/local.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Card, Code } from "../../components/page.tsx";
import { Empty, Skeleton } from "../../components/states.tsx";

interface Answer {
  dead_letters: { queue: string; count: number }[];
  messages?: { id: string; sent_at: string | null; received: number; message: unknown }[];
}

export function DeadLetters() {
  const { run, error, isBusy } = useLocalCall();
  const [found, setFound] = useState<Answer["dead_letters"]>();
  const [messages, setMessages] = useState<{ queue: string; text: string }>();
  const read = async () => {
    const done = await run<Answer>("operator", { dead_letters: {} });
    if (done) setFound(done.answer.dead_letters);
  };
  useEffect(() => void read(), []);
  return (
    <Card title="Dead letters">
      {error && <p class="banner bad">{error}</p>}
      {!found && !error && <Skeleton rows={2} />}
      {found?.length === 0 && <Empty title="There are no dead letters." />}
      {found?.map(({ queue, count }) => (
        <div class="actions" key={queue}>
          <b>{queue}</b> {plural(count, "message")}
          <Button
            isBusy={isBusy}
            onClick={async () => {
              const done = await run<Answer>("operator", { dead_letters: { queue } });
              if (done) setMessages({ queue, text: JSON.stringify(done.answer.messages, null, 2) });
            }}
          >
            Show
          </Button>
          <Button
            isBusy={isBusy}
            onClick={async () => {
              const done = await run("operator", { redrive: { queue } });
              if (!done) return;
              say(`${plural(count, "message")} of ${queue} are sent again.`);
              setMessages(undefined);
              await read();
            }}
          >
            Redrive
          </Button>
        </div>
      ))}
      {messages && <Code text={messages.text} label={`Copy the messages of ${messages.queue}`} />}
    </Card>
  );
}
