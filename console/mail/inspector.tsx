// The settings of a block, and of the whole mail.
import type { JSX } from "preact";
import { Button } from "../components/button.tsx";
import { Check, Field, SelectField, TextField } from "../components/field.tsx";
import { ImageField } from "../components/image-field.tsx";
import type { SliderProps } from "../components/pickers.tsx";
import { EMPTY_CELL } from "./blocks/columns.ts";
import type { Align, Block, BlockType, Cell, MailTheme, Says } from "./design.ts";

const ALIGN: Record<Align, string> = { left: "Left", center: "Center", right: "Right" };
const NO_BACK = "#eef2ff";

interface ColourProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
}

const ColourField = ({ label, value, onInput }: ColourProps) => (
  <Field label={label}>
    {(props) => (
      <input {...props} type="color" value={value} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
    )}
  </Field>
);

type Form<T extends BlockType> = (props: { says: Says[T]; set: (part: Partial<Says[T]>) => void }) => JSX.Element;

const AlignField = ({ value, set }: { value: Align; set: (part: { align: Align }) => void }) => (
  <SelectField label="Alignment" value={value} options={ALIGN} onInput={(align) => set({ align })} />
);

const MARKUP = "**bold**, [words](address), lines that begin with - make a list.";

const forms: { [T in BlockType]: Form<T> } = {
  heading: ({ says, set }) => (
    <>
      <TextField label="Heading text" rows={2} value={says.text} onInput={(text) => set({ text })} />
      <div class="row">
        <SelectField
          label="Size"
          value={says.size}
          options={{ large: "Large", medium: "Medium", small: "Small" }}
          onInput={(size) => set({ size })}
        />
        <AlignField value={says.align} set={set} />
      </div>
    </>
  ),
  text: ({ says, set }) => (
    <>
      <TextField label="Text" rows={8} value={says.text} onInput={(text) => set({ text })} hint={MARKUP} />
      <div class="row">
        <SelectField
          label="Size"
          value={says.size}
          options={{ normal: "Normal", small: "Small" }}
          onInput={(size) => set({ size })}
        />
        <AlignField value={says.align} set={set} />
      </div>
    </>
  ),
  button: ({ says, set }) => (
    <>
      <TextField label="Label" value={says.label} onInput={(label) => set({ label })} />
      <TextField label="Link" type="url" value={says.url} onInput={(url) => set({ url })} />
      <div class="row">
        <SelectField
          label="Look"
          value={says.look}
          options={{ full: "Filled", line: "Outlined" }}
          onInput={(look) => set({ look })}
        />
        <AlignField value={says.align} set={set} />
      </div>
    </>
  ),
  image: ({ says, set }) => (
    <>
      <ImageField label="Image" value={says.url} onInput={(url) => set({ url })} />
      <TextField
        label="Alternative text"
        value={says.alt}
        onInput={(alt) => set({ alt })}
        hint="Read aloud, and shown where images are blocked."
      />
      <TextField label="Link (optional)" type="url" value={says.link} onInput={(link) => set({ link })} />
      <Pixels label="Width" value={says.width} min={40} max={536} onInput={(width) => set({ width })} />
      <AlignField value={says.align} set={set} />
    </>
  ),
  columns: ({ says, set }) => <Columns cells={says.cells} change={(cells) => set({ cells })} />,
  divider: ({ says, set }) => (
    <Pixels label="Space around it" value={says.space} min={0} max={64} onInput={(space) => set({ space })} />
  ),
  spacer: ({ says, set }) => (
    <Pixels label="Height" value={says.height} min={4} max={120} onInput={(height) => set({ height })} />
  ),
  social: ({ says, set }) => <Social {...says} set={set} />,
  footer: ({ says, set }) => (
    <>
      <TextField
        label="Text"
        rows={5}
        value={says.text}
        onInput={(text) => set({ text })}
        hint="Marketing emails get an unsubscribe link below automatically."
      />
      <AlignField value={says.align} set={set} />
    </>
  ),
  html: ({ says, set }) => (
    <TextField label="HTML of the block" rows={14} code value={says.code} onInput={(code) => set({ code })} />
  ),
};

/** What is out of bounds is on its way to a number, or goes once the input is left. */
const Pixels = ({ label, value, onInput, ...bounds }: Omit<SliderProps, "hint">) => (
  <Field label={`${label}, pixels`}>
    {(props) => (
      <input
        {...props}
        {...bounds}
        type="number"
        value={value}
        onInput={({ currentTarget }) => {
          if (currentTarget.value && currentTarget.validity.valid) onInput(Number(currentTarget.value));
        }}
        onBlur={({ currentTarget }) => {
          currentTarget.value = String(value);
        }}
      />
    )}
  </Field>
);

