// A message as it looks on its channel: letter, bubble, push, in-app card.
import { useEffect, useRef, useState } from "preact/hooks";
import { channels } from "../../shared/rules/channels.ts";
import type { ContentKind } from "../../shared/rules/content-kinds.ts";
import { smsSegments } from "../../shared/rules/sms-segments.ts";
import { loadsRemote } from "../app/mail-source.ts";
import { plural } from "../app/time.ts";
import { Button } from "./button.tsx";

interface Content {
  channel: string;
  title: string;
  body: string;
  /** The mail as it is sent. */
  html?: string | undefined;
  /** The sender of a mail that was sent. */
  from?: string | undefined;
  /** Its links lead on, as in a mailbox. Elsewhere a click would act for the person: unsubscribe them, count as theirs. */
  opens?: boolean;
}

/** @param channel a type or a class of channels */
const kindOfChannel = (channel: string): ContentKind | undefined =>
  Object.values(channels).find((one) => one.class === channel)?.content.kind;

export function SeenAs({ channel, title, body, html, from, opens }: Content) {
  const kind = kindOfChannel(channel);
  if (kind === "mail") return <Letter title={title} html={html ?? asHtml(body)} from={from} opens={opens} />;
  if (kind === "text" || kind === "template") {
    const text = title ? `${title}\n${body}` : body;
    return (
      <figure class="device">
        <div class="bubble" dir="auto">
          {text}
        </div>
        {channel === "sms" && <Segments of={text} />}
      </figure>
    );
  }
  if (kind === "card")
    return (
      <figure class="device">
        <div class="in-app-card">
          <b dir="auto">{title}</b>
          <p dir="auto">{body}</p>
        </div>
      </figure>
    );
  return (
    <figure class="device">
      <div class="push">
        <img src="/console/icon.svg" alt="" width="28" height="28" />
        <div>
          <small>Your app · now</small>
          <b dir="auto">{title}</b>
          <p dir="auto">{body}</p>
        </div>
      </div>
    </figure>
  );
}

function Segments({ of }: { of: string }) {
  const { segments, characters } = smsSegments(of);
  return (
    <figcaption class="hint">
      {plural(segments, "SMS segment")}, {plural(characters, "character")}
    </figcaption>
  );
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const isHtml = (text: string): boolean => /<[a-z][\s\S]*>/i.test(text);
const asHtml = (body: string): string =>
  isHtml(body) ? body : `<p style="font:15px/1.5 sans-serif;white-space:pre-wrap;margin:16px">${escaped(body)}</p>`;

interface LetterProps {
  title: string;
  html: string;
  from?: string | undefined;
  opens?: boolean | undefined;
}

interface FrameMessage {
  letterReady?: boolean;
  letterHeight?: number;
  letterLink?: string;
  letterBlock?: string;
}

/** Fills the frame of a mail with its HTML, and hears what the frame reports. @returns the ref of the frame */
export function useMailFrame(html: string, inputs: readonly unknown[], hear: (message: FrameMessage) => void) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const fill = () => frame.current?.contentWindow?.postMessage({ html }, "*");
    const listen = ({ source, data }: MessageEvent<FrameMessage>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.letterReady) fill();
      hear(data);
    };
    addEventListener("message", listen);
    fill();
    return () => removeEventListener("message", listen);
  }, [html, ...inputs]);
  return frame;
}

/** The hidden text with which the service begins a mail that has a preheader. */
const PREHEADER = /mso-hide:all">([^&<]*)/;

const WEB = /^https?:/;

/** The mail in a frame of an origin of its own, which runs none of its scripts and loads no remote image unasked. */
function Letter({ title, html, from = "Your product", opens = false }: LetterProps) {
  const [isAsked, setAsked] = useState(false);
  const images = isAsked || !loadsRemote(html, location.origin);
  const [height, setHeight] = useState(160);
  const frame = useMailFrame(html, [images, opens], ({ letterHeight, letterLink }) => {
    if (letterHeight) setHeight(Math.min(600, Math.max(80, letterHeight)));
    if (opens && letterLink && WEB.test(letterLink)) open(letterLink, "_blank", "noopener");
  });
  const preheader = PREHEADER.exec(html)?.[1];
  return (
    <figure class="letter">
      <figcaption>
        <small>{from}</small>
        <b>{title}</b>
        {preheader && <span class="dim">{preheader}</span>}
      </figcaption>
      <iframe
        ref={frame}
        title={`Mail: ${title}`}
        src={`/console/${images ? "letter-images" : "letter"}.html`}
        height={height}
      />
      {!images && (
        <p>
          <Button kind="quiet" onClick={() => setAsked(true)}>
            Show remote images
          </Button>
        </p>
      )}
    </figure>
  );
}
