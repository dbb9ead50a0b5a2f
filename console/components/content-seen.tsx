// A message as it was written: what every channel shows, and what some show instead.
import { channelName } from "../app/sentences.ts";
import { type Content, owners, ownOf, shownOn } from "./content-model.ts";
import { SeenAs } from "./seen.tsx";

export function ContentSeen({ content }: { content: Content }) {
  const own = owners.filter((channel) => ownOf(content, channel));
  return (
    <>
      {!own.includes("in_app") && <SeenAs channel="in_app" title={content.title} body={content.body} />}
      {own.map((channel) => (
        <section key={channel} class="stack tight">
          <h3>{channelName(channel)}</h3>
          <SeenAs channel={channel} {...shownOn(content, channel)} />
        </section>
      ))}
    </>
  );
}
