// A mail that is being designed, in the frame of mails: a click on a block chooses it.
import { useState } from "preact/hooks";
import { useMailFrame } from "../components/seen.tsx";
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

export function MailFrame({ design, title, width, isDark = false, choosing }: FrameProps) {
  const [height, setHeight] = useState(400);
  const chosen = choosing?.chosen;
  const html = inTheme(sampled(mailHtml(design, { chosen })), isDark);
  const frame = useMailFrame(html, [], ({ letterHeight, letterBlock }) => {
    if (letterHeight) setHeight(letterHeight);
    if (letterBlock) choosing?.choose(letterBlock);
  });
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
