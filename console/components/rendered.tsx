// A message as the service renders it.
import type { TemplatesPreviewAnswer } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { SeenAs } from "./seen.tsx";

type Rendering = TemplatesPreviewAnswer["renderings"][number];

/** The sender of the workspace's mails, as a mailbox shows it. @param when false where no mail is shown */
export function useSender(channel: string, when = true): string | undefined {
  const channels = useQuery("channels.list", [], { when }).data?.channels;
  const { from_name, from_email } = channels?.find(({ type }) => type === channel)?.settings ?? {};
  return from_name && from_email ? `${from_name} <${from_email}>` : from_email;
}

interface OpensProps {
  /** The link that a tap opens. */
  url?: string | undefined;
  buttons?: readonly { id: string; title: string; url: string }[] | undefined;
}

/** The links that a message opens. */
export function Opens({ url, buttons = [] }: OpensProps) {
  const all = [...(url ? [{ id: "", title: "A tap", url }] : []), ...buttons];
  if (all.length === 0) return null;
  return (
    <ul class="hint">
      {all.map(({ id, title, url: to }) => (
        <li key={id}>
          {title}: {to === "" ? "closes the message" : to}
        </li>
      ))}
    </ul>
  );
}

/** The message on one channel, with what it opens and what to look at before it is sent. */
export function Rendered({ rendering }: { rendering: Rendering }) {
  const { channel, title, body, html, push, in_app } = rendering;
  const from = useSender(channel);
  return (
    <>
      <SeenAs channel={channel} title={title ?? ""} body={body ?? ""} html={html} from={from} />
      <Opens url={push?.url} buttons={push?.buttons ?? in_app?.actions} />
      <Warnings {...rendering} />
    </>
  );
}

export const Warnings = ({ warnings }: Pick<Rendering, "warnings">) => (
  <>
    {warnings.map(({ code, message }) => (
      <p key={code} class="hint" role="note">
        {message}
      </p>
    ))}
  </>
);
