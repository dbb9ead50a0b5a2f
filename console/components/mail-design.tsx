// The HTML of a mail made of blocks: the editor is loaded when it is opened, and what is refused is said of its block.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { plural } from "../app/time.ts";
import { say } from "../app/toast.ts";
import { readDesign } from "../mail/design.ts";
import type { ComposedMail, MailEditor } from "../mail/editor.tsx";
import type { RefusedBlock } from "../mail/refused.ts";
import { Button } from "./button.tsx";
import { Confirm, DialogButton } from "./dialog.tsx";

interface MailDesignProps {
  /** What was kept of it, as text. */
  design: string | undefined;
  html: string;
  /** What the API says is wrong with the HTML of the design. */
  fault: string | undefined;
  /** Undefined fields are dropped. */
  onInput: (part: Partial<Record<keyof ComposedMail, string | undefined>>) => void;
}

type Editor = ComponentType<Parameters<typeof MailEditor>[0]>;

export function MailDesign({ design: kept, html, fault, onInput }: MailDesignProps) {
  const [Opened, setOpened] = useState<{ Editor: Editor; at: string | undefined }>();
  const [isLoading, setLoading] = useState(false);
  const [refused, setRefused] = useState<RefusedBlock>();
  const design = readDesign(kept);
  const open = async (at?: string) => {
    setLoading(true);
    await import("../mail/late.ts").then(
      ({ late }) => setOpened({ Editor: late.MailEditor, at }),
      () => say("The editor could not be loaded. Reload the page and try again."),
    );
    setLoading(false);
  };
  // Of what was refused: the design may have changed since.
  useEffect(() => {
    setRefused(undefined);
    if (fault === undefined || !design) return;
    void import("../mail/late.ts").then(({ late }) => setRefused(late.blockOf(design, html, fault)));
  }, [fault]);
  return (
    <>
      <div class="actions">
        <Button
          icon="pencil"
          isBusy={isLoading}
          refusal={design || html === "" ? undefined : "Empty the HTML first."}
          onClick={() => void open()}
        >
          {design ? "Edit the design" : "Design with blocks"}
        </Button>
        {design ? (
          <>
            <span class="dim">{plural(design.blocks.length, "block")}</span>
            <DialogButton
              label="Edit the HTML instead"
              kind="quiet"
              dialog={(close) => (
                <Confirm
                  title="Give up the blocks?"
                  act="Edit the HTML"
                  onConfirm={() => onInput({ design: undefined })}
                  close={close}
                >
                  The HTML stays, and cannot become blocks again.
                </Confirm>
              )}
            />
          </>
        ) : (
          <span class="dim">Or write HTML below.</span>
        )}
        {Opened && (
          <Opened.Editor design={design} at={Opened.at} onInput={onInput} close={() => setOpened(undefined)} />
        )}
      </div>
      {fault !== undefined && (
        <div class="actions">
          <p class="fault" role="alert" tabIndex={-1}>
            {refused ? `${refused.name}: ${refused.reason}` : `Design: ${fault}`}
          </p>
          {refused && <Button onClick={() => void open(refused.id)}>Show the block</Button>}
        </div>
      )}
    </>
  );
}
