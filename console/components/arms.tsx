// A message that may have a second arm: both as tabs of its card, and the share that gets the first.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { saidBy } from "../../shared/rules/channel-content.ts";
import { usePlace } from "../app/places.ts";
import { Button } from "./button.tsx";
import { ContentEditor, tabOf } from "./content-editor.tsx";
import { type Content, contentOf, faultsUnder, type Own } from "./content-model.ts";
import { Check } from "./field.tsx";
import { type Message, MessageEditor, useSaid } from "./message-editor.tsx";
import { Card } from "./page.tsx";
import { Slider } from "./pickers.tsx";

export type Arm = "a" | "b";

/** The second arm is kept while it is not wanted. */
export interface Arms {
  ab: boolean;
  b: Content;
  /** In percent, of those who get A. */
  split: number;
}

export const NO_ARMS: Arms = { ab: false, b: { title: "", body: "" }, split: 50 };

interface VariantFields {
  variant_b?: Content | undefined;
  split_percentage?: number | undefined;
}

/** As the API returns them. */
export const armsOf = ({ variant_b, split_percentage }: VariantFields): Arms => ({
  ab: variant_b !== undefined,
  b: variant_b ?? NO_ARMS.b,
  split: split_percentage ?? NO_ARMS.split,
});

/** As the API takes them. */
export const armsBody = ({ ab, b, split }: Arms) =>
  ab ? { variant_b: contentOf(b), split_percentage: split } : undefined;

/** What arm B says, with what it takes from A. */
export const contentOfB = (a: Content, b: Content): Content =>
  saidBy({ ...a, by_channel: a.by_channel as never, variant_b: b as never }, "b") as Content;

export const armsInWords = (split: number): string => `${split}% get A, ${100 - split}% get B`;

interface ArmTabsProps {
  arm: Arm;
  show: (arm: Arm) => void;
  /** Those in which something is refused. */
  refused?: readonly Arm[];
}

export const ArmTabs = ({ arm, show, refused = [] }: ArmTabsProps) => (
  <>
    {(["a", "b"] as const).map((one) => (
      <Button
        key={one}
        kind="quiet"
        icon={refused.includes(one) ? "warning" : undefined}
        pressed={one === arm}
        onClick={() => show(one)}
      >
        Variant {one.toUpperCase()}
      </Button>
    ))}
  </>
);

interface ArmShareProps extends Pick<Arms, "ab" | "split"> {
  note: string;
  onInput: (part: Partial<Arms>) => void;
}

/** Whether there are two arms, and the share of each. */
export const ArmShare = ({ ab, split, note, onInput }: ArmShareProps) => (
  <>
    <Check label="Compare with a variant B" note={note} checked={ab} onInput={(on) => onInput({ ab: on })} />
    {ab && <Slider label="Share that gets A" value={split} min={1} max={99} onInput={(to) => onInput({ split: to })} />}
  </>
);

interface ArmedMessageProps {
  title?: string;
  actions?: ComponentChildren;
  message: Message;
  onMessage: (message: Message) => void;
  arms: Arms;
  onArms: (part: Partial<Arms>) => void;
  /** What the API says is wrong, by a path that begins at the message. */
  faults: Record<string, string>;
  /** The beginning of the paths of the message. */
  at?: string;
  /** What is wrong with the content, if the paths of that are others. */
  own?: Record<string, string>;
  shown: Own | "";
  show: (channel: Own | "") => void;
  /** Unlike that of any other message of the form. */
  name?: string;
  /** Called with the arm that is looked at: where the focus is, or which was opened. */
  watch?: (arm: Arm) => void;
  /** Below the message. */
  children?: ComponentChildren;
}

const IN_MESSAGE = /^(title|body|(content|variant_b)\..+)$/;

export function ArmedMessage(props: ArmedMessageProps) {
  const {
    title = "Message",
    actions,
    message,
    onMessage,
    arms,
    onArms,
    faults,
    at = "",
    own,
    shown,
    show,
    name,
    watch,
  } = props;
  const [arm, setArm] = useState<Arm>("a");
  const showArm = (one: Arm) => {
    setArm(one);
    watch?.(one);
  };
  // The same object until another answer comes: an editor shows what is refused once.
  const key = JSON.stringify(faults);
  const ofA = useMemo(() => ({ ...own, ...faultsUnder(faults, "content.") }), [key]);
  const ofB = useMemo(() => faultsUnder(faults, "variant_b."), [key]);
  const original = useSaid(message).content ?? NO_ARMS.b;
  const refused = (["a", "b"] as const).filter((one) => Object.keys(one === "a" ? ofA : ofB).length > 0);
  const [shownOfB, showOfB] = useState<Own | "">("");
  // What is refused must be seen, also where the other arm is open.
  useEffect(() => {
    const [only, ...others] = refused;
    if (only && others.length === 0) showArm(only);
  }, [key]);
  const { end, enter } = useEntry();
  usePlace({
    has: (path) => path.startsWith(at) && IN_MESSAGE.test(path.slice(at.length)),
    show: (path) => {
      const isOfB = path.startsWith(`${at}variant_b.`);
      showArm(isOfB ? "b" : "a");
      (isOfB ? showOfB : show)(tabOf(path.slice(at.length).replace(/^(content|variant_b)\./, "")));
      enter(path);
    },
  });
  return (
    <Card
      title={title}
      onFocusIn={() => watch?.(arm)}
      actions={
        (arms.ab || actions) && (
          <>
            {arms.ab && <ArmTabs arm={arm} show={showArm} refused={refused} />}
            {actions}
          </>
        )
      }
    >
      {arms.ab && arm === "b" ? (
        <ContentEditor
          content={arms.b}
          original={original}
          onInput={(b) => onArms({ b })}
          faults={ofB}
          shown={shownOfB}
          show={showOfB}
        />
      ) : (
        <MessageEditor
          message={message}
          onInput={onMessage}
          templateFault={faults.template_id}
          {...(name && { name })}
          faults={ofA}
          shown={shown}
          show={show}
        />
      )}
      <ArmShare
        {...arms}
        note="Each person gets one of the two; the report shows which did better."
        onInput={(part) => {
          onArms(part);
          if (part.ab !== undefined) showArm(part.ab ? "b" : "a");
        }}
      />
      {props.children}
      <span ref={end} hidden />
    </Card>
  );
}

/** Moves the focus to what is refused in the card that has this end, or to the field of the path, once it is shown. */
function useEntry() {
  const end = useRef<HTMLSpanElement>(null);
  const [entered, setEntered] = useState({ path: "" });
  const isFirst = useRef(true);
  useEffect(() => {
    const card = end.current?.closest(".card");
    const field = entered.path.split(".").at(-1);
    const place = ['[aria-invalid="true"]', ".fault", `[name="${field}"]`, ".channel-tabs [aria-pressed=true]"]
      .map((one) => card?.querySelector<HTMLElement>(one))
      .find((one) => one);
    if (!isFirst.current) {
      place?.focus();
      place?.scrollIntoView({ block: "center" });
    }
    isFirst.current = false;
  }, [entered]);
  return { end, enter: (path: string) => setEntered({ path }) };
}