function Columns({ cells, change }: { cells: readonly Cell[]; change: (cells: readonly Cell[]) => void }) {
  const set = (at: number, part: Partial<Cell>) =>
    change(cells.map((one, n) => (n === at ? { ...one, ...part } : one)));
  return (
    <>
      {cells.map((cell, n) => (
        <details key={n} open={n === 0}>
          <summary>Column {n + 1}</summary>
          <div class="stack tight">
            <ImageField label={`Image ${n + 1}`} value={cell.image} onInput={(image) => set(n, { image })} />
            <TextField label={`Title ${n + 1}`} value={cell.title} onInput={(title) => set(n, { title })} />
            <TextField label={`Text ${n + 1}`} rows={3} value={cell.text} onInput={(text) => set(n, { text })} />
            <TextField label={`Link ${n + 1} (optional)`} value={cell.label} onInput={(label) => set(n, { label })} />
            {cell.label && (
              <TextField
                label={`Link ${n + 1} address`}
                type="url"
                value={cell.url}
                onInput={(url) => set(n, { url })}
              />
            )}
            {cells.length > 1 && (
              <Button kind="quiet" icon="trash" onClick={() => change(cells.filter((_, at) => at !== n))}>
                Remove column {n + 1}
              </Button>
            )}
          </div>
        </details>
      ))}
      {cells.length < 3 && (
        <Button icon="plus" adds onClick={() => change([...cells, EMPTY_CELL])}>
          Add a column
        </Button>
      )}
    </>
  );
}

function Social({ links, align, set }: Says["social"] & { set: (part: Partial<Says["social"]>) => void }) {
  const change = (at: number, part: Partial<(typeof links)[number]>) =>
    set({ links: links.map((one, n) => (n === at ? { ...one, ...part } : one)) });
  return (
    <>
      {links.map((link, n) => (
        <div class="row" key={n}>
          <TextField label={`Name ${n + 1}`} value={link.name} onInput={(name) => change(n, { name })} />
          <TextField label={`Address ${n + 1}`} value={link.url} onInput={(url) => change(n, { url })} />
          <Button
            kind="quiet"
            icon="trash"
            label={`Remove link ${n + 1}`}
            onClick={() => set({ links: links.filter((_, at) => at !== n) })}
          />
        </div>
      ))}
      <Button icon="plus" adds onClick={() => set({ links: [...links, { name: "", url: "https://" }] })}>
        Add a link
      </Button>
      <AlignField value={align} set={set} />
    </>
  );
}

export interface BlockFormProps {
  block: Block;
  change: (block: Block) => void;
}

export function BlockForm({ block, change }: BlockFormProps) {
  // A form and its block are of one type, which the compiler cannot see.
  const Inputs = forms[block.type] as unknown as (props: { says: Block; set: (part: object) => void }) => JSX.Element;
  const { back, ...without } = block;
  return (
    <>
      <Inputs says={block} set={(part) => change({ ...block, ...part } as Block)} />
      <Check
        label="Own background"
        checked={back !== undefined}
        onInput={(is) => change(is ? { ...block, back: NO_BACK } : (without as Block))}
      />
      {back !== undefined && (
        <ColourField label="Background" value={back} onInput={(colour) => change({ ...block, back: colour })} />
      )}
    </>
  );
}

export function LookForm({ look, change }: { look: MailTheme; change: (look: MailTheme) => void }) {
  return (
    <>
      <div class="row">
        <ColourField label="Accent" value={look.accent} onInput={(accent) => change({ ...look, accent })} />
        <ColourField label="Text" value={look.text} onInput={(text) => change({ ...look, text })} />
      </div>
      <div class="row">
        <ColourField label="Email" value={look.card} onInput={(card) => change({ ...look, card })} />
        <ColourField label="Background" value={look.page} onInput={(page) => change({ ...look, page })} />
      </div>
      <SelectField
        label="Typeface"
        value={look.font}
        options={{ sans: "Sans serif", serif: "Serif" }}
        onInput={(font) => change({ ...look, font })}
      />
      <Pixels
        label="Corner radius"
        value={look.radius}
        min={0}
        max={32}
        onInput={(radius) => change({ ...look, radius })}
      />
    </>
  );
}
