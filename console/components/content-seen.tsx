// A message as it was written: what every channel shows, and what some show instead.
import { inPlain } from "../../shared/rules/placeholders.ts";
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { channelName } from "../app/sentences.ts";
import { type Content, owners, ownOf, shownOn } from "./content-model.ts";
import { useSender } from "./rendered.tsx";
import { SeenAs } from "./seen.tsx";
import { Loaded } from "./states.tsx";

export function ContentSeen({ content }: { content: Content }) {
  const own = owners.filter((channel) => ownOf(content, channel));
  const from = useSender("email", own.includes("email"));
  return (
    <>
      {!own.includes("in_app") && (
        <SeenAs channel="in_app" title={inPlain(content.title)} body={inPlain(content.body)} />
      )}
      {own.map((channel) => {
        const { title, body, html } = shownOn(content, channel);
        return (
          <section key={channel} class="stack tight">
            <h3>{channelName(channel)}</h3>
            <SeenAs
              channel={channel}
              title={inPlain(title)}
              body={inPlain(body)}
              html={html && inPlain(html)}
              from={from}
            />
          </section>
        );
      })}
    </>
  );
}

export function TemplateSeen({ id }: { id: string }) {
  const template = useQuery("templates.get", [id]);
  return (
    <Loaded query={template}>
      {({ name, content }) => (
        <>
          <p>
            The template <a href={pathTo("content", `templates/${id}`)}>{name}</a>
          </p>
          <ContentSeen content={content} />
        </>
      )}
    </Loaded>
  );
}
