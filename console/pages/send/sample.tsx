// What one person of the audience sees, by channel: rendered by the code that sends.
import { useState } from "preact/hooks";
import type { NotificationPreview, NotificationsCreateBody } from "../../../sdk/src/types.gen.ts";
import { classOf } from "../../../shared/rules/channel-types.ts";
import { personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { momentText } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/page.tsx";
import { Rendered } from "../../components/rendered.tsx";
import { SeenAs } from "../../components/seen.tsx";

type ChannelType = Parameters<typeof classOf>[0];

interface Shown {
  preview: NotificationPreview;
  /** What was previewed. */
  body: NotificationsCreateBody;
  channelTypes: readonly string[];
  /** The class of the channel that is shown. */
  wanted: string;
  want: (channel: string) => void;
}

export function Sample({ preview, body, channelTypes, wanted, want }: Shown) {
  const [at, setAt] = useState(0);
  const { samples } = preview;
  const sample = samples[Math.min(at, samples.length - 1)];
  const person = useQuery("subscribers.get", [sample?.subscriber_id ?? ""], { when: sample !== undefined });
  const isFirst = sample === undefined || sample.subscriber_id === preview.rendered_for;
  const other = useQuery(
    "recipients.previewNotifications",
    [{ ...body, render_for: sample?.subscriber_id, preview_id: preview.preview_id }],
    {
      when: !isFirst,
    },
  );
  if (!sample)
    return (
      <Card title="Preview">
        <p class="dim">No one in this audience would get the message.</p>
      </Card>
    );
  const classes = [
    ...new Set(sample.channels.length > 0 ? sample.channels : channelTypes.map((type) => classOf(type as ChannelType))),
  ];
  const shown = classes.includes(wanted) ? wanted : (classes[0] ?? "in_app");
  const { renderings } = (isFirst ? preview : other.data) ?? { renderings: [] };
  const rendering = renderings.find(({ channel }) => channel === shown || classOf(channel) === shown);
  const step = (by: number) => setAt((Math.min(at, samples.length - 1) + by + samples.length) % samples.length);
  return (
    <Card
      title={
        <>
          As <a href={pathTo("people", sample.subscriber_id)}>{person.data ? personName(person.data) : "…"}</a> sees it
        </>
      }
      actions={
        samples.length > 1 && (
          <>
            <Button kind="quiet" icon="left" label="Previous person" onClick={() => step(-1)} />
            <span class="dim">
              {Math.min(at, samples.length - 1) + 1} of {samples.length}
            </span>
            <Button kind="quiet" icon="right" label="Next person" onClick={() => step(1)} />
          </>
        )
      }
    >
      {classes.length > 1 && (
        <div class="actions">
          {classes.map((name) => (
            <Button key={name} kind="quiet" pressed={name === shown} onClick={() => want(name)}>
              {channelName(name)}
            </Button>
          ))}
        </div>
      )}
      {rendering ? (
        <Rendered rendering={rendering} />
      ) : (
        <SeenAs channel={shown} title={sample.title ?? ""} body={sample.body ?? ""} />
      )}
      {sample.variant_id && <p class="dim">Variant {sample.variant_id.toUpperCase()}</p>}
      {sample.deferred_until && (
        <p class="dim">Waits for the end of quiet hours, {momentText(sample.deferred_until)}.</p>
      )}
    </Card>
  );
}
