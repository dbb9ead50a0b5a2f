// Images for experiences: upload, address, delete.
import { useRef } from "preact/hooks";
import { useAction } from "../../app/action.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { bytes } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Collection } from "../../components/collection.tsx";
import { IMAGE_TYPES } from "../../components/image-field.tsx";
import { Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";

export function Assets() {
  const rows = useNumbered("assets.list", [{ page: pageNumber(), page_size: PAGE_SIZE }], ({ items }) => items);
  const upload = useAction("assets.create");
  const input = useRef<HTMLInputElement>(null);
  const send = async (file: File) => {
    const form = new FormData();
    form.set("file", file, file.name);
    if (await upload.run(form)) say(`${file.name} is uploaded.`);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={IMAGE_TYPES}
        aria-label="Image"
        hidden
        onInput={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file) void send(file);
        }}
      />
      {upload.error && <Failure error={upload.error} />}
      <Collection
        noun="image"
        caption="Images"
        rows={rows}
        usual={4}
        keyOf={({ id }) => id}
        nameOf={({ filename }) => filename}
        empty={{ about: "A png, jpeg, gif or webp of at most 4 MB gets a public address for experiences." }}
        columns={[
          { title: "Name", cell: ({ filename }) => <b>{filename}</b> },
          { title: "Type", cell: ({ content_type }) => <span class="dim">{content_type}</span> },
          { title: "Size", isNumber: true, cell: ({ size_bytes }) => bytes(size_bytes) },
          {
            title: "URL",
            cell: ({ url, filename }) => (
              <a href={url} target="_blank" rel="noreferrer" aria-label={`Open ${filename}`}>
                <div class="clip">{url}</div>
              </a>
            ),
          },
          { title: "Uploaded", cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        add={{
          operation: "assets.create",
          label: "Upload an image",
          by: { press: () => input.current?.click(), isBusy: upload.isBusy },
        }}
        remove={{ operation: "assets.delete", about: "Experiences that show it show a gap." }}
      />
    </>
  );
}
