// Images for experiences: upload, address, delete.
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { bytes } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Collection } from "../../components/collection.tsx";
import { useUpload } from "../../components/image-field.tsx";
import { Time } from "../../components/page.tsx";

export function Assets() {
  const rows = useNumbered("assets.list", [{ page: pageNumber(), page_size: PAGE_SIZE }], ({ items }) => items);
  const { drawn, press, isBusy } = useUpload(({ filename }) => say(`${filename} is uploaded.`));
  return (
    <>
      {drawn}
      <Collection
        noun="image"
        caption="Images"
        rows={rows}
        usual={4}
        keyOf={({ id }) => id}
        nameOf={({ filename }) => filename}
        empty={{ about: "PNG, JPEG, GIF or WebP of at most 4 MB, for emails and experiences." }}
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
          by: { press, isBusy },
        }}
        remove={{ operation: "assets.delete", about: "Experiences that show it show a gap." }}
      />
    </>
  );
}
