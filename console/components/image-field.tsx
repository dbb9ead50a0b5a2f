// An image by its address: written, chosen from those that were uploaded, or uploaded here.
import { useRef, useState } from "preact/hooks";
import { useAction } from "../app/action.ts";
import { useQuery } from "../app/query.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Empty, Failure, Loaded } from "./states.tsx";

export const IMAGE_TYPES = "image/png,image/jpeg,image/gif,image/webp";

interface ImageFieldProps {
  label: string;
  value: string;
  onInput: (url: string) => void;
  fault?: string | undefined;
}

export function ImageField({ label, value, onInput, fault }: ImageFieldProps) {
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div class="row image-field">
      <TextField label={label} type="url" value={value} onInput={onInput} fault={fault} placeholder="https://…" />
      <Button label={`Choose: ${label}`} icon="content" onClick={() => setChoosing(true)} />
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

/** Uploads an image of this machine. @returns the button, and the input behind it */
function Upload({ done }: { done: (url: string) => void }) {
  const upload = useAction("assets.create");
  const input = useRef<HTMLInputElement>(null);
  const send = async (file: File) => {
    const form = new FormData();
    form.set("file", file, file.name);
    const sent = await upload.run(form);
    if (sent) done(sent.answer.url);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={IMAGE_TYPES}
        aria-label="Image"
        hidden
        onInput={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) void send(file);
        }}
      />
      {upload.error && <Failure error={upload.error} />}
      <Button icon="import" needs="assets.create" isBusy={upload.isBusy} onClick={() => input.current?.click()}>
        Upload an image
      </Button>
    </>
  );
}

function Choose({ choose, close }: { choose: (url: string) => void; close: () => void }) {
  const assets = useQuery("assets.list", [{ page: 1, page_size: 60 }]);
  return (
    <Dialog title="Choose an image" close={close} class="sheet">
      <Loaded query={assets}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are no images yet.">A png, jpeg, gif or webp of at most 4 MB.</Empty>
          ) : (
            <div class="gallery">
              {items.map(({ id, url, filename }) => (
                <button key={id} type="button" onClick={() => choose(url)}>
                  <img src={url} alt="" loading="lazy" />
                  <span>{filename}</span>
                </button>
              ))}
            </div>
          )
        }
      </Loaded>
      <div class="actions end">
        <Button onClick={close}>Cancel</Button>
        <Upload done={choose} />
      </div>
    </Dialog>
  );
}
