// A mail that is being designed, in the frame of mails: a click on a block chooses it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Design } from "./design.ts";
import { inTheme, mailHtml, sampled } from "./mail.ts";

interface FrameProps {
  design: Design;
  title: string;
  width: number;
  isDark?: boolean;
  /** In the editor. */
  choosing?: { chosen: string | undefined; choose: (id: string) => void };
}

interface FrameMessage {
  letterReady?: boolean;
  letterHeight?: number;
  letterBlock?: string;
}

export function MailFrame({ design, title, width, isDark = false, choosing }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(400);
  const chosen = choosing?.chosen;
  const html = inTheme(sampled(mailHtml(design, { chosen })), isDark);
  useEffect(() => {
    const fill = () => frame.current?.contentWindow?.postMessage({ html }, "*");
    const listen = ({ source, data }: MessageEvent<FrameMessage>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.letterReady) fill();
      if (data.letterHeight) setHeight(data.letterHeight);
      if (data.letterBlock) choosing?.choose(data.letterBlock);
    };
    addEventListener("message", listen);
    fill();
    return () => removeEventListener("message", listen);
  }, [html]);
  return (
    <iframe
      ref={frame}
      title={title}
      class={isDark ? "mail-frame dark" : "mail-frame"}
      src="/console/letter-images.html"
      width={width}
      height={height}
      {...(!choosing && { tabIndex: -1 })}
    />
  );
}
