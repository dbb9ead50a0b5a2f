// The HTML of a mail made of blocks: the editor is loaded when it is opened.
import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { plural } from "../app/time.ts";
import { readDesign } from "../mail/design.ts";
import type { Made, MailEditor } from "../mail/editor.tsx";
import { Button } from "./button.tsx";

interface MailDesignProps {
  /** What was kept of it, as text. */
  design: string | undefined;
  /** Undefined fields are dropped. */
  onInput: (part: Partial<Record<keyof Made, string | undefined>>) => void;
}

type Editor = ComponentType<Parameters<typeof MailEditor>[0]>;

export function MailDesign({ design: kept, onInput }: MailDesignProps) {
  const [Opened, setOpened] = useState<{ Editor: Editor }>();
  const [isLoading, setLoading] = useState(false);
  const design = readDesign(kept);
  const open = async () => {
    setLoading(true);
    const { MailEditor: Editor } = await import("../mail/editor.tsx");
    setLoading(false);
    setOpened({ Editor });
  };
  return (
    <div class="actions">
      <Button icon="pencil" isBusy={isLoading} onClick={() => void open()}>
        {design ? "Edit the design" : "Design with blocks"}
      </Button>
      {design ? (
        <>
          <span class="dim">{plural(design.blocks.length, "block")}</span>
          <Button kind="quiet" onClick={() => onInput({ design: undefined })}>
            Edit the HTML instead
          </Button>
        </>
      ) : (
        <span class="dim">Or write HTML below.</span>
      )}
      {Opened && <Opened.Editor design={design} onInput={onInput} close={() => setOpened(undefined)} />}
    </div>
  );
}
