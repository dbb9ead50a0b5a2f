// Buttons and links that look like buttons. A refused one stays, disabled, with its reason.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Action } from "../app/action.ts";
import type { AnswerOf, ArgumentsOf, Operation } from "../app/api.ts";
import { enterAdded } from "../app/focus.ts";
import { REDO, UNDO } from "../app/history.ts";
import { may } from "../app/may.ts";
import { meanwhile } from "../app/router.ts";
import { say } from "../app/toast.ts";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonStyle {
  kind?: "primary" | "danger" | "quiet" | undefined;
  icon?: IconName | undefined;
  wide?: boolean;
}

interface ButtonProps extends ButtonStyle {
  children?: ComponentChildren;
  /** What the button does, where it shows an icon alone. */
  label?: string;
  /** The operation that it calls: who may not call it sees why. */
  needs?: Operation | undefined;
  /** Why it cannot be used now. */
  refusal?: string | undefined;
  isBusy?: boolean | undefined;
  type?: "button" | "submit";
  pressed?: boolean;
  /** It adds fields, the first of which gets the focus. */
  adds?: boolean;
  /** Press it too, as `Control+Z`. */
  keys?: string;
  onClick?: (() => void) | undefined;
}

const classOf = ({ kind, wide }: ButtonStyle, isIcon: boolean): string =>
  ["button", kind, wide && "wide", isIcon && "icon-only"].filter(Boolean).join(" ");

export function Button({
  children,
  label,
  needs,
  refusal,
  isBusy,
  type = "button",
  onClick,
  pressed,
  adds,
  keys,
  ...look
}: ButtonProps) {
  const id = useId();
  const reason = (needs && may(needs).reason) || refusal;
  const isRefused = reason !== undefined && reason !== "";
  const press = (button: Element) => {
    if (isRefused || isBusy) return;
    if (adds) enterAdded(button);
    onClick?.();
  };
  return (
    <>
      <button
        type={isRefused ? "button" : type}
        class={classOf(look, children === undefined)}
        aria-label={label}
        aria-disabled={isRefused || isBusy ? "true" : undefined}
        aria-describedby={isRefused ? id : undefined}
        aria-pressed={pressed}
        aria-keyshortcuts={keys}
        title={isRefused ? reason : label}
        onClick={({ currentTarget }) => press(currentTarget)}
      >
        {look.icon && <Icon name={look.icon} />}
        {children}
        {isBusy && <span class="unseen">, in progress</span>}
      </button>
      {isRefused && (
        <span id={id} class="refusal">
          {reason}
        </span>
      )}
    </>
  );
}

interface UndoProps {
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
}

/** Each while there is something to undo, or to do again. */
export const Undo = ({ undo, redo }: UndoProps) => (
  <>
    {undo && (
      <Button keys={UNDO} onClick={undo}>
        Undo
      </Button>
    )}
    {redo && (
      <Button keys={REDO} onClick={redo}>
        Redo
      </Button>
    )}
  </>
);

interface ActProps<O extends Operation> extends ButtonStyle {
  action: Action<O>;
  given: NoInfer<ArgumentsOf<O>>;
  /** Once it is done. */
  said?: string;
  then?: (answer: AnswerOf<O>) => void;
  label?: string;
  children?: ComponentChildren;
}

/** Calls an operation at once. */
export function Act<O extends Operation>({ action, given, said, then, ...button }: ActProps<O>) {
  const act = async () => {
    const ifHere = meanwhile();
    const done = await action.run(...given);
    if (done && said) say(said);
    if (done) ifHere(() => then?.(done.answer));
  };
  return <Button {...button} needs={action.operation} isBusy={action.isBusy} onClick={() => void act()} />;
}

export function LinkButton({
  children,
  href,
  needs,
  ...look
}: ButtonStyle & { children: ComponentChildren; href: string; needs?: Operation }) {
  const reason = needs && may(needs).reason;
  if (reason)
    return (
      <Button {...look} needs={needs}>
        {children}
      </Button>
    );
  return (
    <a class={classOf(look, false)} href={href}>
      {look.icon && <Icon name={look.icon} />}
      {children}
    </a>
  );
}

/** Gives up what was written and not saved. */
export const Discard = ({ onClick }: { onClick: () => void }) => (
  <Button kind="quiet" onClick={onClick}>
    Discard
  </Button>
);
