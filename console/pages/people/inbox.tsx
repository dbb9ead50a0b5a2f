// The inbox of a person in the app, as it is there now.
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { fullTime } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Card } from "../../components/page.tsx";
import { SeenAs } from "../../components/seen.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";

const LISTED = 50;

export function Inbox({ id }: { id: string }) {
  const inbox = useQuery("inbox.listMessages", [{ subscriber_id: id, limit: LISTED }]);
  return (
    <Card title="Inbox">
      <Loaded query={inbox} skeleton={<Skeleton rows={4} />}>
        {({ messages }) => (
          <>
            {messages.length === 0 && <p class="dim">The inbox is empty. Messages stay there for 30 days.</p>}
            <ol class="stack">
              {messages.map(({ id: key, notification_id, content, status, created_at, read_at }) => (
                <li key={key} class="stack tight">
                  <p>
                    <Badge state={status} />{" "}
                    <span class="dim">
                      {fullTime(created_at)}
                      {read_at && `, read ${fullTime(read_at)}`}
                    </span>{" "}
                    <a href={pathTo("activity", notification_id, { person: id })}>View send</a>
                  </p>
                  <SeenAs channel="in_app" title={content.title} body={content.body} />
                </li>
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </Card>
  );
}
