// An image by its address: written, chosen from those that were uploaded, or uploaded here.
import { useRef, useState } from "preact/hooks";
import type { Asset } from "../../sdk/src/types.gen.ts";
import { useAction } from "../app/action.ts";
import { useQuery } from "../app/query.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField, type TextProps } from "./field.tsx";
import { Empty, Failure, Loaded } from "./states.tsx";

export function ImageField({ label, value, onInput, fault }: Omit<TextProps, "type" | "placeholder">) {
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div class="row image-field">
      <TextField label={label} type="url" value={value} onInput={onInput} fault={fault} placeholder="https://…" />
      <Button label={`Choose: ${label}`} onClick={() => setChoosing(true)}>
        Choose
      </Button>
      {isChoosing && (
        <Choose
          choose={(url) => {
            onInput(url);
            setChoosing(false);
          }}
          close={() => setChoosing(false)}
        />
      )}
    </div>
  );
}

/** Uploads an image of this machine. @returns the input, which is drawn, and how a button opens it */
export function useUpload(done: (image: Asset) => void) {
  const upload = useAction("assets.create");
  const input = useRef<HTMLInputElement>(null);
  const send = async (file: File) => {
    const form = new FormData();
    form.set("file", file, file.name);
    const sent = await upload.run(form);
    if (sent) done(sent.answer);
  };
  const drawn = (
    <>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        aria-label="Image"
        hidden
        onInput={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) void send(file);
          currentTarget.value = "";
        }}
      />
      {upload.error && <Failure error={upload.error} />}
    </>
  );
  return { drawn, press: () => input.current?.click(), isBusy: upload.isBusy };
}

const PAGE = 60;

interface ChooseProps {
  choose: (url: string) => void;
  close: () => void;
}

function Choose({ choose, close }: ChooseProps) {
  const [shown, show] = useState(1);
  const assets = useQuery("assets.list", [{ page: 1, page_size: PAGE }]);
  const { drawn, press, isBusy } = useUpload(({ url }) => choose(url));
  return (
    <Dialog title="Choose an image" close={close} class="sheet">
      <Loaded query={assets}>
        {({ total }) =>
          total === 0 ? (
            <Empty title="There are no images yet.">PNG, JPEG, GIF or WebP, of at most 4 MB.</Empty>
          ) : (
            <div class="gallery">
              {Array.from({ length: shown }, (_, n) => (
                <Images key={n} page={n + 1} choose={choose} />
              ))}
              {total > shown * PAGE && <Button onClick={() => show(shown + 1)}>Show more</Button>}
            </div>
          )
        }
      </Loaded>
      <div class="actions end">
        <Button onClick={close}>Cancel</Button>
        {drawn}
        <Button icon="import" needs="assets.create" isBusy={isBusy} onClick={press}>
          Upload an image
        </Button>
      </div>
    </Dialog>
  );
}

function Images({ page, choose }: Pick<ChooseProps, "choose"> & { page: number }) {
  const assets = useQuery("assets.list", [{ page, page_size: PAGE }]);
  return (
    <Loaded query={assets}>
      {({ items }) =>
        items.map(({ id, url, filename }) => (
          <button key={id} type="button" onClick={() => choose(url)}>
            <img src={url} alt="" loading="lazy" />
            <span>{filename}</span>
          </button>
        ))
      }
    </Loaded>
  );
}
