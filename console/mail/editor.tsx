// The editor of a mail made of blocks: their list at the left, the mail in the middle, settings at the right.
import { useEffect, useRef, useState } from "preact/hooks";
import { CLIPPED_BYTES } from "../../shared/rules/content-kinds.ts";
import { useHistory } from "../app/history.ts";
import { me } from "../app/session.ts";
import { bytes } from "../app/time.ts";
import { Button, Undo } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { useLastWritten, Variables } from "../components/variables.tsx";
import { BlockList, BlockMoves, Palette } from "./block-list.tsx";
import type { Block, BlockType, Design } from "./design.ts";
import { MailFrame } from "./frame.tsx";
import { BlockForm, type BlockFormProps, LookForm } from "./inspector.tsx";
import { kinds } from "./kinds.ts";
import { bytesOf, isTooLarge, mailHtml } from "./mail.ts";
import { designOf, type Starter, starters } from "./starters.ts";

const WIDTHS = { Desktop: 680, Phone: 320 };

export interface ComposedMail {
  design: string;
  html: string;
  /** Of a starter, where the mail says nothing yet. */
  subject?: string;
  preheader?: string;
}

interface EditorProps {
  /** Undefined: a starter is chosen first. */
  design: Design | undefined;
  /** The id of the block whose settings are shown first. */
  at?: string | undefined;
  onInput: (made: ComposedMail) => void;
  close: () => void;
}

/** It stands inside the form of a message, which an Enter here must not send. */
function keep(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

export function MailEditor({ design: given, at, onInput, close }: EditorProps) {
  const [design, setDesign] = useState(given);
  const set = (next: Design, more: Pick<ComposedMail, "subject" | "preheader"> = {}) => {
    setDesign(next);
    onInput({ design: JSON.stringify(next), html: mailHtml(next), ...more });
  };
  const begin = (starter: Starter) => {
    const { subject, preheader } = starter;
    set(designOf(starter, me.value?.tenant.name), { subject, preheader });
  };
  return (
    <Dialog title={design ? "Design the email" : "Begin with"} close={close} class="mail-editor">
      <form class="whole" noValidate onSubmit={keep}>
        {design ? (
          <Bench design={design} at={at} onInput={set} close={close} />
        ) : (
          <Starters begin={begin} close={close} />
        )}
      </form>
    </Dialog>
  );
}

function Starters({ begin, close }: { begin: (starter: Starter) => void; close: () => void }) {
  return (
    <>
      <div class="starters">
        {starters.map((starter, n) => (
          // What can be scrolled would have the focus first.
          <button key={starter.name} type="button" autofocus={n === 0} onClick={() => begin(starter)}>
            <span class="starter-picture" aria-hidden="true">
              <MailFrame design={designOf(starter, me.value?.tenant.name)} title={starter.name} width={680} />
            </span>
            <b>{starter.name}</b>
            <span class="dim">{starter.about}</span>
          </button>
        ))}
      </div>
      <div class="actions end">
        <Button onClick={close}>Cancel</Button>
      </div>
    </>
  );
}

interface BenchProps extends Pick<EditorProps, "at"> {
  design: Design;
  onInput: (design: Design) => void;
  close: () => void;
}

function Bench({ design, at, onInput, close }: BenchProps) {
  const { change, undo, redo } = useHistory(design, onInput);
  const [chosen, choose] = useState(at);
  const { bench, edit, onKeyDown } = useWay(chosen, choose, at);
  const [width, setWidth] = useState(WIDTHS.Desktop);
  const [isDark, setDark] = useState(false);
  const { blocks } = design;
  const block = blocks.find(({ id }) => id === chosen);
  const list = {
    blocks,
    chosen,
    choose,
    edit,
    change: (next: readonly Block[]) => change({ ...design, blocks: next }),
  };
  const put = (next: Block) => list.change(blocks.map((one) => (one.id === next.id ? next : one)));
  return (
    <>
      <div class="mail-bar">
        <div class="actions">
          <Undo undo={undo} redo={redo} />
        </div>
        <div class="actions">
          {Object.entries(WIDTHS).map(([name, pixels]) => (
            <Button key={name} kind="quiet" pressed={pixels === width} onClick={() => setWidth(pixels)}>
              {name}
            </Button>
          ))}
          <Button kind="quiet" icon="moon" pressed={isDark} onClick={() => setDark(!isDark)}>
            Dark
          </Button>
        </div>
        <div class="actions">
          <Size design={design} />
          <Button kind="primary" onClick={close}>
            Done
          </Button>
        </div>
      </div>
      <div class="mail-bench" ref={bench}>
        <section class="mail-side" aria-label="Structure">
          <BlockList {...list} />
          <p class="hint">
            <kbd>Enter</kbd> leads to the settings of a block, <kbd>Esc</kbd> back. <kbd>Alt ↑</kbd> and{" "}
            <kbd>Alt ↓</kbd> move it, <kbd>Delete</kbd> removes it.
          </p>
          <h3>Add a block</h3>
          <Palette {...list} />
        </section>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long mail is scrolled by keyboard */}
        <section class="mail-stage" aria-label="The email" tabIndex={0}>
          <MailFrame
            design={design}
            title="The email"
            width={width}
            isDark={isDark}
            choosing={{ chosen, choose: edit }}
          />
        </section>
        <section class="mail-side" aria-label="Settings" onKeyDown={onKeyDown}>
          <h3>{block ? kinds[block.type].label : "The whole email"}</h3>
          {block ? (
            <>
              <BlockMoves {...list} />
              <Written key={block.id} block={block} change={put} />
              <Button kind="quiet" onClick={() => choose(undefined)}>
                Settings of the whole email
              </Button>
            </>
          ) : (
            <LookForm look={design.look} change={(look) => change({ ...design, look })} />
          )}
        </section>
      </div>
    </>
  );
}

