// Dialogs: a form, a question before something is done, and a button that asks it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ANSWER_LOST, type RunningAction, useAction } from "../app/action.ts";
import type { AnswerOf, ArgumentsOf, Operation, OperationById } from "../app/api.ts";
import { go, meanwhile, pathTo } from "../app/router.ts";
import { say, toasts } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Form, FormEnd } from "./form.tsx";
import { Failure } from "./states.tsx";

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
  class?: string | undefined;
  /**
   * Neither Escape nor a cross closes it, but a button in it: what it shows is not shown again, or what it asked for is under
   * way. Closed by then, it would seem to be given up, and the answer would close the next one, with what is written there.
   */
  stays?: boolean | undefined;
}

/** Of the dialog that closes: the one that takes its place at once was opened by the same. */
let leaving: Element | null = null;

export function Dialog({ title, close, children, class: name, stays }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const said = toasts.value.at(-1);
  const [before] = useState(said);
  useLayoutEffect(() => {
    const opener = leaving ?? document.activeElement;
    dialog.current?.showModal();
    // Of a group of radio buttons the first one has the focus, and Tab would lead to the chosen one.
    if (document.activeElement?.matches("[type=radio]"))
      dialog.current?.querySelector<HTMLElement>("[type=radio]:checked")?.focus();
    // A dialog that is removed while it is open leaves the focus nowhere, and until it is removed nothing outside takes the focus.
    return () => {
      leaving = opener;
      queueMicrotask(() => {
        leaving = null;
        if (opener instanceof HTMLElement) opener.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={name}
      aria-label={title}
      data-stays={stays || undefined}
      onClose={close}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // It closes the dialog alone, and not the panel in which it was opened.
        event.stopPropagation();
        if (stays) event.preventDefault();
      }}
      // Escape, and the gesture that goes back on a phone. The browser closes now and says so later: a press between would be lost.
      onCancel={(event) => {
        event.preventDefault();
        if (!stays) close();
      }}
    >
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
        {/* What is said behind it is not heard. */}
        <span class="unseen" role="status">
          {said !== before && said?.text}
        </span>
        {/* Last, so that the focus begins in the first field. */}
        {!stays && (
          <div class="dialog-close">
            <Button kind="quiet" icon="cross" label="Close" onClick={close} />
          </div>
        )}
      </div>
    </dialog>
  );
}

interface DialogButtonProps extends Pick<Parameters<typeof Button>[0], "kind" | "icon" | "needs" | "refusal"> {
  label: string;
  dialog: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ label, dialog, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

interface FormDialogProps extends DialogProps {
  form: {
    action: RunningAction;
    /** The fields that have an input. */
    placed: Iterable<string>;
  };
  submit: string;
  refusal?: string | undefined;
  onSubmit: () => void | Promise<void>;
}

export function FormDialog({ children, onSubmit, form, submit, refusal, ...dialog }: FormDialogProps) {
  return (
    <Dialog {...dialog} stays={form.action.isBusy}>
      <Form error={form.action.error} onSubmit={onSubmit}>
        {children}
        <FormEnd {...form} submit={submit} refusal={refusal} cancel={dialog.close} />
      </Form>
    </Dialog>
  );
}

interface ActionDialogProps<T> extends Omit<FormDialogProps, "onSubmit"> {
  /** Calls the operation of the form. */
  run: () => Promise<{ answer: T } | undefined>;
  /** Once it is done. */
  said?: (answer: T) => string;
  then?: (answer: T) => void;
}

/** A form that calls an operation; why it was refused stands in the form. */
export function ActionDialog<T>({ run, said, then, ...dialog }: ActionDialogProps<T>) {
  const submit = async () => {
    const ifHere = meanwhile();
    const done = await run();
    if (!done) return;
    dialog.close();
    if (said) say(said(done.answer));
    ifHere(() => then?.(done.answer));
  };
  return <FormDialog {...dialog} onSubmit={submit} />;
}

interface ConfirmProps extends Omit<DialogProps, "class"> {
  /** Must be typed before the button works; deleting asks the name. */
  name?: string | undefined;
  act: string;
  /** What does no harm is not shown as a danger. */
  kind?: "primary" | "danger";
  isBusy?: boolean;
  onConfirm: () => void;
}

export function Confirm({ title, children, name, act, kind = "danger", isBusy, onConfirm, close }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const refusal = name !== undefined && typed !== name ? "Type the name first." : undefined;
  return (
    <Dialog title={title} close={close} stays={isBusy}>
      <div>{children}</div>
      <Form onSubmit={() => !refusal && onConfirm()}>
        {name !== undefined && (
          <TextField label={`Type ${name} to confirm`} value={typed} onInput={setTyped} autocomplete="off" />
        )}
        <div class="actions end">
          {!isBusy && <Button onClick={close}>Cancel</Button>}
          <Button kind={kind} type="submit" refusal={refusal} isBusy={isBusy}>
            {act}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface GiveUpProps {
  label?: string;
  /** Whether there is something to lose. */
  isChanged: boolean;
  onClick: () => void;
}

/** Leaves an editor without what was written, which is asked first. */
export function GiveUp({ label = "Cancel", isChanged, onClick }: GiveUpProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button kind="quiet" onClick={() => (isChanged ? setAsking(true) : onClick())}>
        {label}
      </Button>
      {isAsking && (
        <Confirm
          title="Discard your changes?"
          act="Discard"
          close={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            onClick();
          }}
        >
          What you wrote and did not save is lost.
        </Confirm>
      )}
    </>
  );
}

interface AskProps<O extends Operation> extends Omit<ConfirmProps, "onConfirm" | "isBusy"> {
  operation: O;
  given: ArgumentsOf<O>;
  stale?: readonly string[] | undefined;
  /** Once it is done. */
  said: string;
  /** What another try would do, where the answer to the first was lost. */
  lost?: string;
  then?: ((answer: AnswerOf<O>) => void) | undefined;
}

/** Asks before an operation is called; why it was refused stands in the question. */
export function Ask<O extends Operation>(props: AskProps<O>) {
  const { operation, given, stale, said, lost, then, children, ...confirm } = props;
  const action = useAction(operation, { stale });
  const act = async () => {
    const ifHere = meanwhile();
    const done = await action.run(...given);
    if (!done) return;
    confirm.close();
    say(said);
    ifHere(() => then?.(done.answer));
  };
  return (
    <Confirm {...confirm} isBusy={action.isBusy} onConfirm={() => void act()}>
      {children}
      {action.error && <Failure error={action.error} />}
      {action.error?.code === ANSWER_LOST && lost && <p>{lost}</p>}
    </Confirm>
  );
}

interface AskButtonProps<O extends Operation> extends Omit<AskProps<O>, "close"> {
  label: string;
  icon?: Parameters<typeof Button>[0]["icon"];
  refusal?: string | undefined;
}

/** A button that asks first. */
export function AskButton<O extends Operation>({ label, icon, refusal, ...ask }: AskButtonProps<O>) {
  // The compiler does not see what is left of properties of a type that it does not know: all of AskProps but `close`.
  const asked = ask as unknown as AskProps<O>;
  return (
    <DialogButton
      label={label}
      kind={ask.kind ?? "danger"}
      icon={icon}
      needs={ask.operation}
      refusal={refusal}
      dialog={(close) => <Ask {...asked} close={close} />}
    />
  );
}

interface DeleteProps {
  operation: OperationById;
  id: string;
  /** What it is, and what it is called. */
  noun: string;
  name: string;
  /** The page to go to, where it is no more. */
  page: string;
  children: ComponentChildren;
}

/** Deletes what its page shows. */
export const DeleteButton = ({ operation, id, noun, name, page, children }: DeleteProps) => (
  <AskButton
    label="Delete"
    operation={operation}
    given={[id]}
    title={`Delete ${name}?`}
    name={name}
    act={`Delete the ${noun}`}
    said={`${name} is deleted.`}
    then={() => go(pathTo(page))}
  >
    {children}
  </AskButton>
);