const WORDLESS: readonly BlockType[] = ["divider", "spacer"];

/** What a block says, with the variables of a person where it says something. */
function Written(props: BlockFormProps) {
  const { inside, note, insert } = useLastWritten();
  return (
    <div class="stack tight" ref={inside} onFocusIn={note}>
      <BlockForm {...props} />
      {!WORDLESS.includes(props.block.type) && <Variables insert={insert} />}
    </div>
  );
}

/** The way from a block into its settings, and back: between them are all blocks and the mail. */
function useWay(chosen: string | undefined, choose: (id: string) => void, at: string | undefined) {
  const bench = useRef<HTMLDivElement>(null);
  // A new object each time, so that the block that is chosen already is entered too.
  const [entered, setEntered] = useState(at === undefined ? undefined : { id: at });
  const focus = (selector: string) => bench.current?.querySelector<HTMLElement>(selector)?.focus();
  // In a narrow window its settings stand below all blocks. What the keyboard is at stays in sight.
  useEffect(() => {
    const isByKey = bench.current?.querySelector(".block-list :focus-visible");
    if (chosen && !isByKey) bench.current?.querySelector("[aria-label=Settings]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  useEffect(() => {
    if (entered) focus("[aria-label=Settings] :is(input, textarea, select)");
  }, [entered]);
  const edit = (id: string) => {
    choose(id);
    setEntered({ id });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isLeft = event.key === "Escape" && !event.isComposing;
    if (!isLeft || !bench.current?.querySelector(".block-list [aria-pressed=true]")) return;
    // Else the dialog would close.
    event.preventDefault();
    event.stopPropagation();
    focus(".block-list [aria-pressed=true]");
  };
  return { bench, edit, onKeyDown };
}

function Size({ design }: { design: Design }) {
  const html = mailHtml(design);
  const isRefused = isTooLarge(html, design);
  const isClipped = bytesOf(html) > CLIPPED_BYTES;
  return (
    <span class={isRefused || isClipped ? "fault" : "dim"}>
      {bytes(bytesOf(html))}
      {isRefused ? ": too large to be saved" : isClipped && ": some mailboxes cut it off"}
    </span>
  );
}
